"""The `fairlead` terminal command: one file per subcommand, `main` only picks one."""
