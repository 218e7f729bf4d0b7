"""Asks nodes: sends a question again while the node beats, and pulls large answers in pieces.

A question whose answer was lost is asked again with the same bytes; the node carries it out once.
The client does not wait for a node that sends no beats: the caller learns at once that the machine is
away.
"""

from __future__ import annotations

import asyncio
import time
import uuid
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from fairlead.fleet.bus.bus import Bus, BusUnavailable, NoAnswer, NoListener
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import (
    PIECE_BYTES,
    Answer,
    DoAsk,
    DocumentBody,
    DrainAsk,
    FollowAnswer,
    FollowAsk,
    HttpAsk,
    LastIntentAsk,
    MoveAsk,
    NoticeAsk,
    OpenAsk,
    PageAsk,
    PageBody,
    PieceAsk,
    TerminalAnswer,
    TerminalAsk,
    decode,
    decode_body,
    encode,
)
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.refusal import Refusal

__all__ = ["HttpResponse", "NodeClient"]

ANSWER_S = 2.0
"""How long an answer is waited for before the question is sent again."""

LISTENER_S = 0.2
"""The pause before a question is repeated to a node that beats and does not listen yet."""

DOCUMENT_S = 20.0
"""How long a document or a list may take in all."""

MOVE_S = 60.0
"""How long a step of a move may take."""

HTTP_S = 120.0
"""How long one piece of an HTTP response may take."""

MOST_BYTES = 256 * 1024 * 1024
"""Most bytes of a document, after and before it was compressed."""

T = TypeVar("T")

NO_BUS = "The gateway is not connected to its machines now. Try again in a moment."
NOT_ANSWERED = (
    "The connection to the machine was lost before it answered, so this may have been done. Check "
    "that when the machine is connected again."
)


class HttpResponse:
    """The response of a node: its status and headers, and its body in pieces."""

    def __init__(
        self, status: int, headers: tuple[tuple[str, str], ...], body: AsyncIterator[bytes]
    ) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.body])


