"""Answers the questions of gateways: documents, pages, intents and HTTP requests.

Each question is answered in a task of its own, so that none waits for another. A question that is
repeated because its answer was lost does no harm: documents are read, intents are carried out once
for each (client, n), and HTTP requests once for each transfer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import zlib
from collections.abc import Awaitable, Callable

import msgspec

from fairlead.errors import FairleadError
from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.node.document_answers import document_body, page_body
from fairlead.fleet.node.http_exchange import HttpRoutes
from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.node.speaker import Speaker
from fairlead.fleet.node.transfers import Transfers
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import (
    Answer,
    DoAsk,
    FollowAnswer,
    FollowAsk,
    Followed,
    HttpAsk,
    LastIntentAsk,
    OpenAsk,
    PageAsk,
    PieceAsk,
    Position,
    decode,
    decode_body,
    encode,
)
from fairlead.server.http.api import Api
from fairlead.server.http.routes import Route
from fairlead.server.intents.registry import Registry
from fairlead.server.protocol.intents import (
    Archive,
    DeleteSessions,
    Fork,
    Intent,
    NewSession,
    Rename,
    SetTags,
    UndoDelete,
)
from fairlead.server.protocol.messages import LOBBY, IntentResult
from fairlead.server.refusal import Refusal

__all__ = ["NodeRequests"]

log = logging.getLogger("fairlead.fleet")

PACKED_FROM = 8 * 1024
"""Bytes of a document from which on it is compressed."""

MOST = 512
"""Questions that are being answered at the same time."""

REPLIES = 4
"""Askers of one question that get its answer, the last ones: two gateways may ask the same."""

_intent = msgspec.json.Decoder(Intent)

_LISTING = (NewSession, Fork, Rename, Archive, SetTags, DeleteSessions, UndoDelete)
"""Intents whose effect a client expects in the list of sessions when it has the result."""


class NodeRequests:
    """Answers for one node."""

    def __init__(
        self,
        bus: Bus,
        node: str,
        incarnation: str,
        *,
        registry: Registry,
        api: Api,
        speaker: Speaker,
        devices: KnownDevices,
        routes: tuple[Route, ...] = (),
    ) -> None:
        """`routes` are routes that exist only for gateways."""
        self._bus = bus
        self._node = node
        self._incarnation = incarnation
        self._registry = registry
        self._routes = HttpRoutes(api, routes)
        self._speaker = speaker
        self._devices = devices
        self.transfers = Transfers()
        self._tasks: set[asyncio.Task[None]] = set()
        self._replies: dict[tuple[str, bytes], list[str]] = {}
        """Question that is being answered -> where the answer is waited for."""
        self._subscriptions: list[Subscription] = []
        self._questions: dict[str, Callable[[bytes], Awaitable[bytes]]] = {
            "open": self._open,
            "page": self._page,
            "follow": self._follow,
            "last": self._last_intent,
            "http": self._http,
            "piece": self._piece,
        }

    def add(self, question: str, answer: Callable[[bytes], Awaitable[bytes]]) -> None:
        """Have another part of the node answer a question."""
        self._questions[question] = answer

    async def start(self) -> None:
        """Begin to answer."""
        for subject in (subjects.do(self._node), subjects.asks(self._node)):
            self._subscriptions.append(await self._bus.subscribe(subject, self._take))

    async def close(self) -> None:
        """Answer nothing more."""
        for subscription in self._subscriptions:
            with contextlib.suppress(BusError):
                await subscription.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self.transfers.close()

    def _take(self, message: Message) -> None:
        if message.reply is None:
            return
        key = message.subject, message.payload
        waiting = self._replies.get(key)
        if waiting is not None:  # It was asked again, before it could be answered.
            waiting.append(message.reply)
            del waiting[:-REPLIES]
        elif len(self._tasks) < MOST:  # Else the gateway asks again.
            self._replies[key] = [message.reply]
            task = asyncio.create_task(self._answer(message, key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Message, key: tuple[str, bytes]) -> None:
        try:
            payload = await self._payload(message)
        finally:
            replies = self._replies.pop(key)
        for reply in replies:
            with contextlib.suppress(BusError):
                await self._bus.publish(reply, payload)

    async def _payload(self, message: Message) -> bytes:
        """The answer to a question, whatever happens."""
        question = message.subject.rpartition(".")[2]
        handler = self._questions.get(question)
        if message.subject == subjects.do(self._node):
            handler = self._do
        try:
            if handler is None:
                raise Refusal(
                    "unsupported_message", f"This machine does not know the question {question!r}."
                )
            return await handler(message.payload)
        except Refusal as refusal:
            return encode(Answer(code=refusal.code, message=refusal.message))
        except FairleadError as problem:
            return encode(Answer(code="bad_message", message=str(problem)))
        except Exception:
            log.exception("the question %s cannot be answered", message.subject)
            text = "The machine failed because of an internal error. See its log."
            return encode(Answer(code="internal", message=text))

    # Documents

    async def _open(self, payload: bytes) -> bytes:
        ask = decode(payload, OpenAsk)
        await self._load(ask.document)
        if ask.document != LOBBY and ask.gateway:
            self._speaker.interest(ask.gateway, [Followed(ask.document)])
        await self._speaker.flush(ask.document)
        # Nothing may be awaited from here on: the next frame begins where this answer ends.
        body = document_body(self._registry.hub, ask, time.monotonic())
        if body is None:
            raise _not_found(ask.document)
        return await self._packed(msgspec.json.encode(body))

    async def _page(self, payload: bytes) -> bytes:
        ask = decode(payload, PageAsk)
        await self._load(ask.document)
        await self._speaker.flush(ask.document)
        body = page_body(self._registry.hub, ask, time.monotonic())
        if body is None:
            raise _not_found(ask.document)
        return await self._packed(msgspec.json.encode(body))

    async def _follow(self, payload: bytes) -> bytes:
        ask = decode(payload, FollowAsk)
        positions: list[Position] = []
        missing: list[str] = []
        for each in ask.documents:
            try:
                await self._load(each.document)
            except Refusal:
                missing.append(each.document)
                continue
            self._speaker.interest(ask.gateway, [each])
            position = self._speaker.position(each.document)
            if position is not None:
                positions.append(position)
        self._speaker.only(ask.gateway, {each.document for each in ask.documents})
        return encode(
            FollowAnswer(
                incarnation=self._incarnation, positions=tuple(positions), missing=tuple(missing)
            )
        )

    async def _load(self, document: str) -> None:
        if document != LOBBY:
            try:
                subjects.check_token(document)
            except ValueError:
                raise _not_found(document) from None
        if not await self._registry.open(document):
            raise _not_found(document)

    async def _packed(self, content: bytes) -> bytes:
        packed = len(content) >= PACKED_FROM
        if packed:
            content = zlib.compress(content, 1)
        return await self.transfers.offer(content, Answer(packed=packed))

    # Intents

    async def _do(self, payload: bytes) -> bytes:
        ask = decode(payload, DoAsk)
        try:
            device = await self._devices.find(ask.device)
            intent = _intent.decode(ask.intent)
        except Refusal as refusal:
            result = _refused(ask.n, refusal.code, refusal.message)
        except (msgspec.DecodeError, RecursionError) as problem:
            text = (
                f"This machine cannot read the intent: {problem}. "
                "It may run an older version of Fairlead: update it."
            )
            result = _refused(ask.n, "bad_message", text)
        else:
            result = await self._registry.act(device, ask.client, ask.n, intent)
            if result.ok and isinstance(intent, _LISTING):
                await self._speaker.flush(LOBBY)  # So that a list after the result has it.
        return await self.transfers.offer(msgspec.json.encode(result), Answer())

    async def _last_intent(self, payload: bytes) -> bytes:
        ask = decode(payload, LastIntentAsk)
        device = await self._devices.find(ask.device)
        number = await self._registry.last_intent(device, ask.client)
        return encode(Answer(), msgspec.json.encode(number))

    # HTTP

    async def _http(self, payload: bytes) -> bytes:
        ask, body = decode_body(payload, HttpAsk)
        device = await self._devices.find(ask.device)
        transfer = self.transfers.begin(ask.transfer, lambda: self._routes.begin(ask, device))
        return await transfer.answer(0, body, not ask.more)

    async def _piece(self, payload: bytes) -> bytes:
        ask, body = decode_body(payload, PieceAsk)
        return await self.transfers.answer(ask.transfer, ask.index, body, ask.last)


def _not_found(document: str) -> Refusal:
    return Refusal("not_found", f"Document {document!r:.200} not found.")


def _refused(n: int, code: str, message: str) -> IntentResult:
    return IntentResult(n=n, ok=False, code=code, message=message)
