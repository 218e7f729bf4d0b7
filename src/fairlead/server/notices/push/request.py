"""One POST request to a push service: no redirects, and limits for time and size (R24).

The name is resolved once; if one of its addresses is not public, nothing is sent. The connection
goes to the address that was checked, so that another answer of the name server changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable

import h11
from msgspec import Struct

from fairlead.server.notices.push.endpoint import Endpoint, is_public

__all__ = ["Answer", "NotSent", "post"]

TIMEOUT_S = 15.0
LARGEST_ANSWER = 16_384
"""Bytes of the response that are read; only its status and one header matter."""


class NotSent(Exception):
    """The request got no answer; `refused` if it was not even tried."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refused = refused


class Answer(Struct, frozen=True):
    """The answer of a push service."""

    status: int
    retry_after_s: float | None = None


async def post(
    endpoint: Endpoint,
    headers: dict[str, str],
    body: bytes,
    *,
    loopback: bool = False,
    tls: ssl.SSLContext | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Answer:
    """Send a body; raises `NotSent`."""
    try:
        async with asyncio.timeout(timeout_s):
            address = await _resolved(endpoint, loopback=loopback)
            context = (tls or ssl.create_default_context()) if endpoint.scheme == "https" else None
            name = endpoint.host if context is not None else None
            reader, writer = await asyncio.open_connection(
                address, endpoint.port, ssl=context, server_hostname=name, limit=LARGEST_ANSWER
            )
            try:
                return await _exchange(reader, writer, endpoint, headers, body)
            finally:
                writer.transport.abort()
    except TimeoutError:
        raise NotSent(f"{endpoint.host} did not answer within {timeout_s:.0f} s") from None
    except ssl.SSLError as problem:
        raise NotSent(f"{endpoint.host} has no valid certificate ({problem.reason})") from None
    except OSError as problem:
        raise NotSent(f"{endpoint.host} cannot be reached ({problem.strerror})") from None
    except h11.ProtocolError:
        raise NotSent(f"{endpoint.host} did not answer with HTTP") from None


async def _resolved(endpoint: Endpoint, *, loopback: bool) -> str:
    if loopback and endpoint.host == "127.0.0.1":
        return endpoint.host
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    addresses = [str(info[4][0]) for info in infos]
    if not addresses or not all(map(is_public, addresses)):
        raise NotSent(f"{endpoint.host} is not on the public internet", refused=True)
    return addresses[0]


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    endpoint: Endpoint,
    headers: dict[str, str],
    body: bytes,
) -> Answer:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_ANSWER)
    host = endpoint.origin.partition("://")[2]
    all_headers = {"Host": host, "Content-Length": str(len(body)), "Connection": "close", **headers}
    request = h11.Request(method="POST", target=endpoint.target, headers=list(all_headers.items()))
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    while True:
        received = connection.next_event()
        if received is h11.NEED_DATA:
            connection.receive_data(await reader.read(LARGEST_ANSWER))
        elif isinstance(received, h11.Response):
            return Answer(received.status_code, _retry_after(received.headers))
        elif not isinstance(received, h11.InformationalResponse):
            raise h11.RemoteProtocolError("the connection was closed")


def _retry_after(headers: Iterable[tuple[bytes, bytes]]) -> float | None:
    for name, value in headers:
        if name == b"retry-after" and value.isdigit() and len(value) < 8:
            return float(value)
    return None
