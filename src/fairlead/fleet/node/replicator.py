"""Copies the logs of a node's sessions to the bus, so that they can be read while the node is away.

Theory of operation
===================

The node's database is the truth; the stream on the bus is a bounded copy that may lag behind or lose
its oldest records. So the replicator keeps no state of its own. For each session it derives what to
send from two numbers: the last event in the database, and the last event in the newest record of the
session's subject. Everything between them is sent, in batches of about `BATCH_BYTES`.

- *Pace.* A batch is sent `DELAY_S` after the first event that it contains, or at once when enough
  events have accumulated. A lost disk costs about a second of log.
- *Uncertain appends.* If the bus does not confirm an append, it may have been stored. The
  replicator then reads the newest record again before it continues, so nothing is stored twice.
- *Fencing.* Each append names the record that it continues (`RecordStream.append(after=)`). If another
  machine has adopted the session, it has appended a record of a higher generation, and this
  node's append fails with `Conflict`. The newest record then tells who writes: with a higher
  generation, `on_fenced` is called and the session is never sent again.
- *Consent.* Raw lines contain what the CLI read, including secrets. `may_leave` decides for each
  session whether its log may leave the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from fairlead.fleet.bus.bus import BusError, Conflict, Record, RecordStream
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.log_batch import LogBatch, UnreadableBatch, decode_batch, encode_batch
from fairlead.store.log import Event, StoreUnavailable

__all__ = ["Replicator", "SessionLog"]

log = logging.getLogger("fairlead.fleet")

DELAY_S = 1.0
"""How long a new event may wait for others."""

BATCH_BYTES = 256 * 1024
"""About the most bytes of the lines of one batch; a longer line is a batch of its own."""

READ_AT_ONCE = 500
"""Events in one read of the database."""

RETRY_S = 2.0
"""The delay before a retry after the bus or the database failed."""


class SessionLog(Protocol):
    """The part of the store that is copied."""

    @property
    def epoch(self) -> str:
        """The epoch of the database."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""


class _Progress:
    """How far the copy of one session has come."""

    def __init__(self) -> None:
        self.known = False
        """Whether the newest record was read since the last failure."""
        self.record = 0
        """The number of the newest record in the stream; 0 if there is none."""
        self.seq = 0
        """The last event that is in the stream."""
        self.deleted = False
        self.fenced = False
        self.bytes = 0
        """About the bytes of events that were noted and not sent."""


class Replicator:
    """The task that copies logs; one for each node."""

    def __init__(
        self,
        store: SessionLog,
        stream: RecordStream,
        node: str,
        *,
        may_leave: Callable[[str], bool],
        on_fenced: Callable[[str, int], None],
        generation: Callable[[str], int] = lambda session: 0,
        delay_s: float = DELAY_S,
        retry_s: float = RETRY_S,
    ) -> None:
        """`stream` is `LOG_STREAM`, `generation` is how often a session has moved; `on_fenced` gets the higher one."""
        self._store = store
        self._stream = stream
        self._node = node
        self._may_leave = may_leave
        self._on_fenced = on_fenced
        self._generation = generation
        self._delay_s = delay_s
        self._retry_s = retry_s
        self._sessions: dict[str, _Progress] = {}
        self._due: dict[str, float] = {}
        """The sessions with events to send, and when; times of the event loop."""
        self._wake = asyncio.Event()

    def replicated(self, session: str) -> int:
        """The last event of a session that is known to be in the stream."""
        progress = self._sessions.get(session)
        return 0 if progress is None else progress.seq

    def changed(self, session: str, size: int = 0) -> None:
        """Events of a session were stored, with about this many bytes."""
        progress = self._sessions.setdefault(session, _Progress())
        if progress.fenced or progress.deleted or not self._may_leave(session):
            return
        progress.bytes += size
        now = asyncio.get_running_loop().time()
        due = now if progress.bytes >= BATCH_BYTES else now + self._delay_s
        if due < self._due.get(session, float("inf")):
            self._due[session] = due
            self._wake.set()

    def deleted(self, session: str) -> None:
        """A session was deleted: its copies must be deleted, whether or not it may leave now."""
        progress = self._sessions.setdefault(session, _Progress())
        if not progress.fenced:
            progress.deleted = True
            self._due[session] = asyncio.get_running_loop().time()
            self._wake.set()

    async def run(self) -> None:
        """Copy what changed, until cancelled."""
        while True:
            await self._wait_until_due()
            now = asyncio.get_running_loop().time()
            for session in [name for name, due in self._due.items() if due <= now]:
                del self._due[session]
                await self._copy(session)

    async def _wait_until_due(self) -> None:
        self._wake.clear()
        if self._due:
            wait_s = min(self._due.values()) - asyncio.get_running_loop().time()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, wait_s)):
                    await self._wake.wait()
        else:
            await self._wake.wait()

    async def _copy(self, session: str) -> None:
        """Send all events of a session that are not in the stream; a failure is retried."""
        progress = self._sessions[session]
        progress.bytes = 0
        try:
            await self._send(session, progress)
        except Conflict:
            progress.known = False
            self._retry(session, 0.0)
        except (BusError, StoreUnavailable) as problem:
            log.debug("the log of session %s is not replicated now: %s", session, problem)
            progress.known = False
            self._retry(session, self._retry_s)

    def _retry(self, session: str, delay_s: float) -> None:
        due = asyncio.get_running_loop().time() + delay_s
        self._due[session] = min(due, self._due.get(session, due))

    async def _send(self, session: str, progress: _Progress) -> None:
        if not progress.known:
            await self._find_position(session, progress)
        while not progress.fenced:
            events: Sequence[Event] = ()
            if not progress.deleted:
                events = _batch(await self._store.read(session, progress.seq, READ_AT_ONCE))
                if not events:
                    return
            batch = LogBatch(
                session=session,
                epoch=self._store.epoch,
                generation=self._generation(session),
                after=progress.seq,
                events=tuple(events),
                deleted=progress.deleted,
            )
            subject = subjects.log(self._node, session)
            progress.record = await self._stream.append(
                subject, encode_batch(batch), after=progress.record
            )
            progress.seq = batch.last
            if progress.deleted:
                return

    async def _find_position(self, session: str, progress: _Progress) -> None:
        """Read from the newest record how far the copy has come, and whether it is still ours."""
        record = await self._stream.last(subjects.log(self._node, session))
        progress.record, progress.seq = (0, 0) if record is None else (record.number, 0)
        batch = None if record is None else _readable(record)
        if batch is not None and batch.generation > self._generation(session):
            progress.fenced = True
            self._on_fenced(session, batch.generation)
        elif batch is not None and batch.epoch == self._store.epoch and not batch.deleted:
            progress.seq = batch.last
        progress.known = True


def _batch(events: Sequence[Event]) -> Sequence[Event]:
    """As many of the events as fit into one batch, at least one."""
    size = 0
    for place, event in enumerate(events):
        size += len(event.line)
        if size > BATCH_BYTES and place:
            return events[:place]
    return events


def _readable(record: Record) -> LogBatch | None:
    """The batch of a record; None if it is damaged, so that the log is sent again from the start."""
    try:
        return decode_batch(record.payload)
    except UnreadableBatch as problem:
        log.warning("record %d of %s is ignored: %s", record.number, record.subject, problem)
        return None
