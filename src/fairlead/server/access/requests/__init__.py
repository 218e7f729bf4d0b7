"""The checks on every request before any other code runs: its sender, its proxies, its address and its headers."""
