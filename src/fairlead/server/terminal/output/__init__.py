"""The output of a terminal: what is stored of it, and what each viewer gets. Pure."""
