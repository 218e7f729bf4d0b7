"""The `fairlead` terminal command: one file per subcommand; `main` selects one."""
