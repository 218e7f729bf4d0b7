"""Requests and frames written by hand, for what no library would send."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import socket
import struct

__all__ = ["KEY", "RawSocket", "ask", "status_of", "upgrade"]

KEY = base64.b64encode(b"0123456789abcdef").decode()
PATIENCE_S = 60.0


async def ask(port: int, head: str, body: bytes = b"") -> str:
    """One request; the whole answer, or the head of one that opens a WebSocket."""
    if "\nConnection:" not in head:
        head += "\nConnection: close"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        writer.write(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        await writer.drain()
    answer = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.readline()
            if b" 101 " not in answer:
                answer += await reader.read()
    writer.transport.abort()
    return answer.decode("latin-1")


def upgrade(path: str, *headers: str) -> str:
    """The head of a request for a WebSocket."""
    lines = [f"GET {path} HTTP/1.1", *headers, "Upgrade: websocket", "Connection: Upgrade"]
    lines += ["Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"]
    return "\n".join(lines)


def status_of(answer: str) -> int:
    """The status of an answer; 0 if the connection was just closed."""
    return int(answer.split(" ", 2)[1]) if answer.startswith("HTTP/") else 0


class RawSocket:
    """A WebSocket whose frames are made by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(
        cls, port: int, path: str = "/ws", *headers: str, buffer: int | None = None
    ) -> RawSocket:
        """Do the handshake; `buffer` is how much the system buffers before the test reads."""
        raw = socket.socket()
        if buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        raw.connect(("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=raw)
        head = upgrade(path, f"Host: 127.0.0.1:{port}", *headers).replace("\n", "\r\n")
        writer.write(head.encode() + b"\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in answer.split(b"\r\n")[0], answer
        return cls(reader, writer)

    async def send(self, data: bytes) -> None:
        """Write bytes as they are; a server that has closed meanwhile is no error."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def text(self, words: str) -> None:
        """A proper text frame."""
        await self.send(frame(words.encode()))

    async def closing(self) -> int:
        """The code the server closes with; 1006 if it just cuts the connection."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    kind, payload = await self._frame()
                    if kind == 8:
                        return int(struct.unpack("!H", payload[:2])[0]) if payload else 1005
        except (asyncio.IncompleteReadError, ConnectionError):
            return 1006
        finally:
            self.close()

    async def hear(self) -> tuple[int, bytes]:
        """The next frame."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._frame()

    async def _frame(self) -> tuple[int, bytes]:
        first, second = await self._reader.readexactly(2)
        size = second & 127
        if size == 126:
            (size,) = struct.unpack("!H", await self._reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
        return first & 15, await self._reader.readexactly(size)

    def pause(self) -> None:
        """Read nothing more, so that the sender's system has to keep it."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Hang up."""
        self._writer.transport.abort()


def frame(payload: bytes, *, first: int = 0x81, masked: bool = True) -> bytes:
    """One frame; `first` holds the final bit, the reserved bits and the opcode."""
    flag = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, flag | len(payload))
    elif len(payload) < 65_536:
        head = struct.pack("!BBH", first, flag | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, flag | 127, len(payload))
    if not masked:
        return head + payload
    mask = os.urandom(4)
    whole = int.from_bytes(payload, "big") ^ int.from_bytes(
        (mask * (len(payload) // 4 + 1))[: len(payload)], "big"
    )
    return head + mask + whole.to_bytes(len(payload), "big")
