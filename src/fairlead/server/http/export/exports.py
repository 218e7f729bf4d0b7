"""Exports as responses that are written piece by piece, each produced in a thread.

An export is never held in memory as a whole: the next piece is produced when the client has
received the last. The server disconnects a client that reads nothing for a while, and limits the
number of exports that a device runs at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal

__all__ = ["Exports", "StreamedExport", "pieces"]

PIECE_BYTES = 256 * 1024


class Exports:
    """The exports that are running, by device."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: dict[str, int] = {}

    def begin(self, device: str) -> Callable[[], None]:
        """Count one more export of a device; return the function that ends it. Refuses too many."""
        own = self._running.get(device, 0)
        if own >= self._limits.exports_per_device:
            raise Refusal(
                "too_many",
                f"This device already runs {own} exports. Wait until one of them has ended.",
            )
        if sum(self._running.values()) >= self._limits.exports:
            raise Refusal("too_many", "The server already runs too many exports. Try again later.")
        self._running[device] = own + 1

        def end() -> None:
            left = self._running.get(device, 1) - 1
            if left > 0:
                self._running[device] = left
            else:
                self._running.pop(device, None)

        return end


class StreamedExport(Response):
    """A response whose pieces are produced one by one and must each be sent in time."""

    def __init__(
        self,
        content: AsyncIterator[bytes],
        media_type: str,
        *,
        send_s: float,
        end: Callable[[], None],
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers()
        self._content = content
        self._send_s = send_s
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the export; a client that reads nothing in time is disconnected."""
        try:
            headers = [header for header in self.raw_headers if header[0] != b"content-length"]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async for piece in self._content:
                async with asyncio.timeout(self._send_s):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._end()


async def pieces(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Parts that are produced in a thread, some hundred kilobytes at a time."""

    def next_piece() -> bytes:
        piece = bytearray()
        for part in parts:
            piece += part
            if len(piece) >= PIECE_BYTES:
                break
        return bytes(piece)

    while piece := await asyncio.to_thread(next_piece):
        for start in range(0, len(piece), PIECE_BYTES):
            yield piece[start : start + PIECE_BYTES]