class NodeClient:
    """Asks the nodes of a fleet."""

    def __init__(
        self,
        bus: Bus,
        is_here: Callable[[str], bool],
        away: Callable[[str], str],
        carried_out: Callable[[str, float], None] = lambda result, seconds: None,
    ) -> None:
        """`is_here` tells whether a node beats; `away` says in a sentence that it does not.

        `carried_out` gets the result of each intent (`ok` or a code) and its duration.
        """
        self._bus = bus
        self._is_here = is_here
        self._away = away
        self._carried_out = carried_out

    async def open(self, node: str, ask: OpenAsk) -> DocumentBody:
        """What leads from a number to the present of a document."""
        return await self._document(node, "open", encode(ask), DocumentBody)

    async def page(self, node: str, ask: PageAsk) -> PageBody:
        """Older items of a document."""
        return await self._document(node, "page", encode(ask), PageBody)

    async def follow(self, node: str, ask: FollowAsk) -> FollowAnswer:
        """Follow documents for a while."""
        payload = await self._request(subjects.ask(node, "follow"), node, encode(ask), DOCUMENT_S)
        return decode(payload, FollowAnswer)

    async def do(self, node: str, ask: DoAsk) -> IntentResult:
        """Have an intent carried out: once, however often it has to be sent."""
        started, outcome = time.monotonic(), "internal"
        try:
            payload = await self._request(subjects.do(node), node, encode(ask), None)
            answer, content = await self._pull(node, payload)
            _check(answer)
            result = msgspec.json.decode(content, type=IntentResult)
            outcome = "ok" if result.ok else result.code or "refused"
            return result
        except Refusal as refusal:
            outcome = refusal.code
            raise
        finally:
            self._carried_out(outcome, time.monotonic() - started)

    async def drain(self, node: str, ask: DrainAsk) -> None:
        """Have a node accept no new sessions of the fleet, or accept them again."""
        payload = await self._request(subjects.ask(node, "drain"), node, encode(ask), ANSWER_S)
        _check(decode_body(payload, Answer)[0])

    async def noticed(self, node: str, ask: NoticeAsk) -> None:
        """Tell a node that a notice is stored here."""
        payload = await self._request(subjects.ask(node, "notice"), node, encode(ask), ANSWER_S)
        _check(decode_body(payload, Answer)[0])

    async def move(self, node: str, ask: MoveAsk) -> dict[str, Any]:
        """Have a node carry out a step of a move."""
        payload = await self._request(subjects.ask(node, "move"), node, encode(ask), MOVE_S)
        answer, content = await self._pull(node, payload)
        _check(answer)
        return msgspec.json.decode(content, type=dict[str, Any])

    async def last_intent(self, node: str, ask: LastIntentAsk) -> int:
        """The highest number of a client that a node has carried out."""
        payload = await self._request(subjects.ask(node, "last"), node, encode(ask), ANSWER_S)
        answer, content = decode_body(payload, Answer)
        _check(answer)
        return msgspec.json.decode(content, type=int)

    async def terminal(self, node: str, ask: TerminalAsk) -> TerminalAnswer:
        """Hand messages about terminals to a node: once, however often they have to be sent."""
        payload = await self._request(subjects.ask(node, "terminal"), node, encode(ask), DOCUMENT_S)
        answer, content = decode_body(payload, Answer)
        _check(answer)
        return msgspec.json.decode(content, type=TerminalAnswer)

    async def http(self, node: str, ask: HttpAsk, body: AsyncIterator[bytes]) -> HttpResponse:
        """Have an HTTP request carried out; `ask` gets its transfer here."""
        transfer = uuid.uuid4().hex
        index = 0
        payload = b""
        async for piece, last in _pieces(body):
            if index == 0:
                first = structs.replace(ask, transfer=transfer, more=not last)
                question, message = "http", encode(first, piece)
            else:
                step = PieceAsk(transfer=transfer, index=index, last=last)
                question, message = "piece", encode(step, piece)
            subject = subjects.ask(node, question)
            payload = await self._request(subject, node, message, HTTP_S)
            _check(decode(payload, Answer))
            index += 1
        answer, content = decode_body(payload, Answer)
        rest = self._rest(node, transfer, index, content, answer.more)
        return HttpResponse(answer.status, answer.headers, rest)

    async def _rest(
        self, node: str, transfer: str, index: int, content: bytes, more: bool
    ) -> AsyncIterator[bytes]:
        yield content
        while more:
            ask = encode(PieceAsk(transfer=transfer, index=index))
            payload = await self._request(subjects.ask(node, "piece"), node, ask, HTTP_S)
            answer, content = decode_body(payload, Answer)
            _check(answer)
            more = answer.more
            index += 1
            yield content

    async def _document(self, node: str, question: str, payload: bytes, kind: type[T]) -> T:
        payload = await self._request(subjects.ask(node, question), node, payload, DOCUMENT_S)
        answer, content = await self._pull(node, payload)
        try:
            if answer.packed:
                content = _unpacked(content)
            return msgspec.json.decode(content, type=kind)
        except (msgspec.DecodeError, zlib.error, RecursionError) as problem:
            raise Refusal(
                "internal", f"The machine sent a document that cannot be read: {problem}"
            ) from None

    async def _pull(self, node: str, payload: bytes) -> tuple[Answer, bytes]:
        first, content = decode_body(payload, Answer)
        _check(first)
        parts, size = [], 0
        async for piece in self._rest(node, first.transfer, 1, content, first.more):
            size += len(piece)
            if size > MOST_BYTES:
                raise Refusal("too_large", "The machine sent a document that is too large.")
            parts.append(piece)
        return first, b"".join(parts)

    async def _request(
        self, subject: str, node: str, payload: bytes, within_s: float | None
    ) -> bytes:
        """Ask until an answer comes; refuses when the node is away or the time is over."""
        started, was_sent = time.monotonic(), False
        while True:
            if not self._is_here(node):
                raise Refusal("unavailable", NOT_ANSWERED if was_sent else self._away(node))
            try:
                return await self._bus.request(subject, payload, ANSWER_S)
            except BusUnavailable:
                raise Refusal("unavailable", NOT_ANSWERED if was_sent else NO_BUS) from None
            except NoListener:
                await asyncio.sleep(LISTENER_S)
            except NoAnswer:
                was_sent = True
            if within_s is not None and time.monotonic() - started >= within_s:
                raise Refusal("unavailable", "The machine did not answer in time. Try again.")


def _unpacked(content: bytes) -> bytes:
    """The content of a compressed document; refuses one that is too large."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(content, MOST_BYTES)
    if unpacker.unconsumed_tail:
        raise Refusal("too_large", "The machine sent a document that is too large.")
    return unpacked


async def _pieces(body: AsyncIterator[bytes]) -> AsyncIterator[tuple[bytes, bool]]:
    """A body in pieces of at most `PIECE_BYTES`, each with whether it is the last."""
    held = bytearray()
    async for part in body:
        held += part
        while len(held) > PIECE_BYTES:
            yield bytes(held[:PIECE_BYTES]), False
            del held[:PIECE_BYTES]
    yield bytes(held), True


def _check(answer: Answer) -> None:
    if answer.code is not None:
        raise Refusal(answer.code, answer.message)
