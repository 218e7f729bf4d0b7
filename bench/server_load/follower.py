"""One socket of a client that follows documents, with as little CPU time as possible.

Speaks just enough of WebSocket for this server, and looks only at the head of what it gets: the
clients share two cores with the server, and what they burn would be held against it. It acks
what it got as often as the web app does, and checks that each frame leads on from the one before.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import uuid
from collections.abc import Callable
from typing import Any

__all__ = ["Follower", "Tally", "connect"]

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
ACK_S = 2.0
ACK_BYTES = 512 * 1024
"""How long received frames wait to be acknowledged, and how large they may be together; `ACK_MS` and
`ACK_CHARS` of the web app."""
NO_MASK = b"\0\0\0\0"
"""A client has to mask; a mask of zeros costs nothing."""

_CHANGES = re.compile(rb'\{"type":"changes","document":"([^"]+)","from_seq":(\d+),"seq":(\d+)')
_SNAPSHOT = re.compile(rb'\{"type":"snapshot","document":"([^"]+)","epoch":"[^"]+","seq":(\d+)')
_OTHER = re.compile(rb'\{"type":"(\w+)"')


class Tally:
    """Counts what all sockets that share it received."""

    def __init__(self) -> None:
        self.frames = 0
        self.bytes = 0
        self.snapshots = 0
        self.gaps = 0
        """Changes that did not lead on from where the client was."""
        self.errors: list[str] = []
        self.closed = 0


class Follower(asyncio.Protocol):
    """A connected client and its position in each document."""

    def __init__(
        self,
        hello: dict[str, Any],
        tally: Tally,
        received: Callable[[bytes], None] | None = None,
    ) -> None:
        self.positions: dict[bytes, int] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when every document that it follows has been shown."""
        self._wanted = 2 if hello.get("session") else 1
        self._hello = hello
        self._tally = tally
        self._heard = received
        self._upgraded = False
        self._rest = b""
        self._unacked: set[bytes] = set()
        self._unacked_bytes = 0
        self._acking: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        host = ":".join(str(part) for part in transport.get_extra_info("peername"))
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        if not self._upgraded:
            head, matches, data = data.partition(b"\r\n\r\n")
            if not matches:
                self._rest = head
                return
            self._upgraded = True
            self._say_hello(head)
        self._rest = self._take_frames(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._tally.closed += 1
        if not self.ready.done():
            self.ready.set_exception(ConnectionError("the server closed a socket"))

    # Saying

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._send(TEXT, json.dumps(message).encode())

    def close(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.close()

    def _say_hello(self, head: bytes) -> None:
        if b" 101 " not in head:
            raise ConnectionError(f"the server did not take a socket: {head[:200]!r}")
        self.say({"type": "hello", "protocol": 1, "client": str(uuid.uuid4()), **self._hello})

    def _send(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2)
        if self._transport is not None:
            self._transport.write(bytes([0x80 | opcode]) + length + NO_MASK + payload)

    # Hearing

    def _take_frames(self, data: bytes) -> bytes:
        """Act on all whole frames; what is left of the next one comes back."""
        start, end = 0, len(data)
        while end - start >= 2:
            size, at = data[start + 1], start + 2
            if size == 126:
                size, at = int.from_bytes(data[start + 2 : start + 4]), start + 4
            elif size == 127:
                size, at = int.from_bytes(data[start + 2 : start + 10]), start + 10
            if at + size > end:
                break
            self._frame(data[start] & 0x0F, data[at : at + size])
            start = at + size
        return data[start:]

    def _frame(self, opcode: int, payload: bytes) -> None:
        if opcode == PING:
            self._send(PONG, payload)
        elif opcode == TEXT:
            self._tally.frames += 1
            self._tally.bytes += len(payload)
            self._unacked_bytes += len(payload)
            self._follow(payload)
            if self._heard is not None:
                self._heard(payload)

    def _follow(self, payload: bytes) -> None:
        changes = _CHANGES.match(payload)
        if changes is not None:
            document, before, after = changes.groups()
            if self.positions.get(document) != int(before):
                self._tally.gaps += 1
            self._reached(document, after)
            return
        snapshot = _SNAPSHOT.match(payload)
        if snapshot is not None:
            self._tally.snapshots += 1
            self._reached(*snapshot.groups())
            return
        other = _OTHER.match(payload)
        if other is None or other[1] in (b"error", b"bye"):
            self._tally.errors.append(payload[:300].decode(errors="replace"))

    def _reached(self, document: bytes, seq: bytes) -> None:
        self.positions[document] = int(seq)
        self._unacked.add(document)
        if self._unacked_bytes >= ACK_BYTES:
            self._ack()
        elif self._acking is None:
            self._acking = asyncio.get_running_loop().call_later(ACK_S, self._ack)
        if len(self.positions) == self._wanted and not self.ready.done():
            self.ready.set_result(None)

    def _ack(self) -> None:
        if self._acking is not None:
            self._acking.cancel()
            self._acking = None
        self._unacked_bytes = 0
        for name in self._unacked:
            self._send(
                TEXT, b'{"type":"ack","document":"%b","seq":%d}' % (name, self.positions[name])
            )
        self._unacked.clear()


async def connect(
    port: int,
    hello: dict[str, Any],
    tally: Tally,
    received: Callable[[bytes], None] | None = None,
) -> Follower:
    """A socket that has received a snapshot of everything it requested."""
    loop = asyncio.get_running_loop()
    _, follower = await loop.create_connection(
        lambda: Follower(hello, tally, received), "127.0.0.1", port
    )
    await follower.ready
    return follower
