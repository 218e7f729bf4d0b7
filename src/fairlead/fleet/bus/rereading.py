"""Reads a bucket again: after every reconnection and from time to time, because messages get lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from fairlead.fleet.bus.bus import Bus, BusError

__all__ = ["Rereading"]

EVERY_S = 10.0
FAILED_S = 0.5
SOON_S = 1.0
"""After a reconnection: the replica that answered may not have been up to date."""


class Rereading:
    """Calls a function that reads a bucket."""

    def __init__(
        self, bus: Bus, read: Callable[[], Awaitable[None]], every_s: float = EVERY_S
    ) -> None:
        self._read = read
        self._every_s = every_s
        self._reconnected = asyncio.Event()
        self.is_current = False
        """Whether the bucket was read since the connection was last established."""
        bus.on_connected(self._on_connected)

    async def run(self) -> None:
        """Read now and again until cancelled."""
        while True:
            is_new = self._reconnected.is_set()
            self._reconnected.clear()
            pause = FAILED_S
            with contextlib.suppress(BusError):
                await self._read()
                self.is_current = not self._reconnected.is_set()
                pause = SOON_S if is_new else self._every_s
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._reconnected.wait()

    def _on_connected(self, connected: bool) -> None:
        self.is_current = False
        if connected:
            self._reconnected.set()
