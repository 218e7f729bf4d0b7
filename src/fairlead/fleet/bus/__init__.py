"""Carries bytes between machines: one protocol, several forms, one contract (docs/fleet.md, N1 …)."""
