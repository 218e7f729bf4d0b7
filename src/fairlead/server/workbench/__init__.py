"""The results of a session's work: what changed in its folder. Read over HTTP, on request."""
