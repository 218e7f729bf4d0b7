"""How bytes reach a NATS server: over TLS, or over a WebSocket with TLS.

Both replace a part of nats-py, for three reasons. Its TCP transport lets the server say, in plain
text, whether to use TLS, so an attacker on the network can turn TLS off; here TLS comes first.
Its WebSocket needs another library than the one that Fairlead has. And neither can be aborted while its
buffers are full.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from abc import abstractmethod
from urllib.parse import ParseResult, urlsplit

import websockets
from nats.aio.transport import Transport
from websockets.asyncio.client import ClientConnection, connect

from fairlead.errors import UsageError

__all__ = ["BusTransport", "TlsTransport", "WebSocketTransport", "check_address", "transport_for"]

READ_BYTES = 256 * 1024
DEFAULT_PORT = 4222


class BusTransport(Transport):
    """A transport that is opened before nats-py gets it."""

    @abstractmethod
    async def open(self) -> None:
        """Connect; raises `OSError`."""

    @abstractmethod
    def abort(self) -> None:
        """Give the connection up at once, whatever is unsent."""

    @property
    @abstractmethod
    def buffered(self) -> int:
        """Bytes that the system has not taken yet."""

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:
        """It is connected already."""

    async def connect_tls(
        self,
        uri: str | ParseResult,
        ssl_context: ssl.SSLContext,
        buffer_size: int,
        connect_timeout: int,
    ) -> None:
        """It uses TLS already."""

    def __bool__(self) -> bool:
        return True  # nats-py replaces a transport that is false.


class TlsTransport(BusTransport):
    """TCP with TLS from the first byte."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext) -> None:
        self._address = (host, port)
        self._tls = tls
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._aborted = False

    async def open(self) -> None:
        host, port = self._address
        self._reader, self._writer = await asyncio.open_connection(
            host, port, ssl=self._tls, server_hostname=host, limit=READ_BYTES
        )

    def abort(self) -> None:
        self._aborted = True
        if self._writer is not None:
            self._writer.transport.abort()

    @property
    def buffered(self) -> int:
        # asyncio's TLS transport has no answer once it is closed.
        if self._writer is None or self._writer.transport.is_closing():
            return 0
        return self._writer.transport.get_write_buffer_size()

    def write(self, payload: bytes) -> None:
        if self._writer is not None and not self._aborted:
            self._writer.write(payload)

    def writelines(self, payload: list[bytes]) -> None:
        if self._writer is not None and not self._aborted:
            self._writer.write(b"".join(payload))

    async def read(self, buffer_size: int) -> bytes:
        assert self._reader is not None
        return await self._reader.read(READ_BYTES)

    async def readline(self) -> bytes:
        assert self._reader is not None
        return await self._reader.readline()

    async def drain(self) -> None:
        if self._writer is not None and not self._aborted:
            await self._writer.drain()

    async def wait_closed(self) -> None:
        if self._writer is not None and not self._aborted:
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def at_eof(self) -> bool:
        return self._reader is None or self._reader.at_eof()


class WebSocketTransport(BusTransport):
    """A WebSocket with TLS."""

    def __init__(self, address: str, tls: ssl.SSLContext) -> None:
        self._address = address
        self._tls = tls
        self._socket: ClientConnection | None = None
        self._unsent: list[bytes] = []
        self._closing: asyncio.Task[None] | None = None
        self._ended = False

    async def open(self) -> None:
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

    def abort(self) -> None:
        self._ended = True
        if self._socket is not None:
            self._socket.transport.abort()

    @property
    def buffered(self) -> int:
        waiting = sum(len(each) for each in self._unsent)
        if self._socket is None or self._socket.transport.is_closing():
            return waiting
        transport: asyncio.WriteTransport = self._socket.transport
        return waiting + transport.get_write_buffer_size()

    def write(self, payload: bytes) -> None:
        self._unsent.append(bytes(payload))

    def writelines(self, payload: list[bytes]) -> None:
        self._unsent.append(b"".join(payload))

    async def read(self, buffer_size: int) -> bytes:
        return await self.readline()

    async def readline(self) -> bytes:
        assert self._socket is not None
        try:
            received = await self._socket.recv(decode=False)
        except websockets.ConnectionClosed:
            self._ended = True
            return b""
        return received

    async def drain(self) -> None:
        payload, self._unsent = b"".join(self._unsent), []
        if self._socket is None or self._ended or not payload:
            return
        try:
            await self._socket.send(payload)
        except websockets.ConnectionClosed as problem:
            raise ConnectionError(str(problem)) from problem

    async def wait_closed(self) -> None:
        if self._closing is not None:
            await self._closing

    def close(self) -> None:
        if self._socket is not None and self._closing is None:
            self._closing = asyncio.create_task(self._socket.close())

    def at_eof(self) -> bool:
        return self._ended


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
