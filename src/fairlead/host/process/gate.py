"""A gate that tasks wait at while it is closed, for objects of which a server has many.

An `asyncio.Event` takes 760 bytes, because its queue is there even while nothing waits. A gate has such an
event only while it is closed.
"""

from __future__ import annotations

import asyncio

__all__ = ["Gate"]


class Gate:
    """Open at first."""

    __slots__ = ("_opened",)

    def __init__(self) -> None:
        self._opened: asyncio.Event | None = None
        """None while it is open."""

    @property
    def is_open(self) -> bool:
        """Whether `wait` returns at once."""
        return self._opened is None

    def close(self) -> None:
        """Let tasks wait from now on."""
        if self._opened is None:
            self._opened = asyncio.Event()

    def open(self) -> None:
        """Let all tasks go on that wait, even if it is closed again before they run."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.set()

    async def wait(self) -> None:
        """Return when it is open."""
        if self._opened is not None:
            await self._opened.wait()
