"""Whether the CLI's output is read now: a tap that whoever takes it turns off when it is too much.

Behind a closed tap the output stays in the pipe, and when that is full the CLI waits: nothing is
dropped, and no memory grows. The CLI's answers come through the same pipe, so while the host
waits for one, a closed tap still lets a reserve through. Pure; `link` turns the pipe by it.
"""

from __future__ import annotations

__all__ = ["RESERVE_BYTES", "Tap"]

RESERVE_BYTES = 4 * 1024 * 1024
"""What may come through a closed tap in search of an answer: a full pipe, and what a CLI that is
interrupted still has to say."""


class Tap:
    """Open at first."""

    def __init__(self, reserve: int = RESERVE_BYTES) -> None:
        self._reserve = reserve
        self._left = reserve
        self.closed = False

    def close(self) -> None:
        """It is too much; the reserve is whole again unless it was closed before."""
        if not self.closed:
            self.closed = True
            self._left = self._reserve

    def open(self) -> None:
        """There is room again."""
        self.closed = False

    def took(self, size: int) -> None:
        """So many bytes came through."""
        if self.closed:
            self._left -= size

    def flows(self, *, answer_awaited: bool) -> bool:
        """Whether the pipe is to be read."""
        return not self.closed or (answer_awaited and self._left > 0)
