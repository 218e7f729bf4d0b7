"""Pipes that are read at intervals, all of them together, instead of whenever one has output.

The event loop wakes up for every line that a program writes. With hundreds of programs the wake-ups
cost more than the lines: each begins with cold caches and handles one pipe. While nobody needs the
output at once, one timer asks the system which of these pipes have output, and reads those.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from weakref import WeakKeyDictionary

__all__ = ["POLL_S", "PolledPipes", "polled_pipes"]

POLL_S = 0.02
"""Time between two readings: an open request in such a pipe is seen this much later at most."""


class PolledPipes:
    """The pipes of one event loop that are read at intervals."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, pipe: int, read: Callable[[], None]) -> None:
        """Call `read` at intervals, if the pipe has output or has ended."""
        self._readers[pipe] = read
        self._poll.register(pipe, select.POLLIN)
        if self._timer is None:
            self._timer = self._loop.call_later(POLL_S, self._tick)

    def remove(self, pipe: int) -> None:
        """Stop that; the pipe must still be open."""
        if self._readers.pop(pipe, None) is not None:
            self._poll.unregister(pipe)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(POLL_S, self._tick) if self._readers else None
        readers = self._readers
        for pipe, _ in self._poll.poll(0) if readers else ():
            read = readers.get(pipe)  # One that was read before may have removed it.
            if read is not None:
                read()


_pipes: WeakKeyDictionary[asyncio.AbstractEventLoop, PolledPipes] = WeakKeyDictionary()


def polled_pipes() -> PolledPipes:
    """Those of the running event loop."""
    loop = asyncio.get_running_loop()
    pipes = _pipes.get(loop)
    if pipes is None:
        pipes = _pipes[loop] = PolledPipes(loop)
    return pipes
