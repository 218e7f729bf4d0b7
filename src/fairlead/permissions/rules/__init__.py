"""Permission rules: parsed, matched, collected in a rule book, read from settings files."""
