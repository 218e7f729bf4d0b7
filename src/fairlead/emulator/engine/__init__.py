"""The running session: its parts put together, and the control requests of the host."""
