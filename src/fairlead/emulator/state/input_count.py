"""Counts the lines of the host, and wakes coroutines that wait for more of them. Pure."""

from __future__ import annotations

from fairlead.emulator.state.scheduler import Pending

__all__ = ["InputCount"]

ENDLESS = 1 << 62
"""More lines than any host writes."""


class InputCount:
    """Counts lines of stdin; a script may wait for the next ones."""

    def __init__(self) -> None:
        self._count = 0
        self._is_closed = False
        self._waiters: list[tuple[int, Pending[None]]] = []

    def add(self) -> None:
        """Count a line."""
        self._count += 1

    def wake(self) -> None:
        """Wake the coroutines whose lines have arrived."""
        for count, waiter in self._waiters:
            if self._count >= count:
                waiter.settle(None)
        self._waiters = [w for w in self._waiters if self._count < w[0]]

    def close(self) -> None:
        """Stdin has ended: release all waiters."""
        self._is_closed = True
        for _, waiter in self._waiters:
            waiter.settle(None)
        self._waiters = []

    async def more(self, count: int) -> None:
        """Wait until the host has written this many more lines."""
        if self._is_closed:
            return
        waiter: Pending[None] = Pending()
        self._waiters.append((self._count + count, waiter))
        await waiter

    async def for_ever(self) -> None:
        """Wait for an interrupt or the end of stdin."""
        await self.more(ENDLESS)
