"""A bus within one process, for tests and for a gateway that serves its own machine.

All connections share a `MemoryBroker`. Messages are delivered by the event loop, one after another,
never within the call that sends them; so handlers run as they do with a real bus. A test can cut a
connection, and can lose, repeat or delay messages with `MemoryBroker.tamper`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator

from fairlead.fleet.bus.bus import (
    BusUnavailable,
    Conflict,
    Entry,
    Handler,
    Message,
    NoAnswer,
    NoListener,
    Record,
)
from fairlead.fleet.protocol.subjects import is_pattern, matches

__all__ = ["MemoryBroker", "MemoryBus"]

SUBJECTS = 4_096
"""Subjects whose subscriptions with wildcards are remembered."""

Tamper = Callable[[Message], list[Message]]


class MemoryBroker:
    """What all connections share: subscriptions, buckets and streams."""

    def __init__(self) -> None:
        self.tamper: Tamper | None = None
        """Turns each message into those that are delivered."""
        self._exact: dict[str, list[_MemorySubscription]] = {}
        """Subject -> the subscriptions to this subject alone: a followed session has one, and a
        request has one for its answer."""
        self._patterns: list[_MemorySubscription] = []
        """The subscriptions with wildcards, which are few."""
        self._matching: dict[str, list[_MemorySubscription]] = {}
        """Subject -> those of them that match; found again when one is added or removed."""
        self._buckets: dict[str, MemoryBucket] = {}
        self._streams: dict[str, MemoryStream] = {}
        self._inboxes = itertools.count(1)

    def connect(self) -> MemoryBus:
        """A new connection."""
        return MemoryBus(self)

    def bucket(self, name: str) -> MemoryBucket:
        """The bucket of this name, which all connections share."""
        return self._buckets.setdefault(name, MemoryBucket())

    def stream(self, name: str) -> MemoryStream:
        """The stream of this name, which all connections share."""
        return self._streams.setdefault(name, MemoryStream())

    def add(self, subscription: _MemorySubscription) -> None:
        """Deliver to this subscription from now on."""
        if is_pattern(subscription.pattern):
            self._patterns.append(subscription)
            self._matching.clear()
        else:
            self._exact.setdefault(subscription.pattern, []).append(subscription)

    def remove(self, subscription: _MemorySubscription) -> None:
        """Deliver nothing more to this subscription."""
        if subscription in self._patterns:
            self._patterns.remove(subscription)
            self._matching.clear()
        elif subscription in (same := self._exact.get(subscription.pattern, [])):
            same.remove(subscription)
            if not same:
                del self._exact[subscription.pattern]

    def _receivers(self, subject: str) -> Iterator[_MemorySubscription]:
        yield from self._exact.get(subject, ())
        matching = self._matching.get(subject)
        if matching is None:
            if len(self._matching) >= SUBJECTS:
                self._matching.clear()
            matching = [each for each in self._patterns if matches(each.pattern, subject)]
            self._matching[subject] = matching
        yield from matching

    def new_inbox(self) -> str:
        """A subject for the answer to one request."""
        return f"_INBOX.{next(self._inboxes)}"

    def has_listener(self, subject: str) -> bool:
        """Whether a message would reach a connection."""
        return any(each.is_open for each in self._receivers(subject))

    def deliver(self, message: Message) -> None:
        """Hand a message to every subscription that matches, when the event loop is next free."""
        messages = [message] if self.tamper is None else self.tamper(message)
        call_soon = asyncio.get_running_loop().call_soon
        for each in messages:
            for subscription in self._receivers(each.subject):
                if subscription.is_open:
                    call_soon(subscription.hand_over, each)

    def hand_over(self, message: Message) -> None:
        """Hand a message of another process to every subscription that matches, at once.

        That process sent it some time ago, so no handler runs within the call that sends. It saves
        a step of the event loop for each message.
        """
        if self.tamper is not None:
            self.deliver(message)
            return
        for subscription in tuple(self._receivers(message.subject)):
            try:
                subscription.hand_over(message)
            except Exception as problem:  # noqa: BLE001 - as the event loop does.
                context = {
                    "message": f"A handler of {message.subject} failed.",
                    "exception": problem,
                }
                asyncio.get_running_loop().call_exception_handler(context)


class _MemorySubscription:
    """Hands messages of one connection to a handler."""

    def __init__(
        self, bus: MemoryBus, broker: MemoryBroker, pattern: str, handler: Handler
    ) -> None:
        self._bus = bus
        self._broker = broker
        self.pattern = pattern
        self._handler = handler
        self._open = True

    @property
    def is_open(self) -> bool:
        """Whether messages can arrive now."""
        return self._open and self._bus.connected

    def hand_over(self, message: Message) -> None:
        if self.is_open:
            self._handler(message)

    async def close(self) -> None:
        self._open = False
        self._broker.remove(self)


class MemoryBus:
    """One connection; see `Bus`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self._connected = True
        self._handlers: list[Callable[[bool], None]] = []

    @property
    def connected(self) -> bool:
        return self._connected

    def on_connected(self, handler: Callable[[bool], None]) -> None:
        self._handlers.append(handler)

    def cut(self) -> None:
        """Lose the connection, as a broken network does."""
        self._set_connected(False)

    def heal(self) -> None:
        """Connect again; what was sent meanwhile is lost."""
        self._set_connected(True)

    async def publish(self, subject: str, payload: bytes) -> None:
        self._check()
        self._broker.deliver(Message(subject, payload))

    async def request(self, subject: str, payload: bytes, timeout_s: float) -> bytes:
        self._check()
        if not self._broker.has_listener(subject):
            raise NoListener(f"No machine listens to {subject}.")
        inbox = self._broker.new_inbox()
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def take(message: Message) -> None:
            if not answer.done():
                answer.set_result(message.payload)

        subscription = await self.subscribe(inbox, take)
        try:
            self._broker.deliver(Message(subject, payload, inbox))
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise NoAnswer(f"No answer to {subject} within {timeout_s:g} s.") from None
        finally:
            await subscription.close()

    async def subscribe(self, subject: str, handler: Handler) -> _MemorySubscription:
        subscription = _MemorySubscription(self, self._broker, subject, handler)
        self._broker.add(subscription)
        return subscription

    def bucket(self, name: str) -> _ConnectedBucket:
        return _ConnectedBucket(self, self._broker.bucket(name))

    def stream(self, name: str) -> _ConnectedStream:
        return _ConnectedStream(self, self._broker.stream(name))

    async def close(self) -> None:
        self._set_connected(False)

    def check_connected(self) -> None:
        """Raise `BusUnavailable` without a connection."""
        self._check()

    def _check(self) -> None:
        if not self._connected:
            raise BusUnavailable("The bus is not connected.")

    def _set_connected(self, connected: bool) -> None:
        if connected != self._connected:
            self._connected = connected
            for handler in self._handlers:
                handler(connected)


