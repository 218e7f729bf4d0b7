"""The little of HTTP/1.1 that the model API needs, on asyncio streams.

Reads one request (head, and a body by length or in chunks) and writes responses: a whole one, or
a stream in chunks. Knows nothing of models or scripts. Above it: `model_api`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

__all__ = [
    "BadRequest",
    "HttpRequest",
    "WatchedReader",
    "read_request",
    "start_stream",
    "write_chunk",
    "write_json",
]

HEAD_LIMIT = 64 * 1024
"""Longest request head in bytes; the longest seen from a CLI is under 2 KiB."""

BODY_LIMIT = 64 * 1024 * 1024
"""Longest body in bytes: a CLI sends images of several megabytes, never this much."""

LAST_CHUNK = b"0\r\n\r\n"


class BadRequest(Exception):
    """The bytes are not an HTTP request that we can read."""


class WatchedReader(asyncio.StreamReader):
    """A reader that tells when the client has gone, without taking a byte of what it sent.

    Waiting in `read` for the end would do the same and lose the first byte of a next request.
    """

    def __init__(self) -> None:
        super().__init__(limit=HEAD_LIMIT, loop=asyncio.get_running_loop())
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of this connection; None when the client closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise BadRequest("the connection was closed inside a request") from end
        return None
    except asyncio.LimitOverrunError as overrun:
        raise BadRequest("the request head is too long") from overrun
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest(f"not an HTTP/1.1 request line: {first[:80]!r}")
    fields = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    body = await _read_body(reader, headers)
    return HttpRequest(method=parts[0], path=parts[1], headers=headers, body=body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    try:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await _read_chunks(reader)
        return await reader.readexactly(_checked(int(headers.get("content-length", "0"))))
    except asyncio.IncompleteReadError as end:
        raise BadRequest("the connection was closed inside a body") from end
    except ValueError as bad:
        raise BadRequest(f"the length of the body is no number: {bad}") from bad


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    total = 0
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        total = _checked(total + size)
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while (await reader.readuntil(b"\r\n")) != b"\r\n":
        pass
    return b"".join(parts)


def _checked(length: int) -> int:
    if not 0 <= length <= BODY_LIMIT:
        raise BadRequest(f"a body of {length} bytes is refused")
    return length


async def write_json(
    writer: asyncio.StreamWriter,
    status: int,
    value: Any,
    *,
    headers: Mapping[str, str] | None = None,
    with_body: bool = True,
) -> None:
    """One whole JSON response; `with_body=False` is for HEAD, which has only the head of it."""
    body = json.dumps(value, ensure_ascii=False).encode()
    fields = {"content-type": "application/json", "content-length": str(len(body))}
    writer.write(_head(status, {**fields, **(headers or {})}))
    if with_body:
        writer.write(body)
    await writer.drain()


def start_stream(writer: asyncio.StreamWriter, headers: Mapping[str, str]) -> None:
    """The head of a streamed response; `write_chunk` follows, an empty one ends it."""
    fields = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    writer.write(_head(200, {**fields, "transfer-encoding": "chunked", **headers}))


async def write_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data) if data else LAST_CHUNK)
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Scripted"
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
