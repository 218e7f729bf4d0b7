"""Budgets: how much sessions may spend, a warning, and a stop."""
