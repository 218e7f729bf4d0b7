"""HTTP routes about devices: pairing, names, revocation, and the addresses at which a phone connects."""
