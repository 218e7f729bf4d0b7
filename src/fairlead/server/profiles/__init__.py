"""Profiles: named accounts for sessions, each with its own folder of the CLI and its own variables."""
