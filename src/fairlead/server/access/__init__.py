"""Which clients may use the server: pairing codes, devices, roles, and (in `requests`) checks on every request."""
