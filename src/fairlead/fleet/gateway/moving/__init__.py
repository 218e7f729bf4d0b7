"""Moves sessions between machines, and keeps what is needed to continue those of a lost machine."""
