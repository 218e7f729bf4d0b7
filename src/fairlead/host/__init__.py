"""Hosting one CLI process: its options, its protocol engine, its pipes, and what a program sees.

`client` is the entry point; the packages below it are ordered as tests/test_layers.py says.
"""
