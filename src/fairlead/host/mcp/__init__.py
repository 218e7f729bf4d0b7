"""MCP servers and tools that run inside this process, and the JSON-RPC they speak with the CLI."""
