"""One exchange with the CLI: its request, the answer chosen for it, and what became of it.

Delivers an answer over an open connection with its delay, hold, pace and cut. Does not choose:
`model_api` records the request and picks the answer, `http_exchange` writes the bytes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.emulator.http_exchange import WatchedReader, start_stream, write_chunk, write_json
from fairlead.emulator.model_request import ModelRequest
from fairlead.emulator.replies import Answer, Failure, Reply, fail, stream_events, whole_message

__all__ = ["Exchange", "HungUp", "Outcome", "answer_other", "deliver", "or_hang_up"]

Outcome = Literal["open", "answered", "cut", "hung up"]

CONNECTIVITY_PATHS = ("/", "/api/hello")
"""Asked with HEAD or GET by a CLI that wants to know whether there is a network."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and its fate; `hung up` means that the client left before the end."""

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


async def deliver(exchange: Exchange, answer: Answer, writer: asyncio.StreamWriter) -> None:
    """Send the answer as the script wants it; sets the outcome to `cut` where it is cut."""
    exchange.answer = answer
    if answer.delay:
        await asyncio.sleep(answer.delay)
    if isinstance(answer, Failure):
        await _send_failure(exchange, answer, writer)
    elif exchange.request.stream:
        await _send_stream(exchange, answer, writer)
    else:
        await _send_whole(exchange, answer, writer)


async def answer_other(exchange: Exchange, writer: asyncio.StreamWriter) -> None:
    """Answer what is not a message request: token counts, connectivity checks, anything else."""
    request = exchange.request
    path = request.path.partition("?")[0]
    if path == "/v1/messages/count_tokens" and request.method == "POST":
        # Four characters a token is what a CLI itself assumes where it cannot ask.
        await write_json(writer, 200, {"input_tokens": len(json.dumps(request.body)) // 4})
    elif path in CONNECTIVITY_PATHS and request.method in ("GET", "HEAD"):
        body = {"message": "hello"}
        await write_json(writer, 200, body, with_body=request.method == "GET")
    else:
        body = fail(404, f"no {request.method} {path} here").body(exchange.request_id)
        await write_json(writer, 404, body, with_body=request.method != "HEAD")


async def or_hang_up(work: Coroutine[Any, Any, None], reader: WatchedReader) -> None:
    """Do the work, but give it up once the client closes the connection (an interrupt does)."""
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


async def _send_failure(exchange: Exchange, failure: Failure, writer: asyncio.StreamWriter) -> None:
    if failure.hold is not None:
        await failure.hold.passage()
    headers = {"request-id": exchange.request_id, **failure.headers}
    await write_json(writer, failure.status, failure.body(exchange.request_id), headers=headers)


async def _send_whole(exchange: Exchange, reply: Reply, writer: asyncio.StreamWriter) -> None:
    if reply.hold is not None:
        await reply.hold.passage()
    if reply.cut_after is not None:
        exchange.outcome = "cut"
        return
    model = exchange.request.model
    message = whole_message(reply, message_id=exchange.message_id, model=model)
    await write_json(writer, 200, message, headers={"request-id": exchange.request_id})


async def _send_stream(exchange: Exchange, reply: Reply, writer: asyncio.StreamWriter) -> None:
    if reply.hold is not None and reply.hold_after is None:
        await reply.hold.passage()
    start_stream(writer, {"request-id": exchange.request_id})
    async for event in _paced(exchange, reply):
        data = json.dumps(event, ensure_ascii=False)
        await write_chunk(writer, f"event: {event['type']}\ndata: {data}\n\n".encode())
    if reply.cut_after is not None:
        # No last chunk, so that the client sees a broken response and not an early end.
        exchange.outcome = "cut"
        return
    await write_chunk(writer, b"")


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
