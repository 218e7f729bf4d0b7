"""The bus on NATS; see `Bus`.

It uses two connections: large messages (log records and answers to questions) have a separate one, so
that an approval never waits behind a snapshot on a slow line.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.fleet.bus.bus import Handler, Message
from fairlead.fleet.bus.nats_link import LinkSubscription, NatsLink
from fairlead.fleet.bus.nats_protocol import NatsMessage
from fairlead.fleet.bus.nats_store import NatsBucket, NatsStream
from fairlead.fleet.bus.nats_transport import check_address
from fairlead.fleet.bus.nkey import NodeKey

__all__ = ["NatsBus", "tls_context"]

LARGE = 32 * 1024
"""A larger request goes over the second connection."""

PENDING = 512 * 1024
BULK_PENDING = 2 * 1024 * 1024

QUESTIONS = "fl.ask."
"""Subjects whose answers may be large."""

REPLIES = 4096
"""Questions whose connection is remembered."""


class NatsBus:
    """One machine's connection. It exists before there is a connection, and after it is lost."""

    def __init__(
        self,
        servers: Sequence[str],
        key: NodeKey,
        tls: ssl.SSLContext,
        *,
        name: str = "",
        member: str | None = None,
    ) -> None:
        """`member` is the machine's id in the server's configuration, if it is not that of the key."""
        for server in servers:
            check_address(server)
        self.id = member or key.id
        self._handlers: list[Callable[[bool], None]] = []
        self._was_connected = False
        self._main = self._link(servers, key, tls, name, PENDING)
        self._bulk = self._link(servers, key, tls, f"{name} bulk".strip(), BULK_PENDING)
        self._asked_by_bulk: dict[str, None] = {}

    def _link(
        self, servers: Sequence[str], key: NodeKey, tls: ssl.SSLContext, name: str, limit: int
    ) -> NatsLink:
        return NatsLink(
            servers,
            key,
            tls,
            inbox=f"_INBOX.{self.id}",
            name=name,
            pending_limit=limit,
            changed=self._link_changed,
        )

    def start(self) -> None:
        """Begin to connect, in the background."""
        self._main.start()
        self._bulk.start()

    async def wait_connected(self, timeout_s: float) -> bool:
        """Wait for the first connection; False if there is none in time."""
        ready = asyncio.Event()
        self.on_connected(lambda connected: ready.set() if connected else None)
        if self.connected:
            return True
        try:
            async with asyncio.timeout(timeout_s):
                await ready.wait()
        except TimeoutError:
            return False
        return True

    @property
    def connected(self) -> bool:
        return self._main.connected and self._bulk.connected

    @property
    def problem(self) -> str:
        """Why it is not connected, for people."""
        return self._main.problem or self._bulk.problem

    @property
    def resets(self) -> int:
        """How often a silent server was given up."""
        return self._main.resets + self._bulk.resets

    def on_connected(self, handler: Callable[[bool], None]) -> None:
        self._handlers.append(handler)

    async def publish(self, subject: str, payload: bytes) -> None:
        # NATS allows an answer only on the connection that got the question.
        if subject in self._asked_by_bulk:
            del self._asked_by_bulk[subject]
            await self._bulk.publish(subject, payload)
        else:
            await self._main.publish(subject, payload)

    async def request(self, subject: str, payload: bytes, timeout_s: float) -> bytes:
        link = self._bulk if len(payload) > LARGE else self._main
        return (await link.request(subject, payload, timeout_s)).data

    async def subscribe(self, subject: str, handler: Handler) -> LinkSubscription:
        is_bulk = subject.startswith(QUESTIONS)

        def take(message: NatsMessage) -> None:
            # A record that the server sends where another machine told it to (docs/decisions/0011).
            if message.headers is not None and "Nats-Stream" in message.headers:
                return
            if is_bulk and message.reply:
                self._remember(message.reply)
            handler(Message(message.subject, message.data, message.reply or None))

        link = self._bulk if is_bulk else self._main
        return await link.subscribe(subject, take)

    def bucket(self, name: str) -> NatsBucket:
        return NatsBucket(self._main, name)

    def stream(self, name: str) -> NatsStream:
        return NatsStream(self._bulk, name)

    async def close(self) -> None:
        await asyncio.gather(self._main.close(), self._bulk.close())

    def _remember(self, reply: str) -> None:
        self._asked_by_bulk[reply] = None
        if len(self._asked_by_bulk) > REPLIES:
            del self._asked_by_bulk[next(iter(self._asked_by_bulk))]

    def _link_changed(self) -> None:
        if self.connected != self._was_connected:
            self._was_connected = self.connected
            for handler in self._handlers:
                handler(self._was_connected)


def tls_context(authority: str | Path | None) -> ssl.SSLContext:
    """Accepts the servers of this authority (a PEM text or file), or of the system's list."""
    if isinstance(authority, Path):
        return ssl.create_default_context(cafile=str(authority))
    return ssl.create_default_context(cadata=authority)
