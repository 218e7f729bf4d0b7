"""Terminals: a shell in the folder of a session, for owners, if the server was started with it."""
