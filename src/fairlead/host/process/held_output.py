"""Output of the CLI that is not decoded yet, because its observer wants it later and at once.

Decoding and delivering a line costs nearly as much as decoding and delivering ten. While an observer
holds the output, whole lines of text, tool calls, results of tools and status are collected as bytes.
Everything else, such as a request or the end of a turn, is decoded at once, with what came before it.
Pure.
"""

from __future__ import annotations

__all__ = ["HeldOutput"]

MOST_BYTES = 64 * 1024
"""Above this size the bytes themselves cost more than the calls that they save."""

_CAN_WAIT = (
    b'{"type":"stream_event"',
    b'{"type":"assistant"',
    b'{"type":"user"',
    b'{"type":"tool_progress"',
    b'{"type":"system","subtype":"thinking_tokens"',
    b'{"type":"system","subtype":"status"',
)
"""How the CLI writes lines that no caller has to act on. Others are only decoded earlier."""


class HeldOutput:
    """The chunks of one pipe that wait."""

    def __init__(self) -> None:
        self.holding = False
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> bytes:
        """Take a chunk of the pipe; returns what is to be decoded now, which may be nothing."""
        if not self.holding:
            return chunk
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size <= MOST_BYTES and _can_wait(chunk):
            return b""
        return self.take()

    def take(self) -> bytes:
        """All that waits, to be decoded now."""
        chunks, self._chunks, self._size = self._chunks, [], 0
        return b"".join(chunks)


def _can_wait(chunk: bytes) -> bool:
    """Whether a chunk has only whole lines that can wait."""
    if chunk.find(b"\n") == len(chunk) - 1:  # The usual case: one line.
        return chunk.startswith(_CAN_WAIT)
    lines = chunk.split(b"\n")
    return not lines.pop() and all(line.startswith(_CAN_WAIT) for line in lines)
