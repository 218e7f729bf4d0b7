"""Encrypts a message for one browser (RFC 8291, with the content encoding of RFC 8188). Pure.

The one-time key and the salt are parameters, so that the example of RFC 8291 can be a test. Only
the browser that made the subscription can read the result; the push service cannot.
"""

from __future__ import annotations

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["LARGEST", "PADDED", "encrypt", "public_bytes"]

RECORD = 4_096
"""The size of a record, which is also the largest body that push services must accept."""
HEADER = 16 + 4 + 1 + 65
TAG = 16
LARGEST = RECORD - HEADER - TAG - 1
"""Most bytes of a message."""
PADDED = 1_024
"""A shorter message is padded to this length, so that its length reveals nothing."""


def encrypt(
    message: bytes,
    browser_key: bytes,
    auth: bytes,
    *,
    one_time: ec.EllipticCurvePrivateKey,
    salt: bytes,
    padded: int = PADDED,
) -> bytes:
    """The body of the request; raises `ValueError` if the key is not a point of P-256.

    `browser_key` and `auth` are those of the subscription (`p256dh` and `auth`).
    """
    if len(message) > LARGEST:
        raise ValueError(f"a message can have at most {LARGEST} bytes")
    client_key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), browser_key)
    ours = public_bytes(one_time.public_key())
    shared = one_time.exchange(ec.ECDH(), client_key)
    key_info = b"WebPush: info\0" + browser_key + ours
    material = _expand(_extract(auth, shared), key_info, 32)
    secret = _extract(salt, material)
    key = _expand(secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _expand(secret, b"Content-Encoding: nonce\0", 12)
    padding = max(0, min(padded, LARGEST) - len(message))
    record = message + b"\x02" + bytes(padding)
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(ours)]) + ours
    return header + AESGCM(key).encrypt(nonce, record, None)


def public_bytes(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key as the 65 bytes that browsers use."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _extract(salt: bytes, material: bytes) -> bytes:
    return hmac.new(salt, material, hashlib.sha256).digest()


def _expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand for at most one block of SHA-256."""
    return hmac.new(key, info + b"\x01", hashlib.sha256).digest()[:length]
