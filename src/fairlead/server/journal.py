"""The way of one session's events into the log, in order, before anybody sees what they change.

Two doors. `note` takes what has happened (the CLI wrote a line, the process is gone): it cannot
be undone, so it waits here until the store takes it, however long that is. `record` takes what
somebody wants (a prompt, a decision): it is refused at once if the store cannot, and only when
it is stored may anything follow from it. If too much waits, `on_full` is told, so that the CLI is
not read any further, and `on_room` when there is room again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from fairlead.server.limits import Limits
from fairlead.server.log_lines import event_of
from fairlead.store.audit import AuditRecord
from fairlead.store.intents import IntentOutcome
from fairlead.store.log import NewEvent, StoreUnavailable
from fairlead.transcript.reduce import Fed

__all__ = ["EventStore", "Journal"]

log = logging.getLogger("fairlead")

EVENT_BYTES = 120
"""About what an event costs beside its line while it waits."""


class EventStore(Protocol):
    """The part of a store that a journal writes to."""

    async def append(
        self,
        session: str,
        new: Sequence[NewEvent],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        """Store events, and with them what an intent became and the audit; see `Log.append`."""


class _Waiting:
    """Some events that are stored together."""

    __slots__ = ("audit", "done", "events", "fed", "intent", "size")

    def __init__(
        self,
        fed: list[Fed],
        at: float,
        done: asyncio.Future[int] | None = None,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        self.fed = fed
        self.events = [event_of(one, at) for one in fed]
        self.size = sum(len(one.line) + EVENT_BYTES for one in self.events)
        self.done = done
        self.intent = intent
        self.audit = audit


class Journal:
    """One session's way into the log. `stored` is called for every event, in order."""

    def __init__(
        self,
        session: str,
        store: EventStore,
        stored: Callable[[int, Fed, float], None],
        limits: Limits,
        *,
        on_full: Callable[[], None] | None = None,
        on_room: Callable[[], None] | None = None,
        on_batch: Callable[[], None] | None = None,
    ) -> None:
        self._session = session
        self._store = store
        self._stored = stored
        self._limits = limits
        self._on_full = on_full
        self._on_room = on_room
        self._on_batch = on_batch
        self._waiting: deque[_Waiting] = deque()
        self._work = asyncio.Event()
        self._again = asyncio.Event()
        self._emptied = asyncio.Event()
        self._emptied.set()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self.bytes = 0
        """What waits to be stored."""
        self.full = False
        self.problem: StoreUnavailable | None = None
        """Why nothing is stored now."""

    def note(self, fed: list[Fed], at: float) -> None:
        """Something happened; it will be stored, and shown when it is."""
        self._put(_Waiting(fed, at))
        if self.bytes > self._limits.unstored_bytes and not self.full:
            self.full = True
            if self._on_full is not None:
                self._on_full()

    async def record(
        self,
        fed: list[Fed],
        at: float,
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        """Store something that somebody wants, and return its number once it is durable.

        Raises `StoreUnavailable`, and then it was neither stored nor shown.
        """
        if self.problem is not None:
            raise self.problem
        if self._closing:
            raise StoreUnavailable("the session is being closed", code="closed")
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._put(_Waiting(fed, at, done, intent, audit))
        return await asyncio.shield(done)

    async def flush(self) -> None:
        """Wait until all that has happened so far is stored and shown."""
        await self._emptied.wait()

    def try_again(self) -> None:
        """The store may be well again."""
        self._again.set()

    async def close(self) -> None:
        """Store what waits, if the store can, and stop."""
        self._closing = True
        if self.problem is None:
            await self.flush()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._refuse(StoreUnavailable("the session is closed", code="closed"))

    # Within

    def _put(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        self.bytes += waiting.size
        self._emptied.clear()
        self._work.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._ended)

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            batch = self._take()
            try:
                await self._store_batch(batch)
            except StoreUnavailable as problem:
                self._keep(batch, problem)
                await self._pause()
            else:
                if self._on_batch is not None:
                    self._on_batch()
            if not self._waiting:
                self._work.clear()
                self._emptied.set()

    def _take(self) -> list[_Waiting]:
        """What goes into one append: it can carry what one intent became."""
        batch: list[_Waiting] = []
        events = 0
        while self._waiting and events < self._limits.batch_events:
            one = self._waiting.popleft()
            batch.append(one)
            events += len(one.events)
            if one.intent is not None or one.audit:
                break
        return batch

    async def _store_batch(self, batch: list[_Waiting]) -> None:
        if not batch:
            return
        events = [event for one in batch for event in one.events]
        carried = batch[-1]
        last = await self._store.append(
            self._session, events, intent=carried.intent, audit=carried.audit
        )
        self.problem = None
        seq = last - len(events)
        for one in batch:
            for fed, event in zip(one.fed, one.events, strict=True):
                seq += 1
                self._stored(seq, fed, event.at)
            self.bytes -= one.size
            if one.done is not None and not one.done.done():
                one.done.set_result(seq)
        if self.full and self.bytes < self._limits.unstored_bytes // 2:
            self.full = False
            if self._on_room is not None:
                self._on_room()

    def _keep(self, batch: list[_Waiting], problem: StoreUnavailable) -> None:
        self.problem = problem
        self._waiting.extendleft(reversed(batch))
        self._refuse(problem)

    def _refuse(self, problem: StoreUnavailable) -> None:
        """What somebody wants is not kept for later: they are told, and may ask again."""
        kept: deque[_Waiting] = deque()
        for one in self._waiting:
            if one.done is None:
                kept.append(one)
                continue
            self.bytes -= one.size
            if not one.done.done():
                one.done.set_exception(problem)
        self._waiting = kept

    async def _pause(self) -> None:
        self._again.clear()
        try:
            async with asyncio.timeout(self._limits.store_retry_s):
                await self._again.wait()
        except TimeoutError:
            pass
        self.problem = None  # The next append tells; what is wanted meanwhile waits for it.

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        log.error("session %s can store nothing more", self._session, exc_info=task.exception())
        self.problem = StoreUnavailable("the session failed inside; restart it", code="internal")
        self._refuse(self.problem)
        self._emptied.set()
