"""How bytes reach a NATS server: over TLS, or over a WebSocket with TLS.

TLS comes before the first byte of the protocol. The greeting of a server could otherwise say whether
to use TLS, and an attacker on the network could turn it off.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Protocol
from urllib.parse import urlsplit

import websockets
from websockets.asyncio.client import ClientConnection, connect

from fairlead.errors import UsageError

__all__ = [
    "BusTransport",
    "Receiver",
    "TlsTransport",
    "WebSocketTransport",
    "check_address",
    "transport_for",
]

DEFAULT_PORT = 4222


class Receiver(Protocol):
    """Gets what a transport reads."""

    def received(self, data: bytes) -> None:
        """Bytes have arrived."""

    def lost(self, problem: Exception | None) -> None:
        """No more will arrive."""


class BusTransport(Protocol):
    """A connection that is opened once."""

    async def open(self, receiver: Receiver) -> None:
        """Connect; raises `OSError`."""

    def write(self, data: bytes) -> None:
        """Send bytes, without waiting."""

    @property
    def buffered(self) -> int:
        """Bytes that the system has not taken yet."""

    def close(self) -> None:
        """Disconnect when everything is sent."""

    def abort(self) -> None:
        """Disconnect at once, whatever is unsent."""


class _Reading(asyncio.Protocol):
    """Hands on what asyncio reads."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def data_received(self, data: bytes) -> None:
        self._receiver.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._receiver.lost(exc)


class TlsTransport:
    """TCP with TLS from the first byte."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext) -> None:
        self._address = (host, port)
        self._tls = tls
        self._transport: asyncio.Transport | None = None

    async def open(self, receiver: Receiver) -> None:
        host, port = self._address
        self._transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: _Reading(receiver), host, port, ssl=self._tls, server_hostname=host
        )

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    @property
    def buffered(self) -> int:
        # asyncio's TLS transport has no answer once it is closed.
        if self._transport is None or self._transport.is_closing():
            return 0
        return self._transport.get_write_buffer_size()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class WebSocketTransport:
    """A WebSocket with TLS."""

    def __init__(self, address: str, tls: ssl.SSLContext) -> None:
        self._address = address
        self._tls = tls
        self._socket: ClientConnection | None = None
        self._unsent: list[bytes] = []
        self._closing = False
        self._reading: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None

    async def open(self, receiver: Receiver) -> None:
        try:
            self._socket = await connect(
                self._address,
                ssl=self._tls,
                compression=None,
                max_size=None,
                ping_interval=None,  # `NatsLink` watches the connection.
                proxy=True,
            )
        except websockets.WebSocketException as problem:
            raise ConnectionError(str(problem)) from problem
        self._reading = asyncio.create_task(self._read(self._socket, receiver))

    def write(self, data: bytes) -> None:
        self._unsent.append(data)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    @property
    def buffered(self) -> int:
        waiting = sum(map(len, self._unsent))
        if self._socket is None or self._socket.transport.is_closing():
            return waiting
        transport: asyncio.WriteTransport = self._socket.transport
        return waiting + transport.get_write_buffer_size()

    def close(self) -> None:
        self._closing = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    def abort(self) -> None:
        self._unsent.clear()
        if self._socket is not None:
            self._socket.transport.abort()

    async def _read(self, socket: ClientConnection, receiver: Receiver) -> None:
        problem: Exception | None = None
        try:
            while True:
                receiver.received(await socket.recv(decode=False))
        except websockets.ConnectionClosed as closed:
            problem = closed
        finally:
            receiver.lost(problem)

    async def _write(self) -> None:
        if self._socket is None:
            return
        with contextlib.suppress(websockets.ConnectionClosed):
            while self._unsent:
                parts, self._unsent = self._unsent, []
                await self._socket.send(b"".join(parts))
            if self._closing:
                await self._socket.close()


def check_address(address: str) -> str:
    """The address of a bus, if it is one that uses TLS; raises `UsageError`."""
    parts = urlsplit(address)
    try:
        usable = parts.scheme in ("tls", "wss") and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable or parts.username is not None:
        raise UsageError(
            f"{address!r} is not the address of a bus. Write tls://NAME:4222, or wss://NAME "
            "where only HTTPS is allowed."
        )
    return address


def transport_for(address: str, tls: ssl.SSLContext) -> BusTransport:
    """The transport for `tls://host:port` or `wss://host:port/path`."""
    parts = urlsplit(check_address(address))
    if parts.scheme == "wss":
        return WebSocketTransport(address, tls)
    return TlsTransport(parts.hostname or "", parts.port or DEFAULT_PORT, tls)
