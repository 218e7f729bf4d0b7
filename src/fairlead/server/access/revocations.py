"""Revoked devices: recorded in memory first, and stored as soon as the store accepts them.

A revocation takes effect as soon as it is requested. If the store refuses it, it is written to a
file with reserved disk space (`store.revocations`), so that it survives a restart, and the server
retries until the store has it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.store.log import StoreUnavailable
from fairlead.store.revocations import RevocationFile

__all__ = ["RevocationStore", "Revocations", "Revoked"]

log = logging.getLogger("fairlead")

ANSWER_S = 1.0
"""How long an owner waits for the store before the response says "not stored yet"."""


class RevocationStore(Protocol):
    """Stores revocations permanently."""

    async def revoke_device(self, device: str, at: float | None = None) -> bool:
        """Revoke a device's token; False if there is no such device or it was revoked already."""


class Revoked(Struct, frozen=True, kw_only=True):
    """The outcome of a revocation; the device is disconnected in any case."""

    found: bool = True
    """False if the store knows that there is no such device."""
    stored: bool
    """Whether the database has it."""
    durable: bool
    """Whether it survives a restart of the server."""


class Revocations:
    """The devices that were revoked since the start, or not yet in the store at the start."""

    def __init__(
        self,
        store: RevocationStore,
        file: RevocationFile | None,
        *,
        clock: Callable[[], float],
        retry_s: float,
    ) -> None:
        self._store = store
        self._file = file
        self._clock = clock
        self._retry_s = retry_s
        self._revoked: set[str] = set()
        self._unstored: dict[str, float] = {}
        self._retrying: asyncio.Task[None] | None = None

    def __contains__(self, device: str) -> bool:
        return device in self._revoked

    async def start(self) -> None:
        """Load what an earlier server could not store."""
        if self._file is None:
            return
        if not await asyncio.to_thread(self._file.reserve):
            log.warning("could not reserve disk space for revocations: %s", self._file.path)
        try:
            self._unstored = await asyncio.to_thread(self._file.read)
        except OSError as problem:
            raise UsageError(
                f"{self._file.path} cannot be read: {problem.strerror}. It may name devices that "
                "were revoked, so the server does not start without it. Check its owner and mode."
            ) from None
        self._revoked |= set(self._unstored)
        if self._unstored:
            self._retry_soon()

    @property
    def unstored(self) -> tuple[str, ...]:
        """Devices whose revocation the store does not have yet."""
        return tuple(self._unstored)

    async def close(self) -> None:
        """Stop retrying."""
        if self._retrying is not None:
            self._retrying.cancel()
            await asyncio.wait([self._retrying])

    def begin(self, device: str) -> None:
        """Revoke a device from now on, even if that cannot be stored."""
        self._revoked.add(device)

    async def store(self, device: str) -> Revoked:
        """Store a revocation, or record it until it can be stored."""
        at = self._unstored.setdefault(device, self._clock())
        storing = asyncio.create_task(self._store_one(device, at))
        await asyncio.wait([storing], timeout=ANSWER_S)
        if storing.done() and (existed := storing.result()) is not None:
            return Revoked(found=existed, stored=True, durable=True)
        durable = self._file is not None and await asyncio.to_thread(self._file.add, device, at)
        if not durable:
            log.warning("the revocation of device %s is in memory only", device)
        if device not in self._unstored and self._file is not None:  # It was stored meanwhile.
            await asyncio.to_thread(self._file.remove, device)
        self._retry_soon()
        return Revoked(stored=False, durable=durable)

    async def _store_one(self, device: str, at: float) -> bool | None:
        """Whether there was such a device; None if the store is unavailable."""
        try:
            existed = await self._store.revoke_device(device, at)
        except StoreUnavailable:
            return None
        self._unstored.pop(device, None)
        return existed

    def _retry_soon(self) -> None:
        if self._retrying is None or self._retrying.done():
            self._retrying = asyncio.create_task(self._retry())

    async def _retry(self) -> None:
        while unstored := dict(self._unstored):
            await asyncio.sleep(self._retry_s)
            for device, at in unstored.items():
                await self._store_one(device, at)
            if self._file is not None:
                for device in unstored.keys() - self._unstored.keys():
                    await asyncio.to_thread(self._file.remove, device)
