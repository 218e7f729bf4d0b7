"""The durable store: an append-only, numbered log per session, and the tables derived from it."""
