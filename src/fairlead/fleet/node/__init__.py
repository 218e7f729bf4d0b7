"""Speaks for the sessions of one machine: what a node sends to the bus and answers."""
