"""Web Push: keys, encryption, and the request to a push service."""
