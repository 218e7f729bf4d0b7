"""The key of each device, derived from one secret of the server.

The secret is in a file next to the database that only its owner can read. A device's key is
HMAC(secret, device), so that nothing has to be stored for a device, and a server can prove its
identity to a device before it reveals whether it knows the device.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.store.database.folder import own_file

__all__ = ["DeviceKeys"]

BYTES = 32


class DeviceKeys:
    """Derives the keys of devices."""

    def __init__(self, secret: bytes | None = None) -> None:
        """Without a secret it uses a random one that is not stored."""
        self._secret = secret or secrets.token_bytes(BYTES)

    @classmethod
    def stored_in(cls, path: Path) -> DeviceKeys:
        """With the secret of a file, which is created if it does not exist."""
        handle = own_file(path)
        try:
            secret = os.read(handle, BYTES + 1)
            if not secret:
                secret = secrets.token_bytes(BYTES)
                os.write(handle, secret)
                os.fsync(handle)
        finally:
            os.close(handle)
        if len(secret) != BYTES:
            raise UsageError(
                f"{path} is damaged: it must hold {BYTES} bytes. Remove it, start again, and pair "
                "your browsers again."
            )
        return cls(secret)

    def key_of(self, device: str) -> bytes:
        """The key of a device, whether there is such a device or not."""
        return hmac.new(self._secret, f"device key\n{device}".encode(), hashlib.sha256).digest()
