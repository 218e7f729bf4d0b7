"""The CLI's own session files: indexes, reads and follows them. Never writes them."""
