"""One turn of the emulated CLI: model requests, tool calls, permissions, hooks, results."""
