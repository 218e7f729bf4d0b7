"""The emulator's side of MCP: a client for the host's servers and for stdio servers."""
