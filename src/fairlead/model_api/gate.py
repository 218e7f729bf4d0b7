"""A gate that holds a scripted reply until a test opens it, and the condition it is built on.

Both work across threads and event loops: the model API may run in the loop of the test or in
its own thread, and the test can open the gate from any thread. A gate also reports when a
request has reached it, so that no test has to sleep before it acts.

Knows nothing about HTTP or replies. Above it: `replies` (which may name a gate) and
`exchange` (which waits at it).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

__all__ = ["WAIT_S", "Bell", "Gate"]

WAIT_S = 30.0
"""Timeout of every wait; a busy two-core machine needs 11 s to start an old CLI (CLI-111)."""


class Bell:
    """Wakes the waiters of a condition, in any thread or event loop."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sleepers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def ring(self) -> None:
        """Report a change: every waiter checks its condition again."""
        with self._changed:
            self._changed.notify_all()
            for loop, event in self._sleepers:
                # A closed loop has no waiters.
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    async def until(self, condition: Callable[[], bool], timeout: float | None = WAIT_S) -> None:
        """Wait in this event loop until the condition holds; `TimeoutError` if it does not."""
        event = asyncio.Event()
        sleeper = (asyncio.get_running_loop(), event)
        with self._changed:
            self._sleepers.append(sleeper)
        try:
            async with asyncio.timeout(timeout):
                # Cleared before the check, so that a change in between is not missed.
                while not condition():
                    await event.wait()
                    event.clear()
        finally:
            with self._changed:
                self._sleepers.remove(sleeper)

    def until_blocking(self, condition: Callable[[], bool], timeout: float | None = WAIT_S) -> None:
        """The same for a program without an event loop: blocks this thread."""
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                raise TimeoutError(f"the condition did not hold within {timeout} s")


class Gate:
    """Closed until it is opened; then it stays open.

    >>> gate = Gate()
    >>> model.push(reply("a long answer").but(hold=gate))
    >>> await gate.reached()        # the request has arrived and waits
    >>> gate.open()                 # now it is answered
    """

    def __init__(self) -> None:
        self._bell = Bell()
        self._open = False
        self._arrivals = 0

    def __repr__(self) -> str:
        return f"<Gate {'open' if self._open else 'closed'}, {self._arrivals} arrived>"

    @property
    def is_open(self) -> bool:
        return self._open

    @property
    def arrivals(self) -> int:
        """How many requests have reached this gate so far."""
        return self._arrivals

    def open(self) -> None:
        """Let all requests pass, now and later."""
        self._open = True
        self._bell.ring()

    async def reached(self, times: int = 1, timeout: float = WAIT_S) -> None:
        """Wait until a request has reached the gate."""
        await self._bell.until(lambda: self._arrivals >= times, timeout)

    def reached_blocking(self, times: int = 1, timeout: float = WAIT_S) -> None:
        """`reached` for a program without an event loop."""
        self._bell.until_blocking(lambda: self._arrivals >= times, timeout)

    async def passage(self) -> None:
        """For the model API: announce an arrival and wait, without a limit, until the gate opens."""
        self._arrivals += 1
        self._bell.ring()
        await self._bell.until(lambda: self._open, None)
