"""The `fairlead` terminal command: one file per subcommand; `main` selects one, `console` talks to the user."""
