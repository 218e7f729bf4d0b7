"""Many sessions: the catalog, starting, restarting, forking, and the CLI's own sessions."""
