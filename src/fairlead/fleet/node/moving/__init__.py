"""Moves a session to another machine: what leaves a node, and what arrives at one."""
