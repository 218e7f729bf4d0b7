"""One connection to a NATS server, reopened whenever it is lost.

nats-py reconnects by itself, but gives up after 60 attempts, sends what was queued meanwhile as if
nothing had happened, and does not notice a server that hangs while its buffers are full. So each
connection here is a new client that never reconnects. When it ends, or when the server does not answer
a ping for `SILENT_S`, the link opens the next connection and subscribes again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
import ssl
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError, UnexpectedEOF

from fairlead.fleet.bus.bus import BusError, BusUnavailable, NoAnswer, NoListener
from fairlead.fleet.bus.nats_transport import BusTransport, transport_for
from fairlead.fleet.bus.nkey import NodeKey

__all__ = ["LinkSubscription", "NatsLink"]

log = logging.getLogger("fairlead")

CONNECT_S = 5.0
SILENT_S = 5.0
PING_S = 1.0
FLUSH_S = 3.0
ROOM_S = 0.1
"""How long a message may wait until enough of those before it has been sent."""

CANCEL_AGAIN_S = 0.1

NEVER_S = 3600
"""Longer than a connection to a silent server lasts."""

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
"""Between two attempts to connect: a fleet must be whole again within two seconds of its server."""

STEADY_S = 1.0
"""A connection that lasted this long was a good one; after it the pauses begin again."""

STATUS = "Status"
NO_RESPONDERS = "503"

RawHandler = Callable[[Msg], None]


class LinkSubscription:
    """A subscription that outlives the connections."""

    def __init__(self, link: NatsLink, subject: str, handler: RawHandler) -> None:
        self.subject = subject
        self._link = link
        self._handler = handler
        self.current: ClientSubscription | None = None
        self.client: Client | None = None
        """The connection that `current` belongs to, which may have ended."""

    async def deliver(self, message: Msg) -> None:
        """Hand a message over, unless this was closed."""
        if self in self._link.subscriptions:
            self._handler(message)

    async def close(self) -> None:
        """Hand over no more messages."""
        self._link.subscriptions.pop(self, None)
        if self.current is not None:
            with contextlib.suppress(NatsError, OSError, TimeoutError):
                async with asyncio.timeout(FLUSH_S):
                    await self.current.unsubscribe()


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
        self._requests: dict[str, Callable[[Msg | None], None]] = {}
        self._client: Client | None = None
        self._transport: BusTransport | None = None
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._connected_at: float | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._round_trips: dict[asyncio.Task[None], Client] = {}
        self.problem = "no server has answered yet"
        """Why there is no connection, for people."""
        self.resets = 0
        """How often a silent server was given up."""

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._client is not None

    def start(self) -> None:
        """Begin to connect."""
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Disconnect, after what was published has been sent, if that is quick."""
        self._closing = True
        if self._client is not None:
            with contextlib.suppress(NatsError, OSError, TimeoutError):
                async with asyncio.timeout(FLUSH_S):
                    await self._client.flush()
        # Again and again: nats-py and `asyncio.wait_for` of Python 3.11 lose a cancellation that
        # comes while they connect, and the connection would then be watched forever.
        while self._running is not None and not self._running.done():
            self._running.cancel()
            await asyncio.wait([self._running], timeout=CANCEL_AGAIN_S)
        if self._endings:
            await asyncio.wait(self._endings)

    async def publish(
        self, subject: str, payload: bytes, reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        """Send a message; raises `BusUnavailable` if too much is unsent."""
        client = self._client
        if client is None:
            raise BusUnavailable(f"The bus is not connected: {self.problem}.")
        if self._is_full(len(payload)):
            await self._wait_for_room(len(payload))
        try:
            await client.publish(subject, payload, reply=reply, headers=headers)
        except MaxPayloadError:
            raise BusError(f"{len(payload)} bytes are too many for one message.") from None
        except (NatsError, OSError) as problem:
            raise BusUnavailable(f"The bus is not connected: {problem}.") from problem

    def _is_full(self, size: int) -> bool:
        if self._client is None or self._transport is None:
            raise BusUnavailable(f"The bus is not connected: {self.problem}.")
        unsent = self._client.pending_data_size + self._transport.buffered
        return unsent > 0 and unsent + size > self._pending_limit

    async def _wait_for_room(self, size: int) -> None:
        """nats-py sends in a task of its own, so a little patience is needed even on a fast line."""
        deadline = time.monotonic() + ROOM_S
        while self._is_full(size):
            if time.monotonic() > deadline:
                raise BusUnavailable(
                    "The bus accepts no more data now, because too much is unsent."
                )
            await asyncio.sleep(ROOM_S / 50)

    async def subscribe(self, subject: str, handler: RawHandler) -> LinkSubscription:
        """Listen to a subject, now and after every reconnection."""
        subscription = LinkSubscription(self, subject, handler)
        self.subscriptions[subscription] = None
        if self._client is not None:
            # Until the server has it, so that nothing that is sent after this is missed. A silent
            # server is given up meanwhile.
            try:
                async with asyncio.timeout(2 * SILENT_S):
                    await self._attach(self._client, subscription)
                    await self._round_trip(self._client)
            except (NatsError, OSError, TimeoutError):
                pass
            except asyncio.CancelledError:
                self._end_later(subscription.close())
                raise
        return subscription

    async def _round_trip(self, client: Client) -> None:
        """Wait until the server has everything that was sent.

        The question is never given up while the connection lasts: nats-py stops reading when an
        answer arrives for which nobody waits any more (N53).
        """
        asking = asyncio.create_task(client.flush(timeout=NEVER_S))
        self._round_trips[asking] = client
        asking.add_done_callback(self._round_trip_ended)
        try:
            await asyncio.shield(asking)
        except asyncio.CancelledError:
            if asking.cancelled():
                raise ConnectionError("the connection was lost") from None
            raise

    def _round_trip_ended(self, asking: asyncio.Task[None]) -> None:
        self._round_trips.pop(asking, None)
        if not asking.cancelled():
            asking.exception()  # A caller that still waited has got it.

    def _end_later(self, ending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(ending)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def request(
        self,
        subject: str,
        payload: bytes,
        timeout_s: float,
        headers: dict[str, str] | None = None,
    ) -> Msg:
        """Send a request; the first answer."""
        return (await self.request_many(subject, payload, timeout_s, lambda _: True, headers))[0]

    async def request_many(
        self,
        subject: str,
        payload: bytes,
        timeout_s: float,
        is_last: Callable[[Msg], bool],
        headers: dict[str, str] | None = None,
    ) -> list[Msg]:
        """Send a request; the answers up to the last one.

        The subject of the answers cannot be guessed by another machine.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        answers: list[Msg] = []

        def take(message: Msg | None) -> None:
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
        while not self._closing:
            place = (place + 1) % len(self._servers)
            self._connected_at = None
            try:
                await self._connect_once(self._servers[place])
            except Exception as problem:  # noqa: BLE001 - whatever nats-py raises, try again.
                self._note(self._servers[place], problem)
            if self._connected_at is not None and time.monotonic() - self._connected_at > STEADY_S:
                pause = FIRST_PAUSE_S
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.6, LONGEST_PAUSE_S)

    async def _connect_once(self, address: str) -> None:
        """Connect and stay connected until that ends."""
        ended = asyncio.Event()
        transport = transport_for(address, self._tls)
        client = Client()

        async def on_closed() -> None:
            ended.set()

        try:
            async with asyncio.timeout(CONNECT_S):
                await transport.open()
        except BaseException:
            transport.abort()
            raise
        try:
            async with asyncio.timeout(CONNECT_S):
                # nats-py has no public way for these two; it is pinned to one minor version.
                client._transport = transport
                client._public_nkey = self._key.public
                await client.connect(
                    servers=[_plain(address)],
                    allow_reconnect=False,
                    signature_cb=self._key.sign,
                    closed_cb=on_closed,
                    disconnected_cb=None,
                    error_cb=self._on_error,
                    name=self._name,
                    ping_interval=86_400,  # `_watch` pings.
                    pending_size=4 * self._pending_limit,
                )
                if not client.is_connected:
                    raise ConnectionError("the server did not answer as expected")
                await client.subscribe(f"{self._inbox}.*", cb=self._on_answer)
                await self._attach_all(client)
            self._client, self._transport, self.problem = client, transport, ""
            self._connected_at = time.monotonic()
            self._changed()
            await self._watch(client, transport, ended)
        finally:
            self._let_go(client, transport)

    async def _attach_all(self, client: Client) -> None:
        """Subscribe to everything, also to what is added meanwhile: until the client is the present
        one, `subscribe` leaves that to this. Nothing may be awaited after the last look."""
        await client.flush()
        while missing := [each for each in self.subscriptions if each.client is not client]:
            for subscription in missing:
                await self._attach(client, subscription)
            await client.flush()

    async def _watch(self, client: Client, transport: BusTransport, ended: asyncio.Event) -> None:
        """Return when the connection has ended, or when the server is silent."""
        waiting = asyncio.create_task(ended.wait())
        pinging: asyncio.Task[None] | None = None
        looked = alive = time.monotonic()
        buffered = 0
        try:
            while not ended.is_set():
                await asyncio.wait([waiting], timeout=PING_S)
                now = time.monotonic()
                if client._reading_task is None or client._reading_task.done():
                    # nats-py then answers its own pings, so this would never be noticed.
                    raise ConnectionError("the connection is no longer read")
                # While this process was paused or had no CPU time, it could not read an answer.
                alive += max(0.0, now - looked - 2 * PING_S)
                looked = now
                if pinging is None or (pinging.done() and pinging.exception() is None):
                    alive = now
                    pinging = asyncio.create_task(client.flush(timeout=NEVER_S))
                elif pinging.done():
                    return
                # A thin line is not a dead one: unsent data that becomes less is a sign of life.
                # With an empty buffer it is none, since the system takes small writes anyway.
                if transport.buffered < buffered:
                    alive = now
                buffered = transport.buffered
                if now - alive > SILENT_S:
                    self.resets += 1
                    raise ConnectionError(f"the server was silent for {SILENT_S:g} s")
        finally:
            waiting.cancel()
            if pinging is not None:
                pinging.cancel()
                await asyncio.wait([pinging])
                if not pinging.cancelled():
                    pinging.exception()

    def _let_go(self, client: Client, transport: BusTransport) -> None:
        was_connected = self._client is client
        if was_connected:
            self._client = self._transport = None
        transport.abort()
        for asking in [each for each, of in self._round_trips.items() if of is client]:
            asking.cancel()
        for subscription in self.subscriptions:
            subscription.current = None
        if was_connected:
            for take in list(self._requests.values()):
                take(None)
            self._changed()
        # nats-py may need seconds to end a client; the next connection does not wait for that.
        self._end_later(self._end(client))

    async def _end(self, client: Client) -> None:
        try:
            async with asyncio.timeout(FLUSH_S):
                await client.close()
        except Exception as problem:  # noqa: BLE001 - it is gone in any case.
            log.debug("bus: a connection did not close cleanly: %r", problem)

    async def _attach(self, client: Client, subscription: LinkSubscription) -> None:
        subscription.client = client
        subscription.current = await client.subscribe(subscription.subject, cb=subscription.deliver)

    async def _on_answer(self, message: Msg) -> None:
        take = self._requests.get(message.subject.rpartition(".")[2])
        if take is not None:
            take(message)

    async def _on_error(self, problem: Exception) -> None:
        """A permission that is missing, or a handler that is too slow. `_note` logs the rest."""
        level = logging.DEBUG if isinstance(problem, UnexpectedEOF | OSError) else logging.WARNING
        log.log(level, "bus: %s", problem)

    def _note(self, address: str, problem: Exception) -> None:
        words = str(problem).removeprefix("nats: ") or type(problem).__name__
        if isinstance(problem, TimeoutError):
            words = "it does not answer"
        text = f"{address}: {words}"
        if text != self.problem:
            log.warning("no connection to the bus at %s", text)
        self.problem = text


def _has_no_listener(message: Msg) -> bool:
    headers = message.headers
    return headers is not None and not message.data and headers.get(STATUS) == NO_RESPONDERS


def _plain(address: str) -> str:
    """The address as nats-py should see it; the transport is open, so it only looks at the host."""
    return "nats://" + address.partition("://")[2].partition("/")[0]
