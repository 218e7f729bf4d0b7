"""Modes, scopes, and what differs between CLI versions, as values."""
