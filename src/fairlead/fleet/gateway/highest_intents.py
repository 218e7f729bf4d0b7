"""The highest number of each client, in a bucket that all gateways share.

A client that lost its own count continues after this number. A number is written at most once a
second for each client, so it may be a little too low; connected machines know the exact number.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib

from fairlead.fleet.bus.bus import Bucket, BusError

__all__ = ["HighestIntents", "client_token"]

EVERY_S = 1.0


def client_token(device: str, client: str) -> str:
    """A client of a device as a token of a key."""
    text = f"{device}/{client}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]


class HighestIntents:
    """The task that writes the numbers."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._unwritten: dict[str, int] = {}

    def note(self, device: str, client: str, n: int) -> None:
        """An intent was carried out."""
        key = client_token(device, client)
        self._unwritten[key] = max(n, self._unwritten.get(key, 0))

    async def of(self, device: str, client: str) -> int:
        """The highest number that any gateway has noted."""
        key = client_token(device, client)
        return max(self._unwritten.get(key, 0), await self._read(key))

    async def run(self) -> None:
        """Write new numbers until the task is cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.write()

    async def write(self) -> None:
        """Write the numbers that were noted."""
        unwritten, self._unwritten = self._unwritten, {}
        for key, n in unwritten.items():
            try:
                if n > await self._read(key):
                    await self._bucket.put(f"highest.{key}", str(n).encode())
            except BusError:
                self._unwritten[key] = max(n, self._unwritten.get(key, 0))

    async def _read(self, key: str) -> int:
        with contextlib.suppress(BusError, ValueError):
            entry = await self._bucket.get(f"highest.{key}")
            if entry is not None and entry.value is not None:
                return int(entry.value)
        return 0
