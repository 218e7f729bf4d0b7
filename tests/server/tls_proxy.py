"""A small reverse proxy that terminates TLS, as nginx or Caddy do in front of a server.

It replaces X-Forwarded-Proto and X-Forwarded-Host, appends the address of its client to
X-Forwarded-For, and connects from 127.0.0.2, so that the server can tell it from its clients. The
certificate in `tls_proxy.pem` is self-signed, for `NAME`, and used nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from pathlib import Path
from typing import Any, Self

from tests.server.raw_requests import status_of

__all__ = ["ADDRESS", "KEY_HASH", "NAME", "TlsProxy", "https", "trusting"]

NAME = "agents.example.org"
ADDRESS = "127.0.0.2"
KEY_HASH = "d49OBMoRqWKEh4wlSwZO9bgdNseJuGM7iXk71dv9Psc="
"""SHA-256 of the public key of the certificate, for a browser that should accept it."""
_PEM = Path(__file__).with_name("tls_proxy.pem")
_REPLACED = (b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"connection")


def trusting() -> ssl.SSLContext:
    """What a client of the proxy verifies its certificate with."""
    return ssl.create_default_context(cafile=str(_PEM))


class TlsProxy:
    """The proxy, in front of a server on the port `upstream` of 127.0.0.1."""

    def __init__(self, upstream: int = 0, mount: tuple[str, str] = ("", "")) -> None:
        """`mount` is a path that is removed from each request, and one that is put in its place."""
        self.upstream = upstream
        self._mount = mount
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(_PEM)
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=context)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            client = writer.get_extra_info("peername")[0]
            inner, outer = await asyncio.open_connection(
                "127.0.0.1", self.upstream, local_addr=(ADDRESS, 0)
            )
            outer.write(forwarded(_mounted(head, *self._mount), client))
            try:
                await asyncio.gather(_copy(reader, outer), _copy(inner, writer))
            finally:
                outer.transport.abort()
                writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


def _mounted(head: bytes, removed: str, added: str) -> bytes:
    """The head with another path in front, as a proxy with a mount point and a target sends it."""
    method, _, rest = head.partition(b" ")
    return method + b" " + added.encode() + rest.removeprefix(removed.encode())


def forwarded(head: bytes, client: str) -> bytes:
    """The head of a request as the proxy passes it on; one request for each connection."""
    first, *lines = head.rstrip(b"\r\n").split(b"\r\n")
    fields = [
        (name.strip().lower(), value.strip(), line)
        for line in lines
        for name, _, value in [line.partition(b":")]
    ]
    hops = [value for name, value, _ in fields if name == b"x-forwarded-for"]
    host = next((value for name, value, _ in fields if name == b"host"), b"")
    upgrade = any(name == b"upgrade" for name, _, _ in fields)
    kept = [line for name, _, line in fields if name not in _REPLACED]
    kept += [
        b"X-Forwarded-For: " + b", ".join([*hops, client.encode()]),
        b"X-Forwarded-Proto: https",
        b"X-Forwarded-Host: " + host,
        b"Connection: " + (b"Upgrade" if upgrade else b"close"),
    ]
    return b"\r\n".join([first, *kept]) + b"\r\n\r\n"


async def https(
    proxy: TlsProxy, path: str, *headers: str, method: str = "GET", body: Any = None
) -> tuple[int, str]:
    """One request through the proxy: the status, and the whole answer."""
    data = b"" if body is None else json.dumps(body).encode()
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", proxy.port, ssl=trusting(), server_hostname=NAME
    )
    lines = [f"{method} {path} HTTP/1.1", *headers, f"Content-Length: {len(data)}"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
    async with asyncio.timeout(20):
        answer = (await reader.read()).decode("latin-1")
    writer.transport.abort()
    return status_of(answer), answer
