"""One scan of /proc for all CLIs that end at about the same time.

A scan reads the environment of every process of the machine, so ending 200 sessions with a scan
each takes seconds. Marks that arrive while a scan runs share the next one.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from fairlead.host.process.reaper import sweep

__all__ = ["sweep_soon"]


class _Sweeps:
    """The scans of one event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def add(self, mark: str) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((mark, done))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await asyncio.shield(done)

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    await asyncio.to_thread(sweep, *(mark for mark, _ in batch))
                finally:
                    for _, done in batch:
                        if not done.done():
                            done.set_result(None)
        finally:
            self._task = None


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Sweeps] = WeakKeyDictionary()


async def sweep_soon(mark: str) -> None:
    """Kill every process that carries a mark, together with other marks; returns when it is done."""
    await _loops.setdefault(asyncio.get_running_loop(), _Sweeps()).add(mark)
