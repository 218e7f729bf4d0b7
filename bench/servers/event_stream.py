"""A stream of server-sent events, requested as a browser does: compressed, and never at an end."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import AsyncIterator

__all__ = ["EventStream"]

OPEN_S = 30.0
GZIP = 16 + zlib.MAX_WBITS


class EventStream:
    """The data of the events that arrive, one after the other."""

    def __init__(self, reader: StreamReader, writer: StreamWriter, *, compressed: bool) -> None:
        self._reader = reader
        self._writer = writer
        self._gzip = zlib.decompressobj(GZIP) if compressed else None

    @classmethod
    async def open(cls, port: int, path: str) -> EventStream:
        """Request one of a server on this machine; raises `ConnectionError` if it refuses."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        headers = ("Accept: text/event-stream", "Accept-Encoding: gzip, deflate, br")
        lines = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers)
        writer.write("\r\n".join((*lines, "", "")).encode())
        async with asyncio.timeout(OPEN_S):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b" 200 " not in head.partition(b"\r\n")[0] or b"transfer-encoding: chunked" not in head:
            writer.close()
            raise ConnectionError(f"no stream of events: {head.decode()}")
        return cls(reader, writer, compressed=b"content-encoding: gzip" in head)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = b""
        while chunk := await self._chunk():
            *events, rest = (rest + chunk).split(b"\n\n")
            for event in events:
                fields = (line.partition(b":") for line in event.split(b"\n"))
                yield b"\n".join(value.strip() for name, _, value in fields if name == b"data")

    async def _chunk(self) -> bytes:
        """What arrived, decompressed; empty at the end."""
        with contextlib.suppress(IncompleteReadError):
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                content = (await self._reader.readexactly(size + 2))[:-2]
                if self._gzip is not None:
                    content = self._gzip.decompress(content)
                if content:
                    return content
        return b""

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()
