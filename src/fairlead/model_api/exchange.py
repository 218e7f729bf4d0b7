"""One exchange with the CLI: its request, the chosen answer, and the outcome.

Delivers an answer over an open connection with its delay, hold, pace and cut. `api` records the
request and selects the answer, `http_exchange` writes the bytes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.model_api.http_exchange import HttpConnection, WatchedReader
from fairlead.model_api.json_text import to_json
from fairlead.model_api.replies import Answer, Failure, Reply, fail, stream_events, whole_message
from fairlead.model_api.request import ModelRequest

__all__ = ["Exchange", "HungUp", "Outcome", "answer_other", "deliver", "or_hang_up"]

Outcome = Literal["open", "answered", "cut", "hung up"]

CONNECTIVITY_PATHS = ("/", "/api/hello")
"""The CLI requests these with HEAD or GET to find out whether there is a network."""

CUT_PAUSE_S = 0.2
"""Time that a client gets to read the pieces of a reply before its connection breaks."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and its outcome; `hung up` means that the client disconnected before the end."""

    request: ModelRequest
    tag: str
    answer: Answer | None = None
    outcome: Outcome = "open"

    @property
    def message_id(self) -> str:
        return f"msg_{self.tag}{self.request.number:04}"

    @property
    def request_id(self) -> str:
        return f"req_{self.tag}{self.request.number:04}"


class HungUp(Exception):
    """The client closed the connection while it waited for an answer."""


async def deliver(exchange: Exchange, answer: Answer, connection: HttpConnection) -> None:
    """Send the answer as the script defines it; sets the outcome to `cut` if it is cut."""
    exchange.answer = answer
    if answer.delay:
        await asyncio.sleep(answer.delay)
    if isinstance(answer, Failure):
        await _send_failure(exchange, answer, connection)
    elif exchange.request.stream:
        await _send_stream(exchange, answer, connection)
    else:
        await _send_whole(exchange, answer, connection)


async def answer_other(exchange: Exchange, connection: HttpConnection) -> None:
    """Answer requests other than messages: token counts, connectivity checks, anything else."""
    request = exchange.request
    path = request.path.partition("?")[0]
    if path == "/v1/messages/count_tokens" and request.method == "POST":
        # The CLI itself assumes four characters per token when it cannot ask.
        await connection.write_json(200, {"input_tokens": len(json.dumps(request.body)) // 4})
    elif path in CONNECTIVITY_PATHS and request.method in ("GET", "HEAD"):
        body = {"message": "hello"}
        await connection.write_json(200, body, with_body=request.method == "GET")
    else:
        body = fail(404, f"unknown endpoint: {request.method} {path}").body(exchange.request_id)
        await connection.write_json(404, body, with_body=request.method != "HEAD")


async def or_hang_up(work: Coroutine[Any, Any, None], reader: WatchedReader) -> None:
    """Await `work`, but stop when the client closes the connection, as an interrupt does."""
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(reader.gone.wait())
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HungUp
        working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _send_failure(exchange: Exchange, failure: Failure, connection: HttpConnection) -> None:
    if failure.hold is not None:
        await failure.hold.passage()
    headers = {"request-id": exchange.request_id, **failure.headers}
    await connection.write_json(failure.status, failure.body(exchange.request_id), headers=headers)


async def _send_whole(exchange: Exchange, reply: Reply, connection: HttpConnection) -> None:
    if reply.hold is not None:
        await reply.hold.passage()
    if reply.cut_after is not None:
        exchange.outcome = "cut"
        return
    model = exchange.request.model
    message = whole_message(reply, message_id=exchange.message_id, model=model)
    await connection.write_json(200, message, headers={"request-id": exchange.request_id})


async def _send_stream(exchange: Exchange, reply: Reply, connection: HttpConnection) -> None:
    if reply.hold is not None and reply.hold_after is None:
        await reply.hold.passage()
    connection.start_stream({"request-id": exchange.request_id})
    async for event in _paced(exchange, reply):
        data = to_json(event)
        await connection.write_chunk(f"event: {event['type']}\ndata: {data}\n\n".encode())
    if reply.cut_after is not None:
        # A client that reads the pieces and the end of the connection at once drops the pieces.
        await asyncio.sleep(CUT_PAUSE_S)
        # No last chunk, so that the client sees a broken response and not an early end.
        exchange.outcome = "cut"
        return
    await connection.write_chunk(b"")


async def _paced(exchange: Exchange, reply: Reply) -> AsyncIterator[dict[str, Any]]:
    """The events of a reply with its pace, its hold and its cut."""
    deltas = 0
    model = exchange.request.model
    for event in stream_events(reply, message_id=exchange.message_id, model=model):
        if event["type"] == "content_block_delta":
            if deltas and reply.delta_delay:
                await asyncio.sleep(reply.delta_delay)
            if reply.hold is not None and reply.hold_after == deltas:
                await reply.hold.passage()
            if reply.cut_after == deltas:
                return
            deltas += 1
        yield event
