"""Splits a byte stream into lines, only at the byte `\\n`.

Pure: bytes in, lines out, no decoding. Any chunking of the same bytes gives the same lines. A line
above the limit is skipped to its end and reported as an `Oversized`, then reading continues. A
`\\r` before the line end stays: it is white space in JSON, and the raw line is kept unchanged.
Above: `decode`. Below: the code that reads the pipe.
"""

from __future__ import annotations

from io import BytesIO
from operator import itemgetter

import msgspec

__all__ = [
    "DEFAULT_LINE_LIMIT",
    "OVERSIZED_HEAD_BYTES",
    "LineSplitter",
    "Oversized",
]

DEFAULT_LINE_LIMIT = 64 * 1024 * 1024
"""Bytes in one line. The longest real line seen is 132 KB; an image or a large file read
can reach some tens of megabytes. The limit only guards against a line that never ends."""

OVERSIZED_HEAD_BYTES = 1024
"""Bytes kept from the start of a skipped line, enough to see what it was."""


_LINE_END = ord("\n")
_without_end = itemgetter(slice(None, -1))


class Oversized(msgspec.Struct, frozen=True):
    """A line that was longer than the limit and was skipped."""

    head: bytes
    size: int
    limit: int


class LineSplitter:
    """Collects chunks and returns whole lines without their line end."""

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
        # `bytes.split` looks at every byte in a loop of its own; `find` and `readlines` use memchr,
        # which takes a third of the time on long lines.
        begin = data.find(b"\n") + 1
        if not begin:
            self._hold(data)
            return []
        lines: list[bytes | Oversized] = []
        self._hold(data[: begin - 1])
        self._complete(lines)
        if begin == len(data):
            return lines
        whole = BytesIO(data)
        whole.seek(begin)
        rest = whole.readlines()
        tail = rest.pop() if data[-1] != _LINE_END else b""
        if len(data) <= self._limit:
            lines += map(_without_end, rest)
        else:
            limit = self._limit + 1
            lines += [
                line[:-1] if len(line) <= limit else self._skipped(line[:-1]) for line in rest
            ]
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
            self._head += part[: OVERSIZED_HEAD_BYTES - len(self._head)]
        elif self._held > self._limit:
            heads = (piece[:OVERSIZED_HEAD_BYTES] for piece in (*self._parts, part))
            self._head = b"".join(heads)[:OVERSIZED_HEAD_BYTES]
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
        return Oversized(head=line[:OVERSIZED_HEAD_BYTES], size=len(line), limit=self._limit)
