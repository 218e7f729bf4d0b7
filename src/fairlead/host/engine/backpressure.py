"""Decides whether the CLI's output is read; a consumer that cannot keep up closes it.

While it is closed, the output stays in the pipe, and the CLI blocks when the pipe is full: nothing
is dropped and no buffer grows. The CLI's answers come through the same pipe, so while the host
waits for one, a limited reserve is still read. Pure; `link` pauses and resumes the pipe.
"""

from __future__ import annotations

__all__ = ["RESERVE_BYTES", "Backpressure"]

RESERVE_BYTES = 4 * 1024 * 1024
"""Bytes that may be read while closed to find an answer: a full pipe, and what a CLI that is
interrupted still writes."""


class Backpressure:
    """The state of one pipe; open at first."""

    def __init__(self, reserve: int = RESERVE_BYTES) -> None:
        self._reserve = reserve
        self._left = reserve
        self.closed = False

    def close(self) -> None:
        """Stop reading; refills the reserve unless it was closed before."""
        if not self.closed:
            self.closed = True
            self._left = self._reserve

    def open(self) -> None:
        """Read again."""
        self.closed = False

    def took(self, size: int) -> None:
        """Count bytes that were read."""
        if self.closed:
            self._left -= size

    def flows(self, *, answer_awaited: bool) -> bool:
        """Whether the pipe should be read."""
        return not self.closed or (answer_awaited and self._left > 0)
