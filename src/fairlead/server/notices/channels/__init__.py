"""Channels: chat services, e-mail and web hooks, through Apprise (an optional package)."""
