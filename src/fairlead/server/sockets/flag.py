"""An event that one task waits for, in a tenth of the memory of an `asyncio.Event`.

A server has a thousand sockets, and each has several. An `asyncio.Event` has a queue for any number of
waiting tasks, which takes 700 bytes.
"""

from __future__ import annotations

import asyncio

__all__ = ["Flag"]


class Flag:
    """Set or not; `wait` returns when it is set."""

    __slots__ = ("_waiting", "is_set")

    def __init__(self, *, is_set: bool = False) -> None:
        self.is_set = is_set
        self._waiting: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Let the task that waits go on."""
        self.is_set = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def clear(self) -> None:
        """Let the next `wait` wait."""
        self.is_set = False

    async def wait(self) -> None:
        """Return when it is set; only one task may wait."""
        if self.is_set:
            return
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None
