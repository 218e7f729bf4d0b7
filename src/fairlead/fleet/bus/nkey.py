"""The key of a machine: an Ed25519 key pair in the text form of NATS ("nkey").

A seed is `S`, the kind of the key, 32 bytes and a checksum, in base 32; the public half is the kind,
32 bytes and a checksum. NATS knows a user by the public half, and the user signs a random text of
the server to log in. The private half never leaves the machine.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairlead.errors import UsageError
from fairlead.store.database.folder import own_file

__all__ = ["NodeKey", "id_of", "is_public_key", "is_signed"]

_SEED = 18 << 3
_USER = 20 << 3
_BYTES = 32
_ID_LETTERS = 12


class NodeKey:
    """The key pair of one machine."""

    def __init__(self, secret: bytes | None = None) -> None:
        """Without a secret, a new key."""
        self._secret = secret or secrets.token_bytes(_BYTES)
        try:
            self._key = Ed25519PrivateKey.from_private_bytes(self._secret)
        except UnsupportedAlgorithm as problem:  # An OpenSSL in FIPS mode.
            raise UsageError(f"This system's OpenSSL has no Ed25519 keys: {problem}.") from None
        self.public = _encode(bytes((_USER,)) + self._key.public_key().public_bytes_raw())
        """The public half, as NATS writes it."""

    @property
    def id(self) -> str:
        """The machine's id in the fleet."""
        return id_of(self.public)

    @property
    def seed(self) -> str:
        """The whole key as a text; a secret."""
        head = bytes((_SEED | (_USER >> 5), (_USER & 31) << 3))
        return _encode(head + self._secret)

    def sign(self, nonce: str) -> bytes:
        """The signature of a text, such as the random one of a server, in base 64."""
        return base64.b64encode(self._key.sign(nonce.encode()))

    @classmethod
    def from_seed(cls, seed: str) -> NodeKey:
        """The key of a seed; raises `ValueError`."""
        raw = _decode(seed.strip())
        if len(raw) != 2 + _BYTES or raw[0] & 0xF8 != _SEED:
            raise ValueError("this is not the seed of a key")
        return cls(raw[2:])

    @classmethod
    def stored_in(cls, path: Path) -> NodeKey:
        """The key in a file that only its owner can read; a new one if the file is empty."""
        handle = own_file(path)
        try:
            text = os.read(handle, 200)
            if not text:
                key = cls()
                os.write(handle, f"{key.seed}\n".encode())
                os.fsync(handle)
                return key
        finally:
            os.close(handle)
        try:
            return cls.from_seed(text.decode("ascii", "replace"))
        except ValueError:
            raise UsageError(
                f"{path} is damaged: it holds no key. Restore it from a backup, or remove it and "
                "join the fleet again."
            ) from None


def id_of(public: str) -> str:
    """The id of the machine with this public key: 60 bits of its hash, as letters and digits."""
    digest = hashlib.sha256(public.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_ID_LETTERS]


def is_public_key(text: str) -> bool:
    """Whether a text is the public key of a user."""
    try:
        raw = _decode(text)
    except ValueError:
        return False
    return len(raw) == 1 + _BYTES and raw[0] == _USER


def is_signed(public: str, text: str, signature: str) -> bool:
    """Whether the owner of this public key signed a text."""
    if not is_public_key(public):
        return False
    key = Ed25519PublicKey.from_public_bytes(_decode(public)[1:])
    try:
        key.verify(base64.b64decode(signature, validate=True), text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _encode(raw: bytes) -> str:
    checked = raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")
    return base64.b32encode(checked).decode().rstrip("=")


def _decode(text: str) -> bytes:
    if not text.isascii() or len(text) > 100:
        raise ValueError("this is not a key")
    raw = base64.b32decode(text + "=" * (-len(text) % 8))
    if binascii.crc_hqx(raw[:-2], 0).to_bytes(2, "little") != raw[-2:]:
        raise ValueError("this key has a wrong checksum")
    return raw[:-2]