class MemoryBucket:
    """The keys of a bucket."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.listeners: list[tuple[MemoryBus, Callable[[Entry], None]]] = []
        self._revision = 0

    def write(self, key: str, value: bytes | None) -> int:
        """Set or delete a key, and tell the listeners."""
        self._revision += 1
        entry = Entry(key, value, self._revision)
        if value is None:
            self.entries.pop(key, None)
        else:
            self.entries[key] = entry
        for bus, handler in self.listeners:
            if bus.connected:
                asyncio.get_running_loop().call_soon(handler, entry)
        return self._revision


class _ConnectedBucket:
    """A bucket as one connection uses it; see `Bucket`."""

    def __init__(self, bus: MemoryBus, bucket: MemoryBucket) -> None:
        self._bus = bus
        self._bucket = bucket

    async def get(self, key: str) -> Entry | None:
        self._bus.check_connected()
        return self._bucket.entries.get(key)

    async def entries(self, prefix: str = "") -> list[Entry]:
        self._bus.check_connected()
        pattern = f"{prefix}.>" if prefix else ">"
        return [entry for key, entry in self._bucket.entries.items() if matches(pattern, key)]

    async def put(self, key: str, value: bytes) -> int:
        self._bus.check_connected()
        return self._bucket.write(key, value)

    async def create(self, key: str, value: bytes) -> int:
        self._bus.check_connected()
        if key in self._bucket.entries:
            raise Conflict(f"The key {key} exists.")
        return self._bucket.write(key, value)

    async def update(self, key: str, value: bytes, revision: int) -> int:
        self._bus.check_connected()
        entry = self._bucket.entries.get(key)
        if entry is None or entry.revision != revision:
            raise Conflict(f"The key {key} was written by another machine.")
        return self._bucket.write(key, value)

    async def delete(self, key: str) -> None:
        self._bus.check_connected()
        if key in self._bucket.entries:
            self._bucket.write(key, None)

    async def listen(self, handler: Callable[[Entry], None]) -> _BucketSubscription:
        self._bus.check_connected()
        listener = (self._bus, handler)
        self._bucket.listeners.append(listener)
        return _BucketSubscription(self._bucket, listener)


class _BucketSubscription:
    """Hands changes of a bucket to a handler."""

    def __init__(
        self, bucket: MemoryBucket, listener: tuple[MemoryBus, Callable[[Entry], None]]
    ) -> None:
        self._bucket = bucket
        self._listener = listener

    async def close(self) -> None:
        if self._listener in self._bucket.listeners:
            self._bucket.listeners.remove(self._listener)


class MemoryStream:
    """The records of a stream."""

    def __init__(self) -> None:
        self.records: list[Record] = []


class _ConnectedStream:
    """A stream as one connection uses it; see `RecordStream`."""

    def __init__(self, bus: MemoryBus, stream: MemoryStream) -> None:
        self._bus = bus
        self._records = stream.records

    async def append(self, subject: str, payload: bytes, *, after: int | None = None) -> int:
        last = await self.last(subject)
        if after is not None and after != (0 if last is None else last.number):
            raise Conflict(f"Another machine has written to {subject}.")
        number = self._records[-1].number + 1 if self._records else 1
        self._records.append(Record(subject, payload, number))
        return number

    async def last(self, subject: str) -> Record | None:
        self._bus.check_connected()
        return next((each for each in reversed(self._records) if each.subject == subject), None)

    async def read(self, subject: str, after: int = 0, count: int = 100) -> list[Record]:
        self._bus.check_connected()
        later = (each for each in self._records if each.subject == subject and each.number > after)
        return list(itertools.islice(later, count))
