"""The push subscriptions and channels of a fleet, in a bucket that all gateways share.

A device can talk to another gateway with each request, and each of them may send a notice. A gateway
answers from its own copy, which is updated by messages and read again from time to time, because
messages may be lost. The copy is also in the gateway's database, with the result of its last attempt.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError, Entry, Subscription
from fairlead.server.notices.targets import Target, Targets
from fairlead.server.refusal import Refusal
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore

__all__ = ["SharedTargets"]

log = logging.getLogger("fairlead.fleet")

PREFIX = "target"
"""The first part of a target's key in the bucket `access`; its kind and its id follow."""
READ_EVERY_S = 30.0
UNAVAILABLE = (
    "Notifications cannot be changed now, because the gateway has no connection. Try again."
)

_decoder: msgspec.json.Decoder[Target] = msgspec.json.Decoder(Target)


class SharedTargets(Targets):
    """All targets of a fleet."""

    def __init__(self, store: SqliteStore, bus: Bus) -> None:
        super().__init__(store)
        self._bucket = bus.bucket("access")
        self._subscription: Subscription | None = None
        self._changes: asyncio.Queue[Entry] = asyncio.Queue()

    async def start(self) -> None:
        """Read the targets and begin to listen."""
        await self.load()
        self._subscription = await self._bucket.listen(self._changes.put_nowait)
        await self.read()

    async def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            with contextlib.suppress(BusError):
                await self._subscription.close()

    async def run(self) -> None:
        """Follow what other gateways change."""
        while True:
            try:
                async with asyncio.timeout(READ_EVERY_S):
                    await self._take(await self._changes.get())
            except TimeoutError:
                with contextlib.suppress(BusError, StoreUnavailable):
                    await self.read()
            except StoreUnavailable as problem:
                log.warning("a change of notifications is read again later: %s", problem)

    async def read(self) -> None:
        """Read all targets, and forget those that another gateway has removed."""
        known = {target for target, _ in self.items()}
        entries = await self._bucket.entries(PREFIX)
        for entry in entries:
            await self._take(entry)
        there = {_target(entry.key) for entry in entries if entry.value is not None}
        for target in known - there:
            await super().forget(target)

    async def put(self, target: str, row: Target) -> None:
        """Store a target for all gateways."""
        try:
            await self._bucket.put(_key(target), msgspec.json.encode(row))
        except BusError as problem:
            raise Refusal("unavailable", UNAVAILABLE) from problem
        await super().put(target, row)

    async def forget(self, target: str) -> None:
        """Remove a target at all gateways."""
        try:
            await self._bucket.delete(_key(target))
        except BusError as problem:
            raise Refusal("unavailable", UNAVAILABLE) from problem
        await super().forget(target)

    async def _take(self, entry: Entry) -> None:
        target = _target(entry.key)
        if target is None:
            return
        if entry.value is None:
            await super().forget(target)
            return
        try:
            row: Any = _decoder.decode(entry.value)
        except msgspec.DecodeError:
            return  # Stored by a newer Fairlead.
        if self.get(target) != row:
            await super().put(target, row)


def _key(target: str) -> str:
    kind, _, name = target.partition(":")
    return f"{PREFIX}.{kind}.{name}"


def _target(key: str) -> str | None:
    parts = key.split(".")
    return f"{parts[1]}:{parts[2]}" if len(parts) == 3 and parts[0] == PREFIX else None
