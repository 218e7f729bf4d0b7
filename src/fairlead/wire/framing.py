"""Cut a byte stream into lines at the byte `\\n`, and at nothing else.

Pure: bytes in, lines out, no decoding. Any chunking of the same bytes gives the same lines.
A line above the limit is skipped to its end and reported as an `Oversized`, then reading goes
on. A `\\r` before the line end stays: JSON takes it for white space, and the raw line is kept
exactly as it came. Above: `decode`. Below: whoever reads the pipe.
"""

from __future__ import annotations

import msgspec

__all__ = ["DEFAULT_LINE_LIMIT", "KEPT_OF_OVERSIZED", "LineSplitter", "Oversized"]

DEFAULT_LINE_LIMIT = 64 * 1024 * 1024
"""Bytes in one line. The longest real line seen is 132 KB; an image or a large file read
can reach some tens of megabytes. The limit only guards against a line that never ends."""

KEPT_OF_OVERSIZED = 1024
"""Bytes kept from the start of a skipped line, enough to see what it was."""


class Oversized(msgspec.Struct, frozen=True):
    """A line that was longer than the limit and was skipped."""

    head: bytes
    size: int
    limit: int


class LineSplitter:
    """Collects chunks and gives out whole lines without their line end."""

    __slots__ = ("_head", "_held", "_limit", "_parts", "_skipping")

    def __init__(self, limit: int = DEFAULT_LINE_LIMIT) -> None:
        self._limit = limit
        # Parts are joined once per line: adding bytes to bytes would copy a 50 MB line
        # again for each of its chunks.
        self._parts: list[bytes] = []
        self._held = 0
        self._skipping = False
        self._head = b""

    def feed(self, data: bytes) -> list[bytes | Oversized]:
        """Take a chunk; return the lines that it completes, in order."""
        first, *rest = data.split(b"\n")
        if not rest:
            self._hold(first)
            return []
        lines: list[bytes | Oversized] = []
        self._hold(first)
        self._complete(lines)
        tail = rest.pop()
        if len(data) <= self._limit:
            lines += rest
        else:
            lines += (line if len(line) <= self._limit else self._skipped(line) for line in rest)
        if tail:
            self._hold(tail)
        return lines

    def finish(self) -> list[bytes | Oversized]:
        """The stream has ended: return what was left without a line end, if anything."""
        lines: list[bytes | Oversized] = []
        if self._held:
            self._complete(lines)
        return lines

    @property
    def pending(self) -> int:
        """Bytes of the line that is not complete yet."""
        return self._held

    def _hold(self, part: bytes) -> None:
        self._held += len(part)
        if self._skipping:
            self._head += part[: KEPT_OF_OVERSIZED - len(self._head)]
        elif self._held > self._limit:
            kept = (one[:KEPT_OF_OVERSIZED] for one in (*self._parts, part))
            self._head = b"".join(kept)[:KEPT_OF_OVERSIZED]
            self._parts.clear()
            self._skipping = True
        elif part:
            self._parts.append(part)

    def _complete(self, lines: list[bytes | Oversized]) -> None:
        if self._skipping:
            lines.append(Oversized(head=self._head, size=self._held, limit=self._limit))
            self._skipping = False
            self._head = b""
        else:
            parts = self._parts
            lines.append(parts[0] if len(parts) == 1 else b"".join(parts))
            parts.clear()
        self._held = 0

    def _skipped(self, line: bytes) -> Oversized:
        return Oversized(head=line[:KEPT_OF_OVERSIZED], size=len(line), limit=self._limit)
