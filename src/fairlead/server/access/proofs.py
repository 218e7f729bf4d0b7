"""The two proofs of a login: the server's first, then the device's. Pure.

Both sides have a key that was created at pairing. Each signs (HMAC-SHA-256) a text that contains
the signing side, the protocol, the address that the device connected to, the device, and a nonce
of each side. So no proof can be reused, for another address or by the other side, and no proof
reveals anything about the key. docs/decisions/0006-login-proves-both-sides.md gives the reasons.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

__all__ = ["LoginExchange", "is_identifier", "proof_of"]

_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{16,128}", re.ASCII)


def is_identifier(text: str) -> bool:
    """Whether a text may be a nonce or a device id: a line break in it would shift the parts."""
    return _IDENTIFIER.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class LoginExchange:
    """The values of one login that both sides know."""

    protocol: int
    host: str
    device: str
    client_nonce: str
    server_nonce: str

    def signed_by(self, side: str) -> bytes:
        """The text that a side signs."""
        parts = (f"fairlead login {self.protocol}", side, self.host, self.device)
        return "\n".join((*parts, self.client_nonce, self.server_nonce)).encode()


def proof_of(key: bytes, side: str, exchange: LoginExchange) -> str:
    """The proof of a side that it has the key."""
    return hmac.new(key, exchange.signed_by(side), hashlib.sha256).hexdigest()
