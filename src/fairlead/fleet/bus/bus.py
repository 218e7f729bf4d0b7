"""The bus between the machines of a fleet, as the rest of the fleet sees it.

Three things travel over it:

- *messages*, by subject, at most once: a message without a receiver is lost. Live changes, beats,
  requests and their answers are messages.
- *buckets* of keys with revisions, for what all machines must agree on: devices, leases, owners.
- *streams* of records, for copies of session logs.

No part of Fairlead may depend on a message that arrives, on the order of two messages, or on a record
that is still there tomorrow. `memory_bus` and `nats_bus` implement this protocol, and both pass the
tests in `tests/fleet/bus/contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from fairlead.errors import FairleadError

__all__ = [
    "Bucket",
    "Bus",
    "BusError",
    "BusUnavailable",
    "Conflict",
    "Entry",
    "Handler",
    "Message",
    "NoAnswer",
    "NoListener",
    "Record",
    "RecordStream",
    "Subscription",
]


class BusError(FairleadError):
    """The bus did not do what was asked."""


class BusUnavailable(BusError):
    """The bus is not connected, or has too much unsent data. Nothing was sent; try again later."""


class NoListener(BusError):
    """No machine listens to the subject of a request, so no answer will come."""


class NoAnswer(BusError):
    """A request was sent and not answered in time; it may have been carried out."""


class Conflict(BusError):
    """A key or a subject has another revision than the writer expected; nothing was written."""


class Message(Struct, frozen=True):
    """A message that arrived."""

    subject: str
    payload: bytes
    reply: str | None = None
    """The subject for an answer, if the sender waits for one."""


Handler = Callable[[Message], None]
"""Called in the event loop for each message of a subscription, in the order of arrival.

It must not block or raise; it starts a task for anything that takes time."""


class Subscription(Protocol):
    """Messages are handed to a handler until this is closed."""

    async def close(self) -> None:
        """Hand over no more messages."""


class Entry(Struct, frozen=True):
    """The value of a key in a bucket."""

    key: str
    value: bytes | None
    """None if the key was deleted; only listeners see that."""
    revision: int
    """Grows with each write to the bucket."""


class Bucket(Protocol):
    """Keys with revisions. A key consists of tokens of letters, digits, `-` and `_`, joined by dots."""

    async def get(self, key: str) -> Entry | None:
        """The present entry of a key."""

    async def entries(self, prefix: str = "") -> list[Entry]:
        """All present entries, or those whose key begins with these tokens, in no order."""

    async def put(self, key: str, value: bytes) -> int:
        """Write a key, whatever it has; its new revision."""

    async def create(self, key: str, value: bytes) -> int:
        """Write a key that does not exist; raises `Conflict` if it does."""

    async def update(self, key: str, value: bytes, revision: int) -> int:
        """Write a key that still has this revision; raises `Conflict` if it has another."""

    async def delete(self, key: str) -> None:
        """Delete a key, if it exists."""

    async def listen(self, handler: Callable[[Entry], None]) -> Subscription:
        """Have changes from now on handed to a handler. Like every message they may be lost, so
        read `entries` after this and again from time to time."""


class Record(Struct, frozen=True):
    """A record of a stream."""

    subject: str
    payload: bytes
    number: int
    """The position in the stream; grows, with gaps."""


class RecordStream(Protocol):
    """Records by subject, until the stream's limits discard the oldest."""

    async def append(self, subject: str, payload: bytes, *, after: int | None = None) -> int:
        """Append a record; its number.

        With `after`, only if the last record of this subject has that number (0: there is none);
        else it raises `Conflict`. So of two writers only one can continue a subject.
        """

    async def last(self, subject: str) -> Record | None:
        """The newest record of a subject."""

    async def read(self, subject: str, after: int = 0, count: int = 100) -> list[Record]:
        """The records of a subject after a number, oldest first, at most `count` of them."""


class Bus(Protocol):
    """One machine's connection to the bus."""

    @property
    def connected(self) -> bool:
        """Whether messages can be sent now, as far as is known."""

    def on_connected(self, handler: Callable[[bool], None]) -> None:
        """Have changes of `connected` handed to a handler. After a reconnection any message may be
        missing."""

    async def publish(self, subject: str, payload: bytes) -> None:
        """Send a message to all machines that listen. Raises `BusUnavailable`."""

    async def request(self, subject: str, payload: bytes, timeout_s: float) -> bytes:
        """Send a request and return the first answer.

        Raises `NoListener`, `NoAnswer` or `BusUnavailable`.
        """

    async def subscribe(self, subject: str, handler: Handler) -> Subscription:
        """Listen to a subject, which may contain `*` for one token and end with `>` for the rest."""

    def bucket(self, name: str) -> Bucket:
        """A bucket of this fleet."""

    def stream(self, name: str) -> RecordStream:
        """A stream of this fleet."""

    async def close(self) -> None:
        """Disconnect; waits at most a few seconds for unsent messages."""
