"""Tells all machines that a device was revoked, several times, because each message may be lost.

A machine that reconnects at this moment, for example because its nats-server has just died, misses
the first message. It cannot read the revocation in the bucket either while a cluster elects a new
leader. So the message is repeated until an election is certainly over; after that, a machine that
reconnects reads the bucket.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.protocol import subjects
from fairlead.server.ticks import ticks as steady

__all__ = ["RepeatedCuts"]

EVERY_S = 0.2
REPEATED_S = 15.0
"""Longer than JetStream pauses after the death of a leader (7.9 s in ten measured kills), and than a
connection to a hung server lasts (`nats_link.SILENT_S`)."""


class RepeatedCuts:
    """The devices that were revoked here in the last seconds."""

    def __init__(self, bus: Bus, ticks: Callable[[], float] = steady) -> None:
        self._bus = bus
        self._ticks = ticks
        self._until: dict[str, float] = {}
        self._running: asyncio.Task[None] | None = None

    def begin(self, device: str) -> None:
        """Tell all machines now and in the next seconds."""
        self._until[device] = self._ticks() + REPEATED_S
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Tell nobody any more."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while self._until:
            for device in tuple(self._until):
                with contextlib.suppress(BusError):
                    await self._bus.publish(f"{subjects.CUT}.{device}", b"")
            await asyncio.sleep(EVERY_S)
            now = self._ticks()
            self._until = {each: until for each, until in self._until.items() if now < until}
