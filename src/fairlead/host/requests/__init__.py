"""Requests of the CLI to the host: permissions, questions, plans, forms, hooks, and their answers."""
