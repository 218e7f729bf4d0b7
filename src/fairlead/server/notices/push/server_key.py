"""The server's push key: signs requests to push services (VAPID, RFC 8292).

The private key is in a file next to the database that only its owner can read. Browsers bind
their subscriptions to its public key, so a new key means that every device subscribes again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from fairlead.errors import UsageError
from fairlead.server.notices.push.encryption import public_bytes
from fairlead.store.database.folder import own_file

__all__ = ["PushKey", "base64url"]

VALID_S = 12 * 3_600
"""How long a signature is valid; services accept at most a day."""

CONTACT = "https://github.com/fairlead/fairlead"
"""Whom a push service can contact about problems; some services refuse requests without it."""

LARGEST_FILE = 8_192


class PushKey:
    """The key of one server."""

    def __init__(self, private: ec.EllipticCurvePrivateKey) -> None:
        self._private = private
        self.public = base64url(public_bytes(private.public_key()))
        """The public key as browsers and push services get it."""

    @classmethod
    def stored_in(cls, path: Path) -> PushKey:
        """The key of a file, which is created if it does not exist."""
        handle = own_file(path)
        try:
            text = os.read(handle, LARGEST_FILE)
            if not text:
                private = ec.generate_private_key(ec.SECP256R1())
                form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                os.write(handle, private.private_bytes(*form))
                os.fsync(handle)
                return cls(private)
        finally:
            os.close(handle)
        return cls(_loaded(text, path))

    def secret(self, purpose: str) -> bytes:
        """A secret for another purpose, derived from the private key."""
        value = self._private.private_numbers().private_value.to_bytes(32, "big")
        return hmac.new(value, f"fairlead {purpose}".encode(), hashlib.sha256).digest()

    def authorization(self, origin: str, now: float) -> str:
        """The `Authorization` header of a request to the push service at an origin."""
        claims = {"aud": origin, "exp": int(now) + VALID_S, "sub": CONTACT}
        parts = ({"typ": "JWT", "alg": "ES256"}, claims)
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        der = self._private.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        signature = b"".join(n.to_bytes(32, "big") for n in decode_dss_signature(der))
        return f"vapid t={text}.{base64url(signature)}, k={self.public}"


def _loaded(text: bytes, path: Path) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise UsageError(
            f"{path} is damaged: it must hold a private key of the curve P-256. Remove it, start "
            "again, and turn on push notifications again on every device."
        )
    return key


def base64url(data: bytes) -> str:
    """Base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
