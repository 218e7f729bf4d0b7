"""WebSocket connections: handshake, rate limits, and the flusher that drains the hub."""
