"""Reads the copy of a session's log from the bus, as if it were the log of its node.

The copy may begin later than the log (the stream discards its oldest records) and end earlier (the
last second is missing). Records may repeat events, or belong to an older database of the node.
`ReplicaLog` yields one gapless run of events: those of the newest epoch and generation, beginning
with the oldest event that can still be followed to the end.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from msgspec import Struct

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.log_batch import LogBatch, UnreadableBatch, decode_batch
from fairlead.store.log import Event, StoredSnapshot, StoreUnavailable

__all__ = ["CopiedLog", "CopyReader", "Replica", "ReplicaLog", "StreamCopies", "best_copy"]

log = logging.getLogger("fairlead.fleet")

RECORDS_AT_ONCE = 20
"""Records in one read of the stream: at most about 5 MB of lines."""


class Replica:
    """The copy of one session's log, read once."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.epoch = ""
        self.generation = 0
        self.first = 0
        """The number before the first event; more than 0 if older events are no longer there."""
        self.deleted = False

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.events[-1].seq if self.events else self.first

    def take(self, batch: LogBatch) -> None:
        """Add the next batch of the stream."""
        newer = batch.generation > self.generation
        if batch.generation < self.generation:
            return  # Its writer had lost the session when it wrote this.
        if batch.deleted or (batch.epoch != self.epoch and not newer) or batch.after > self.last:
            self.events, self.first = [], batch.after
        self.epoch, self.generation = batch.epoch, batch.generation
        self.deleted = batch.deleted
        if newer:  # The adopter continues from what it knew; later events were never seen by it.
            self.events = [event for event in self.events if event.seq <= batch.after]
        last = self.last
        self.events += [event for event in batch.events if event.seq > last]


class CopiedLog(Struct, frozen=True, kw_only=True):
    """A copy of a session's log, as a whole."""

    events: list[Event]
    generation: int
    first: int
    """The number before the first event; more than 0 if older events are lost."""
    epoch: str = ""

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.events[-1].seq if self.events else self.first


class CopyReader(Protocol):
    """Has copies of logs: the stream on the bus, or an archive."""

    async def copied(self, node: str, session: str) -> CopiedLog | None:
        """The copy of a session's log; None if there is none."""


async def best_copy(readers: Sequence[CopyReader], node: str, session: str) -> CopiedLog | None:
    """The copy that ends last; of several, the one that begins first."""
    best: CopiedLog | None = None
    for reader in readers:
        try:
            copy = await reader.copied(node, session)
        except (BusError, ValueError, StoreUnavailable) as problem:
            log.warning("a copy of session %s cannot be read: %s", session, problem)
            continue
        if copy is not None and (best is None or _rank(copy) > _rank(best)):
            best = copy
    return best


def _rank(copy: CopiedLog) -> tuple[int, int, int]:
    return copy.generation, copy.last, -copy.first


class StreamCopies:
    """The copies in the stream on the bus, for `Adoption`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def copied(self, node: str, session: str) -> CopiedLog | None:
        """The copy of a session's log; None if there is none."""
        replica = await ReplicaLog(self._bus, node).load(session)
        if replica.deleted or not replica.events:
            return None
        return CopiedLog(
            events=replica.events,
            generation=replica.generation,
            first=replica.first,
            epoch=replica.epoch,
        )


class ReplicaLog:
    """The copies of the logs of one node, as an `EventReader`."""

    def __init__(self, bus: Bus, node: str) -> None:
        self._stream = bus.stream(subjects.LOG_STREAM)
        self._node = node
        self._replicas: dict[str, Replica] = {}

    async def load(self, session: str) -> Replica:
        """Read the copy of a session; `read` then returns its events."""
        replica = Replica()
        async for batch in self._batches(session):
            replica.take(batch)
        self._replicas[session] = replica
        return replica

    def forget(self, session: str) -> None:
        """Free the memory of a copy."""
        self._replicas.pop(session, None)

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""
        replica = self._replicas.get(session) or await self.load(session)
        start = max(0, after - replica.first)
        return replica.events[start : start + limit]

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""
        replica = self._replicas.get(session) or await self.load(session)
        return replica.last

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """There are no checkpoints in the stream."""
        return None

    async def _batches(self, session: str) -> AsyncIterator[LogBatch]:
        subject, after = subjects.log(self._node, session), 0
        while records := await self._stream.read(subject, after, RECORDS_AT_ONCE):
            after = records[-1].number
            for record in records:
                try:
                    yield decode_batch(record.payload)
                except UnreadableBatch as problem:
                    log.warning("record %d of %s is ignored: %s", record.number, subject, problem)
