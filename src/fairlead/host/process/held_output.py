"""Output of the CLI that is not decoded yet, because its observer wants it later and at once.

Decoding and delivering a line costs nearly as much as decoding and delivering ten. While an observer
holds the output, whole lines of text, tool calls, results of tools and status are collected as bytes.
Everything else, such as a request or the end of a turn, is decoded at once, with what came before it.
Pure.
"""

from __future__ import annotations

import re

__all__ = ["HeldOutput"]

MOST_BYTES = 64 * 1024
"""Above this size the bytes themselves cost more than the calls that they save."""

_CAN_WAIT = re.compile(
    rb'(?:\{"type":"(?:stream_event"|assistant"|user"|tool_progress"'
    rb'|system","subtype":"(?:thinking_tokens|status)")[^\n]*\n)+'
)
"""Lines that no caller has to act on, as the CLI writes them. Others are only decoded earlier."""


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
        if self._size <= MOST_BYTES and _CAN_WAIT.fullmatch(chunk):
            return b""
        return self.take()

    def take(self) -> bytes:
        """All that waits, to be decoded now."""
        chunks, self._chunks, self._size = self._chunks, [], 0
        return b"".join(chunks)
