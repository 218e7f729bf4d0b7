"""The child process: its pipes, the link that pumps them, readers, turns, and how it ended."""
