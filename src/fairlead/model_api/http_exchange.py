"""One HTTP/1.1 connection of the model API, on asyncio streams.

h11 parses the requests and frames the responses; this module moves the bytes, applies limits, and
offers what the API needs: read a request, write a whole JSON response, or stream one in chunks.
Knows nothing about models or scripts. Above it: `exchange` and `api`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11

from fairlead.model_api.json_text import to_json

__all__ = ["BadRequest", "HttpConnection", "HttpRequest", "WatchedReader"]

HEAD_LIMIT = 64 * 1024
"""Longest request head in bytes; the longest seen from a CLI is under 2 KiB."""

BODY_LIMIT = 64 * 1024 * 1024
"""Longest body in bytes: a CLI sends images of several megabytes, never this much."""

READ_SIZE = 64 * 1024


class BadRequest(Exception):
    """The bytes are not a valid HTTP request."""


class WatchedReader(asyncio.StreamReader):
    """A reader that reports when the client disconnects, without consuming a byte.

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


class HttpConnection:
    """A connection of a client: requests in, responses out, one after the other."""

    def __init__(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)

    async def read_request(self) -> HttpRequest | None:
        """The next request; None when the client closed the connection or asked to close it."""
        if self._state.our_state is h11.MUST_CLOSE:
            return None
        if self._state.our_state is h11.DONE:
            self._state.start_next_cycle()
        try:
            head = await self._next_event()
            if not isinstance(head, h11.Request):
                return None
            parts: list[bytes] = []
            total = 0
            while isinstance(event := await self._next_event(), h11.Data):
                total += len(event.data)
                if total > BODY_LIMIT:
                    raise BadRequest(f"the body has more than {BODY_LIMIT} bytes")
                parts.append(bytes(event.data))
        except h11.RemoteProtocolError as error:
            raise BadRequest(f"the request is not valid HTTP/1.1: {error}") from error
        return HttpRequest(
            method=head.method.decode("ascii"),
            path=head.target.decode("ascii"),
            headers={name.decode("ascii"): value.decode("latin-1") for name, value in head.headers},
            body=b"".join(parts),
        )

    async def _next_event(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._state.next_event()) is h11.NEED_DATA:
            if self._state.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._state.receive_data(await self.reader.read(READ_SIZE))
        return event  # type: ignore[return-value]  # only NEED_DATA is excluded

    async def write_json(
        self,
        status: int,
        value: Any,
        *,
        headers: Mapping[str, str] | None = None,
        with_body: bool = True,
    ) -> None:
        """Write a complete JSON response; `with_body=False` is for HEAD, which has no body."""
        body = to_json(value).encode()
        fields = {"content-type": "application/json", "content-length": str(len(body))}
        self._send(_head(status, {**fields, **(headers or {})}))
        if with_body:
            self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        await self._writer.drain()

    def start_stream(self, headers: Mapping[str, str]) -> None:
        """Write the head of a streamed response; `write_chunk` follows, an empty chunk ends it."""
        fields = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        self._send(_head(200, {**fields, **headers}))

    async def write_chunk(self, data: bytes) -> None:
        self._send(h11.Data(data=data) if data else h11.EndOfMessage())
        await self._writer.drain()

    def _send(self, event: h11.Event) -> None:
        data = self._state.send(event)
        if data:
            self._writer.write(data)


def _head(status: int, headers: Mapping[str, str]) -> h11.Response:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Scripted"
    return h11.Response(
        status_code=status,
        headers=[
            (name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()
        ],
        reason=phrase,
    )
