"""One connection to a NATS server, from its greeting to its end. `NatsLink` opens the next one.

Messages are handed over as they are read, without a task or a queue between, and everything that is
sent in one moment is one write: at the pace of a working session, tasks and system calls cost more
than the messages themselves.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from itertools import count

import msgspec
from msgspec import Struct

from fairlead.fleet.bus.nats_protocol import (
    PING,
    PONG,
    Control,
    NatsMessage,
    ProtocolReader,
    UnreadableBytes,
    connecting,
    published,
    subscribed,
    unsubscribed,
)
from fairlead.fleet.bus.nats_transport import BusTransport
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.version import VERSION

__all__ = ["MessageHandler", "NatsConnection"]

log = logging.getLogger("fairlead")

MOST_BYTES = 1024 * 1024
"""What a server accepts in one message unless it says otherwise."""

HEADER_BYTES = 1024
"""More than the headers of a message have here."""

HARMLESS = (
    "permissions violation",
    "invalid subject",
    "invalid publish subject",
    "maximum subscriptions exceeded",
)
"""Beginnings of refusals that concern one message or subscription; after any other one the server
disconnects."""

MessageHandler = Callable[[NatsMessage], None]


class Greeting(Struct):
    """What a server says of itself: at the beginning, and when something of it changes.

    The addresses of its cluster (`connect_urls`) are not used: only those are trusted that the machine
    got when it joined. A server that is about to end (`ldm`) closes its connections by itself.
    """

    max_payload: int = MOST_BYTES
    nonce: str = ""


class NatsConnection:
    """A client of a server (`nats_transport.Receiver`)."""

    def __init__(self, transport: BusTransport, key: NodeKey, name: str) -> None:
        self.ended = asyncio.Event()
        self.problem: str | None = None
        """Why it ended."""
        self.heard_at = time.monotonic()
        """When the server last sent anything."""
        self._most_bytes = MOST_BYTES
        """Most bytes of one message with its headers; the server ends a connection with a longer one."""
        self._transport = transport
        self._key = key
        self._name = name
        self._reader = ProtocolReader()
        self._greeting: asyncio.Future[Greeting] | None = None
        self._handlers: dict[int, MessageHandler] = {}
        self._numbers = count(1)
        self._pings: deque[asyncio.Future[None]] = deque()
        """Those who wait for the answer to a ping, in order."""
        self._unwritten: list[bytes] = []
        self._unwritten_bytes = 0

    async def open(self) -> None:
        """Connect and log in; raises `OSError`."""
        greeting = self._greeting = asyncio.get_running_loop().create_future()
        await self._transport.open(self)
        server = await greeting
        options = {
            "verbose": False,
            "pedantic": False,
            "lang": "python",
            "version": VERSION,
            "protocol": 1,
            "headers": True,
            "no_responders": True,
            "name": self._name,
            "nkey": self._key.public,
            "sig": self._key.sign(server.nonce).decode(),
        }
        self._write(connecting(options))
        await self.round_trip()

    def close(self) -> None:
        """Send what was published, and disconnect."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Disconnect at once."""
        self._transport.abort()
        self.lost(None)

    @property
    def unsent(self) -> int:
        """Bytes that the system has not taken yet."""
        return self._unwritten_bytes + self._transport.buffered

    # What is sent

    def publish(
        self, subject: str, payload: bytes, reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        """Send a message soon; raises `ValueError` if it cannot be sent."""
        if len(payload) + (HEADER_BYTES if headers else 0) > self._most_bytes:
            raise ValueError(f"{len(payload)} bytes are too many for one message")
        self._write(published(subject, reply, payload, headers))

    def subscribe(self, subject: str, handler: MessageHandler) -> int:
        """Have a handler called with the messages of a subject; the number of the subscription."""
        number = next(self._numbers)
        self._write(subscribed(subject, number))
        self._handlers[number] = handler
        return number

    def unsubscribe(self, number: int) -> None:
        """Hand over no more messages of a subscription."""
        if self._handlers.pop(number, None) is not None:
            self._write(unsubscribed(number))

    async def round_trip(self) -> None:
        """Wait until the server has read everything that was sent; raises `ConnectionError`."""
        await self._ping()

    def ping(self) -> None:
        """Have the server answer, unless an answer is still to come."""
        if not self._pings and not self.ended.is_set():
            self._ping()

    def _ping(self) -> asyncio.Future[None]:
        if self.ended.is_set():
            raise self._ending()
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pings.append(answered)
        self._write(PING)
        return answered

    def _write(self, data: bytes) -> None:
        """Write this with what else is written in this moment."""
        if self.ended.is_set():
            return
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unwritten.append(data)
        self._unwritten_bytes += len(data)

    def _flush(self) -> None:
        parts, self._unwritten, self._unwritten_bytes = self._unwritten, [], 0
        if parts and not self.ended.is_set():
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))

    # What the server sends

    def received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        try:
            operations = self._reader.feed(data)
        except UnreadableBytes as problem:
            self._transport.abort()
            self.lost(problem)
            return
        for operation in operations:
            if isinstance(operation, NatsMessage):
                self._hand_over(operation)
            else:
                self._obey(operation)

    def lost(self, problem: Exception | None) -> None:
        if self.ended.is_set():
            return
        if self.problem is None:
            self.problem = "the connection was lost" if problem is None else str(problem)
        self.ended.set()
        self._handlers.clear()
        for waiting in (self._greeting, *self._pings):
            if waiting is not None and not waiting.done():
                waiting.set_exception(self._ending())
                waiting.exception()  # Perhaps nobody waits any more.

    def _ending(self) -> ConnectionError:
        return ConnectionError(self.problem or "the connection was lost")

    def _hand_over(self, message: NatsMessage) -> None:
        handler = self._handlers.get(message.subscription)
        if handler is None:  # It was closed while the message was on its way.
            return
        try:
            handler(message)
        except Exception:
            log.exception("bus: a message of %s could not be processed", message.subject)

    def _obey(self, control: Control) -> None:
        if control.verb == "PING":
            self._write(PONG)
        elif control.verb == "PONG":
            answered = self._pings.popleft() if self._pings else None
            if answered is not None and not answered.done():
                answered.set_result(None)
        elif control.verb == "INFO":
            self._greet(control.text)
        elif control.verb == "-ERR":
            self._note_refusal(control.text.decode("utf-8", "replace").strip(" '"))

    def _greet(self, text: bytes) -> None:
        try:
            server = msgspec.json.decode(text, type=Greeting)
        except msgspec.DecodeError as problem:
            self._transport.abort()
            self.lost(UnreadableBytes(f"its greeting cannot be read: {problem}"))
            return
        self._most_bytes = server.max_payload
        if self._greeting is not None and not self._greeting.done():
            self._greeting.set_result(server)

    def _note_refusal(self, text: str) -> None:
        if text.casefold().startswith(HARMLESS):
            log.warning("bus: %s", text)
        else:
            self.problem = text
