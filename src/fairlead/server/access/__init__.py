"""Which clients may use the server: pairing codes, devices, roles, and checks on every request."""
