"""The last part of a terminal's output, counted in bytes from the start of its shell. Pure."""

from __future__ import annotations

__all__ = ["Scrollback"]

LINE = 4 * 1024
"""How far the beginning may move to start with a line; longer lines are cut."""


class Scrollback:
    """A bounded buffer; the oldest bytes are dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = bytearray()
        self.start = 0
        """The offset of the oldest byte that is stored."""

    @property
    def end(self) -> int:
        """The offset after the newest byte."""
        return self.start + len(self._bytes)

    def add(self, data: bytes) -> None:
        """Append output, and drop the oldest part above the limit, if possible whole lines."""
        self._bytes += data
        over = len(self._bytes) - self._most
        if over <= 0:
            return
        newline = self._bytes.find(b"\n", over - 1, over + LINE)
        cut = over if newline < 0 else newline + 1
        del self._bytes[:cut]
        self.start += cut

    def read(self, offset: int, most: int) -> bytes:
        """Up to `most` bytes from an offset on, which must be stored."""
        at = offset - self.start
        return bytes(self._bytes[at : at + most])
