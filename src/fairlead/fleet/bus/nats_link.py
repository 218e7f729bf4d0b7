"""One connection to a NATS server, reopened whenever it is lost.

When a connection ends, or when the server sends nothing for `SILENT_S`, the link opens the next one
and subscribes again. It tries without end; nothing is queued meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
import ssl
import time
from collections.abc import Callable, Sequence

from fairlead.fleet.bus.bus import BusError, BusUnavailable, NoAnswer, NoListener
from fairlead.fleet.bus.nats_connection import MessageHandler, NatsConnection
from fairlead.fleet.bus.nats_protocol import STATUS, NatsMessage
from fairlead.fleet.bus.nats_transport import transport_for
from fairlead.fleet.bus.nkey import NodeKey

__all__ = ["KEY_REFUSED", "LinkSubscription", "NatsLink"]

log = logging.getLogger("fairlead")

CONNECT_S = 5.0
FIRST_CONNECT_S = 1.0
"""How long each of several servers is waited for in the first round: one of them may be on a machine
that was switched off and answers nothing. Later rounds wait longer, for slow networks."""

SILENT_S = 5.0
PING_S = 1.0
LAST_S = 3.0
"""How long what was published may take to be sent when the link is closed."""

ROOM_S = 0.1
"""How long a message may wait until enough of those before it has been sent."""

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
"""Between two attempts to connect: a fleet must be whole again within two seconds of its server."""

STEADY_S = 1.0
"""A connection that lasted this long was a good one; after it the pauses begin again."""

NO_RESPONDERS = "503"

KEY_REFUSED = "Authorization Violation"
WHY_REFUSED = (
    "the bus does not accept the key of this machine, because the machine was removed from the fleet or "
    "the servers of the bus have not read the list of machines yet"
)


class LinkSubscription:
    """A subscription that outlives the connections."""

    def __init__(self, link: NatsLink, subject: str, handler: MessageHandler) -> None:
        self.subject = subject
        self._link = link
        self._handler = handler
        self.connection: NatsConnection | None = None
        """The connection that it was last made on, which may have ended."""
        self._number = 0

    def attach(self, connection: NatsConnection) -> None:
        """Listen on a connection."""
        self.connection = connection
        self._number = connection.subscribe(self.subject, self._handler)

    def end(self) -> None:
        """Hand over no more messages."""
        self._link.subscriptions.pop(self, None)
        if self.connection is not None:
            self.connection.unsubscribe(self._number)

    async def close(self) -> None:
        self.end()


class NatsLink:
    """The connection. `start` returns at once; without a server it keeps trying."""

    def __init__(
        self,
        servers: Sequence[str],
        key: NodeKey,
        tls: ssl.SSLContext,
        *,
        inbox: str,
        name: str,
        pending_limit: int,
        changed: Callable[[], None],
    ) -> None:
        self._servers = list(servers)
        self._key = key
        self._tls = tls
        self._inbox = f"{inbox}.{secrets.token_hex(8)}"
        self._name = name
        self._pending_limit = pending_limit
        self._changed = changed
        self.subscriptions: dict[LinkSubscription, None] = {}
        self._requests: dict[str, Callable[[NatsMessage | None], None]] = {}
        self._connection: NatsConnection | None = None
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._connected_at: float | None = None
        self.problem = "no server has answered yet"
        """Why there is no connection, for people."""
        self.resets = 0
        """How often a silent server was given up."""

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    def start(self) -> None:
        """Begin to connect."""
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Disconnect, after what was published has been sent, if that is quick."""
        self._closing = True
        if self._connection is not None:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(LAST_S):
                    await self._connection.round_trip()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def publish(
        self, subject: str, payload: bytes, reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        """Send a message; raises `BusUnavailable` if too much is unsent."""
        connection = self._present()
        if _is_full(connection, len(payload), self._pending_limit):
            connection = await self._with_room(len(payload))
        try:
            connection.publish(subject, payload, reply, headers)
        except ValueError as problem:
            raise BusError(f"{problem}.") from None

    async def round_trip(self) -> None:
        """Wait until the server has everything that was sent."""
        try:
            await self._present().round_trip()
        except OSError as problem:
            raise BusUnavailable(f"The bus is not connected: {problem}.") from None

    def _present(self) -> NatsConnection:
        if self._connection is None:
            raise BusUnavailable(f"The bus is not connected: {self.problem}.")
        return self._connection

    async def _with_room(self, size: int) -> NatsConnection:
        """The connection when it has room; a fast line needs only a moment for what was sent."""
        deadline = time.monotonic() + ROOM_S
        while _is_full(connection := self._present(), size, self._pending_limit):
            if time.monotonic() > deadline:
                raise BusUnavailable(
                    "The bus accepts no more data now, because too much is unsent."
                )
            await asyncio.sleep(ROOM_S / 50)
        return connection

    async def subscribe(self, subject: str, handler: MessageHandler) -> LinkSubscription:
        """Listen to a subject, now and after every reconnection."""
        subscription = LinkSubscription(self, subject, handler)
        self.subscriptions[subscription] = None
        connection = self._connection
        if connection is not None:
            subscription.attach(connection)
            # Until the server has it, so that nothing that is sent after this is missed. A silent
            # server is given up meanwhile.
            try:
                async with asyncio.timeout(2 * SILENT_S):
                    await connection.round_trip()
            except (OSError, TimeoutError):
                pass
            except asyncio.CancelledError:
                subscription.end()
                raise
        return subscription

    async def request(
        self,
        subject: str,
        payload: bytes,
        timeout_s: float,
        headers: dict[str, str] | None = None,
    ) -> NatsMessage:
        """Send a request; the first answer."""
        return (await self.request_many(subject, payload, timeout_s, lambda _: True, headers))[0]

    async def request_many(
        self,
        subject: str,
        payload: bytes,
        timeout_s: float,
        is_last: Callable[[NatsMessage], bool],
        headers: dict[str, str] | None = None,
    ) -> list[NatsMessage]:
        """Send a request; the answers up to the last one.

        The subject of the answers cannot be guessed by another machine.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        answers: list[NatsMessage] = []

        def take(message: NatsMessage | None) -> None:
            if done.done():
                return
            if message is None:
                done.set_exception(
                    NoAnswer(f"The connection was lost before {subject} was answered.")
                )
                return
            answers.append(message)
            if is_last(message) or _has_no_listener(message):
                done.set_result(None)

        token = secrets.token_urlsafe(16)
        self._requests[token] = take
        try:
            await self.publish(subject, payload, f"{self._inbox}.{token}", headers)
            async with asyncio.timeout(timeout_s):
                await done
        except TimeoutError:
            raise NoAnswer(f"No answer to {subject} within {timeout_s:g} s.") from None
        finally:
            self._requests.pop(token, None)
            done.cancel()
        if _has_no_listener(answers[-1]):
            raise NoListener(f"No machine listens to {subject}.")
        return answers

    async def _run(self) -> None:
        pause, place = FIRST_PAUSE_S, random.randrange(len(self._servers))
        failures = 0
        while not self._closing:
            place = (place + 1) % len(self._servers)
            self._connected_at = None
            is_first_round = failures < len(self._servers) and len(self._servers) > 1
            try:
                await self._connect_once(
                    self._servers[place], FIRST_CONNECT_S if is_first_round else CONNECT_S
                )
            except Exception as problem:  # noqa: BLE001 - whatever it is, try again.
                self._note(self._servers[place], problem)
            failures = failures + 1 if self._connected_at is None else 0
            if self._connected_at is not None and time.monotonic() - self._connected_at > STEADY_S:
                pause = FIRST_PAUSE_S
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.6, LONGEST_PAUSE_S)

    async def _connect_once(self, address: str, within_s: float) -> None:
        """Connect and stay connected until that ends."""
        connection = NatsConnection(transport_for(address, self._tls), self._key, self._name)
        try:
            async with asyncio.timeout(within_s):
                await connection.open()
            async with asyncio.timeout(CONNECT_S):
                connection.subscribe(f"{self._inbox}.*", self._on_answer)
                await self._attach_all(connection)
            self._connection, self.problem = connection, ""
            self._connected_at = time.monotonic()
            self._changed()
            await self._watch(connection)
        finally:
            self._let_go(connection)

    async def _attach_all(self, connection: NatsConnection) -> None:
        """Subscribe to everything, also to what is added meanwhile: until the connection is the
        present one, `subscribe` leaves that to this. Nothing may be awaited after the last look."""
        await connection.round_trip()
        while missing := [each for each in self.subscriptions if each.connection is not connection]:
            for subscription in missing:
                subscription.attach(connection)
            await connection.round_trip()

    async def _watch(self, connection: NatsConnection) -> None:
        """Return when the connection has ended; raise if the server is silent."""
        looked = alive = time.monotonic()
        unsent = 0
        while not connection.ended.is_set():
            connection.ping()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_S):
                    await connection.ended.wait()
            now = time.monotonic()
            # While this process was paused or had no CPU time, it could not read an answer.
            alive += max(0.0, now - looked - 2 * PING_S)
            looked = now
            # A thin line is not a dead one: unsent data that becomes less is a sign of life.
            # With an empty buffer it is none, since the system takes small writes anyway.
            alive = max(alive, now if connection.unsent < unsent else connection.heard_at)
            unsent = connection.unsent
            if now - alive > SILENT_S:
                self.resets += 1
                raise ConnectionError(f"the server was silent for {SILENT_S:g} s")
        raise ConnectionError(connection.problem)

    def _let_go(self, connection: NatsConnection) -> None:
        was_connected = self._connection is connection
        if was_connected:
            self._connection = None
        connection.abort()
        if was_connected:
            for take in list(self._requests.values()):
                take(None)
            self._changed()

    def _on_answer(self, message: NatsMessage) -> None:
        take = self._requests.get(message.subject.rpartition(".")[2])
        if take is not None:
            take(message)

    def _note(self, address: str, problem: Exception) -> None:
        words = str(problem) or type(problem).__name__
        if isinstance(problem, TimeoutError):
            words = "it does not answer"
        if words == KEY_REFUSED:
            words = f"{words}: {WHY_REFUSED}"
        text = f"{address}: {words}"
        if text != self.problem:
            log.warning("no connection to the bus at %s", text)
        self.problem = text


def _is_full(connection: NatsConnection, size: int, limit: int) -> bool:
    unsent = connection.unsent
    return unsent > 0 and unsent + size > limit


def _has_no_listener(message: NatsMessage) -> bool:
    headers = message.headers
    return headers is not None and not message.data and headers.get(STATUS) == NO_RESPONDERS
