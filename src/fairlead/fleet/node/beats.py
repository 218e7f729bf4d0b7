"""The beat of a node: once a second it reports that it works, and the numbers of its documents.

By these numbers a gateway notices that its mirror has missed a frame, even if no further frame is
sent. A gateway that receives no beat for three seconds shows the machine as away.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.node.speaker import Speaker
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Beat, Position, encode
from fairlead.server.protocol.messages import LOBBY
from fairlead.store.sqlite import SqliteStore

__all__ = ["Beats"]

EVERY_S = 1.0

CHANGED_S = 3.0
"""For how long a change is in the beats: one that is lost is in the next two."""


class Beats:
    """The task that sends beats."""

    def __init__(
        self,
        bus: Bus,
        node: str,
        incarnation: str,
        *,
        name: str,
        version: str,
        store: SqliteStore,
        speaker: Speaker,
        cli_version: Callable[[], str] = lambda: "",
        replicated: Callable[[str], int] | None = None,
    ) -> None:
        """`replicated` returns the last event of a session that was copied to the log stream."""
        self._bus = bus
        self._node = node
        self._incarnation = incarnation
        self._name = name
        self._version = version
        self._cli_version = cli_version
        self._store = store
        self._speaker = speaker
        self._replicated = replicated
        self.draining = False
        self._wake = asyncio.Event()
        bus.on_connected(lambda connected: self._wake.set() if connected else None)

    def beat(self) -> Beat:
        """The beat of this moment."""
        changed = self._speaker.positions(CHANGED_S)
        free, total = _disk(self._store.folder)
        replicated = self._replicated
        return Beat(
            incarnation=self._incarnation,
            name=self._name,
            version=self._version,
            cli_version=self._cli_version(),
            clock=time.time(),
            load=os.getloadavg()[0] / (os.cpu_count() or 1),
            disk_free=free,
            disk_total=total,
            store=self._store.state.code,
            lobby=self._speaker.position(LOBBY) or Position(LOBBY, "", 0),
            changed=changed,
            replicated=()
            if replicated is None
            else tuple(
                Position(each.document, each.epoch, replicated(each.document)) for each in changed
            ),
            replicates=replicated is not None,
            draining=self.draining,
        )

    async def send(self) -> None:
        """Send a beat now."""
        with contextlib.suppress(BusError):
            await self._bus.publish(subjects.beat(self._node), encode(self.beat()))

    async def run(self) -> None:
        """Send beats until the task is cancelled; one at once when the bus is connected again."""
        while True:
            self._wake.clear()
            await self.send()
            self._speaker.cull()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):
                    await self._wake.wait()


def _disk(folder: Path) -> tuple[int, int]:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return 0, 0
    return usage.free, usage.total
