"""How a CLI is started: typed options, their checks, and the argv and environment they become."""
