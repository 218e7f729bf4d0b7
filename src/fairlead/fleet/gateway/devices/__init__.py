"""The devices of a fleet, which all gateways share: pairing, presence and revocation."""
