"""The one thread that writes, many writes to a commit, and what it does when writing fails.

Writes that come while a commit is fresh wait for the next one, up to `Pace.interval` or until
`Pace.group` of them are there; a write that comes alone is committed at once. Nothing is
acknowledged before its commit returned. A lock is waited for within `Pace.patience`; then, as
with a full disk, every write is refused at once and a small write is tried now and then, until
one works. Damage and a newer schema end all writing until `start_anew`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from fairlead.store.database import Database
from fairlead.store.state import CLOSED, LOCKED, PASSING, StoreState, state_after

__all__ = ["Counters", "Pace", "Write", "Writer"]

T = TypeVar("T")
Write: TypeAlias = Callable[[sqlite3.Connection], T]
"""Changes the database and nothing else: it may be run again after a rollback."""

_RETRY_S = 0.02
_PROBE_BYTES = 64 * 1024
"""What a try writes: enough that the next real write has room too."""


class Pace(Struct, frozen=True, kw_only=True):
    """When to commit, and how long to try."""

    interval: float = 0.02
    """Seconds between two commits under load: shorter than a person can see."""
    group: int = 2_000
    """Events that make a commit at once."""
    patience: float = 5.0
    """Seconds to wait for a lock before writes are refused."""
    probe: float = 1.0
    """Seconds between two tries while writes are refused."""


class Counters(Struct):
    """What was written since the start."""

    commits: int = 0
    writes: int = 0
    refused: int = 0
    slowest_commit: float = 0.0


class _Job(Generic[T]):
    __slots__ = ("future", "weight", "write")

    def __init__(self, write: Write[T], weight: int, future: asyncio.Future[T]) -> None:
        self.write = write
        self.weight = weight
        self.future = future


_Outcome: TypeAlias = tuple["_Job[Any]", Any, BaseException | None]


class Writer:
    """Runs writes in order in its thread; `announce` is called in the event loop."""

    def __init__(
        self, database: Database, pace: Pace, announce: Callable[[StoreState], None]
    ) -> None:
        self._database = database
        self._pace = pace
        self._announce = announce
        self.counters = Counters()
        self.state = StoreState(CLOSED, "the store was not started")
        self._db: sqlite3.Connection | None = None
        self._jobs: deque[_Job[Any]] = deque()
        self._weight = 0
        self._orders: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        """What is done outside of any transaction: opening, starting anew."""
        self._woken = threading.Condition()
        self._stopping = False
        self._committed_at = 0.0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    # In the event loop

    async def start(self) -> None:
        """Start the thread and open the database, as far as it lets itself be opened."""
        self._loop = asyncio.get_running_loop()
        self.state = StoreState()
        self._thread = threading.Thread(target=self._run, name="fairlead-writer", daemon=True)
        self._thread.start()
        await self._order(self._first_open)

    async def stop(self) -> None:
        """Commit what was submitted, close the database, end the thread."""
        with self._woken:
            self._stopping = True
            self._woken.notify()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        self.state = StoreState(CLOSED, "the store is closed")

    def submit(self, write: Write[T], weight: int = 1) -> Awaitable[T]:
        """Queue a write; the awaitable ends when it is durable, or refused."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._woken:
            if self._stopping or self.state.code == CLOSED:
                raise StoreState(CLOSED, "the store is closed").error()
            self._jobs.append(_Job(write, weight, future))
            self._weight += weight
            self._woken.notify()
        return future

    async def start_anew(self) -> Path:
        """Put the database aside and open a new one."""
        kept: Path = await self._order(self._put_aside)
        return kept

    def condemn(self, state: StoreState) -> None:
        """A reader found damage: write no more."""
        if self.state.ok or self.state.code in PASSING:
            self._enter(state)

    async def _order(self, order: Callable[[], T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._woken:
            if self._stopping:
                raise StoreState(CLOSED, "the store is closed").error()
            self._orders.append((order, future))
            self._woken.notify()
        return await future

    # In the thread

    def _run(self) -> None:
        while self._wait():
            while self._orders:
                self._obey(*self._orders.popleft())
            group = self._take()
            if group:
                self._store(group)
            elif self.state.code in PASSING:
                self._probe()
        self._disconnect(cleanly=self.state.ok)

    def _wait(self) -> bool:
        """Until there is something to do; False when all is done and the end was asked for."""
        with self._woken:
            patience = None if self.state.code not in PASSING else self._pace.probe
            while not (self._jobs or self._orders or self._stopping):
                if not self._woken.wait(patience):
                    return True
            due = self._committed_at + self._pace.interval
            while (
                not (self._orders or self._stopping)
                and self._weight < self._pace.group
                and (left := due - time.monotonic()) > 0
            ):
                self._woken.wait(left)
            return bool(self._jobs or self._orders or not self._stopping)

    def _take(self) -> list[_Job[Any]]:
        group: list[_Job[Any]] = []
        weight = 0
        with self._woken:
            while self._jobs and weight < self._pace.group:
                group.append(self._jobs.popleft())
                weight += group[-1].weight
            self._weight -= weight
        return group

    def _store(self, group: Sequence[_Job[Any]]) -> None:
        """Commit a group, or tell each of its writes why not."""
        patience = self._pace.patience if self.state.ok else 0.0
        end = time.monotonic() + patience
        while self.state.ok or self.state.code in PASSING:
            try:
                outcomes = self._commit(group)
            except sqlite3.Error as problem:
                found = state_after(problem)
                if found is None:
                    self._store_singly(group, problem)
                    return
                if found.code == LOCKED and time.monotonic() < end:
                    self._pause()
                    continue
                self._fail(found)
                break
            except Exception as problem:  # noqa: BLE001 - a write of a caller; it is told there
                self._store_singly(group, problem)
                return
            self._recover()
            self._deliver(outcomes)
            return
        self.counters.refused += len(group)
        self._deliver([(job, None, self.state.error()) for job in group])

    def _store_singly(self, group: Sequence[_Job[Any]], problem: Exception) -> None:
        """One write of the group is wrong in itself: the others must not suffer for it."""
        if len(group) == 1:
            self._deliver([(group[0], None, problem)])
            return
        for job in group:
            self._store([job])

    def _commit(self, group: Sequence[_Job[Any]]) -> list[_Outcome]:
        began = time.monotonic()
        db = self._connection()
        db.execute("BEGIN IMMEDIATE")
        try:
            outcomes: list[_Outcome] = [(job, job.write(db), None) for job in group]
            db.execute("COMMIT")
        except BaseException:
            self._roll_back(db)
            raise
        self._committed_at = time.monotonic()
        counters = self.counters
        counters.commits += 1
        counters.writes += len(group)
        counters.slowest_commit = max(counters.slowest_commit, self._committed_at - began)
        return outcomes

    def _probe(self) -> None:
        """Try whether a write works again: what it writes is really written, then taken out."""
        try:
            db = self._connection()
            db.execute("INSERT OR REPLACE INTO meta VALUES ('probe', zeroblob(?))", (_PROBE_BYTES,))
            db.execute("DELETE FROM meta WHERE name = 'probe'")
        except sqlite3.Error as problem:
            self._fail(state_after(problem) or self.state)
        else:
            self._recover()

    def _recover(self) -> None:
        # Not out of `damaged`, which a reader may have found while this was written.
        if self.state.code in PASSING:
            self._enter(StoreState())

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = self._database.open()
        return self._db

    def _roll_back(self, db: sqlite3.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect(cleanly=False)

    def _fail(self, state: StoreState) -> None:
        # A connection that met a full disk or damage may have a state of its own: take a new one.
        if state.code != LOCKED:
            self._disconnect(cleanly=False)
        self._enter(state)

    def _disconnect(self, *, cleanly: bool) -> None:
        db, self._db = self._db, None
        if db is None:
            return
        try:
            if cleanly:
                self._database.mark_closed(db)
        except sqlite3.Error:
            pass
        finally:
            db.close()

    def _first_open(self) -> None:
        try:
            self._connection()
        except sqlite3.Error as problem:
            found = state_after(problem)
            if found is None:
                raise
            self._fail(found)

    def _put_aside(self) -> Path:
        self._disconnect(cleanly=False)
        kept = self._database.put_aside()
        self._enter(StoreState())
        self._first_open()
        return kept

    def _obey(self, order: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            result, problem = order(), None
        except Exception as raised:  # noqa: BLE001 - told to whoever gave the order
            result, problem = None, raised
        self._call(_settle, future, result, problem)

    def _pause(self) -> None:
        time.sleep(_RETRY_S)

    def _enter(self, state: StoreState) -> None:
        if state.code != self.state.code:
            self.state = state
            self._call(self._announce, state)

    def _deliver(self, outcomes: Sequence[_Outcome]) -> None:
        self._call(_settle_all, outcomes)

    def _call(self, call: Callable[..., Any], *arguments: Any) -> None:
        if self._loop is not None:
            # A loop that is closed has nobody left who waits.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call, *arguments)


def _settle_all(outcomes: Sequence[_Outcome]) -> None:
    for job, result, problem in outcomes:
        _settle(job.future, result, problem)


def _settle(future: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    """Unless whoever waited has gone."""
    if future.done():
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
