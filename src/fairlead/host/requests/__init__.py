"""What the CLI asks of the host: permissions, questions, plans, forms, hooks, and their answers."""
