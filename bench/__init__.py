"""Fairlead beside the official SDKs: how much processor time each takes to read one CLI."""
