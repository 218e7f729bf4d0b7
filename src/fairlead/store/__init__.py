"""The durable, numbered record: an append-only log per session, and what is found through it."""
