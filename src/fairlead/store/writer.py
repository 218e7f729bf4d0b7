"""The one thread that writes, with group commits, and its behavior when writing fails.

A single write is committed at once. Writes that arrive shortly after a commit wait for the next one
until the pause after it ends (`Pace.pause_s`; shorter if one of them is urgent), or until there are
`Pace.group` of them. Nothing is acknowledged before its commit has returned. The writer waits for a lock
up to `Pace.patience`; then, as with a full disk, every write is refused at once and a small write is
tried at intervals until one succeeds. Damage and a newer schema end all writing until `start_fresh`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from fairlead.store.database.database import Database
from fairlead.store.database.state import CLOSED, LOCKED, PASSING, StoreState, state_after
from fairlead.store.pace import Activity, Pace

__all__ = ["Counters", "Done", "Job", "Write", "Writer", "settle"]

T = TypeVar("T")
Write: TypeAlias = Callable[[sqlite3.Connection], T]
"""Changes the database and nothing else: it may be run again after a rollback."""

_RETRY_S = 0.02
_PROBE_BYTES = 64 * 1024
"""Size of a test write: large enough that the next real write fits too."""


class Counters(Struct):
    """What was written since the start."""

    commits: int = 0
    writes: int = 0
    refused: int = 0
    slowest_commit: float = 0.0


Done: TypeAlias = Callable[[Any, BaseException | None], None]
"""Is called in the event loop with the result of a write, or with what went wrong."""


class Job(Generic[T]):
    """A write that is queued; `buffers` if it leaves rows to `flush` and reads none of them.

    An urgent one does not wait until more writes share its commit.
    """

    __slots__ = ("buffers", "done", "urgent", "weight", "write")

    def __init__(
        self,
        write: Write[T],
        weight: int,
        done: Done,
        *,
        buffers: bool = False,
        urgent: bool = False,
    ) -> None:
        self.write = write
        self.weight = weight
        self.done = done
        self.buffers = buffers
        self.urgent = urgent


_Outcome: TypeAlias = tuple["Job[Any]", Any, BaseException | None]


class Writer:
    """Runs writes in order in its thread; `announce` is called in the event loop."""

    def __init__(
        self,
        database: Database,
        pace: Pace,
        announce: Callable[[StoreState], None],
        undone: Callable[[], None] | None = None,
        flush: Write[None] | None = None,
    ) -> None:
        """`undone` is called in the thread when writes were rolled back or the file changed.

        `flush` stores what writes that buffer have left: before any other write, and last.
        """
        self._undone = undone or _nothing
        self._flush = flush or _nothing_to_flush
        self._database = database
        self._pace = pace
        self._announce = announce
        self.counters = Counters()
        self.state = StoreState(CLOSED, "the store was not started")
        self._db: sqlite3.Connection | None = None
        self._jobs: deque[Job[Any]] = deque()
        self._weight = 0
        self._orders: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        """Work outside of transactions: opening, starting with a new database."""
        self._woken = threading.Condition()
        self._stopping = False
        self._resting = False
        """Whether the thread waits for the time of the next commit: a write need not wake it."""
        self._urgent = False
        """Whether an urgent write is queued."""
        self._committed_at = 0.0
        """When the last commit ended."""
        self._activity = Activity(time.process_time(), time.monotonic())
        self._took = 0.0
        """How long it took."""
        self._noted_after = 0.0
        """How long the event loop took to note the outcomes of a commit; only the loop sets it."""
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    # In the event loop

    async def start(self) -> None:
        """Start the thread and open the database; if that fails, `state` has the reason."""
        self._loop = asyncio.get_running_loop()
        self.state = StoreState()
        self._thread = threading.Thread(target=self._run, name="fairlead-writer", daemon=True)
        self._thread.start()
        await self._submit_order(self._first_open)

    async def stop(self) -> None:
        """Commit what was submitted, close the database, end the thread."""
        with self._woken:
            self._stopping = True
            self._woken.notify()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        self.state = StoreState(CLOSED, "the store is closed")

    def check_open(self) -> None:
        """Raise `StoreUnavailable` if nothing can be submitted any more."""
        if self._stopping or self.state.code == CLOSED:
            raise StoreState(CLOSED, "the store is closed").error()

    def submit_jobs(self, jobs: Sequence[Job[Any]]) -> None:
        """Queue writes; each `done` is called in the event loop when its write is durable, or
        refused."""
        with self._woken:
            self.check_open()
            self._jobs.extend(jobs)
            self._weight += sum([job.weight for job in jobs])
            hurries = not self._urgent and any(job.urgent for job in jobs)
            self._urgent = self._urgent or hurries
            # A wake-up costs more than the write itself if the thread would only wait again.
            if not self._resting or hurries or self._weight >= self._pace.group:
                self._woken.notify()

    async def start_fresh(self) -> Path:
        """Rename the database and open a new one."""
        path: Path = await self._submit_order(self._put_aside)
        return path

    def condemn(self, state: StoreState) -> None:
        """A reader found damage: stop writing."""
        if self.state.ok or self.state.code in PASSING:
            self._enter(state)

    async def _submit_order(self, order: Callable[[], T]) -> T:
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
                self._execute(*self._orders.popleft())
            group = self._take()
            if group:
                self._store(group)
            elif self.state.code in PASSING:
                self._probe()
        self._disconnect(cleanly=self.state.ok)

    def _wait(self) -> bool:
        """Wait for work; False when everything is done and the writer was stopped."""
        with self._woken:
            patience = None if self.state.code not in PASSING else self._pace.probe
            while not (self._jobs or self._orders or self._stopping):
                if not self._woken.wait(patience):
                    return True
            self._resting = True
            while (
                not (self._orders or self._stopping)
                and self._weight < self._pace.group
                and (remaining := self._next_commit() - time.monotonic()) > 0
            ):
                self._woken.wait(remaining)
            self._resting = False
            return bool(self._jobs or self._orders or not self._stopping)

    def _next_commit(self) -> float:
        """When the next commit may begin."""
        took = self._took + self._noted_after
        pause_s = self._pace.pause_s(took, self._activity, urgent=self._urgent)
        return self._committed_at + pause_s

    def _take(self) -> list[Job[Any]]:
        group: list[Job[Any]] = []
        weight = 0
        with self._woken:
            while self._jobs and weight < self._pace.group:
                group.append(self._jobs.popleft())
                weight += group[-1].weight
            self._weight -= weight
            self._urgent = any(job.urgent for job in self._jobs)
        return group

    def _store(self, group: Sequence[Job[Any]]) -> None:
        """Commit a group, or fail each of its writes with the reason."""
        patience = self._pace.patience if self.state.ok else 0.0
        end = time.monotonic() + patience
        while self.state.ok or self.state.code in PASSING:
            try:
                outcomes = self._commit(group)
            except sqlite3.Error as problem:
                state = state_after(problem)
                if state is None:
                    self._store_singly(group, problem)
                    return
                if state.code == LOCKED and time.monotonic() < end:
                    self._pause()
                    continue
                self._fail(state)
                break
            except Exception as problem:  # noqa: BLE001 - a write of a caller; raised there
                self._store_singly(group, problem)
                return
            self._recover()
            self._deliver(outcomes)
            return
        self.counters.refused += len(group)
        self._deliver([(job, None, self.state.error()) for job in group])

    def _store_singly(self, group: Sequence[Job[Any]], problem: Exception) -> None:
        """One write of the group is invalid: commit the others without it."""
        if len(group) == 1:
            self._deliver([(group[0], None, problem)])
            return
        for job in group:
            self._store([job])

    def _commit(self, group: Sequence[Job[Any]]) -> list[_Outcome]:
        began = time.monotonic()
        db = self._connection()
        db.execute("BEGIN IMMEDIATE")
        try:
            outcomes: list[_Outcome] = []
            for job in group:
                if not job.buffers:
                    self._flush(db)
                outcomes.append((job, job.write(db), None))
            self._flush(db)
            db.execute("COMMIT")
        except BaseException:
            self._roll_back(db)
            raise
        ended = time.monotonic()
        self._committed_at, self._took = ended, ended - began
        self._activity.note(len(group), time.process_time(), ended)
        counters = self.counters
        counters.commits += 1
        counters.writes += len(group)
        counters.slowest_commit = max(counters.slowest_commit, ended - began)
        return outcomes

    def _probe(self) -> None:
        """Test whether writing works again, with data that is written and then deleted."""
        try:
            db = self._connection()
            db.execute("INSERT OR REPLACE INTO meta VALUES ('probe', zeroblob(?))", (_PROBE_BYTES,))
            db.execute("DELETE FROM meta WHERE name = 'probe'")
        except sqlite3.Error as problem:
            self._fail(state_after(problem) or self.state)
        else:
            self._recover()

    def _recover(self) -> None:
        # Not from `damaged`, which a reader may have reported during this write.
        if self.state.code in PASSING:
            self._enter(StoreState())

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = self._database.open()
        return self._db

    def _roll_back(self, db: sqlite3.Connection) -> None:
        self._undone()
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            self._disconnect(cleanly=False)

    def _fail(self, state: StoreState) -> None:
        # A connection that saw a full disk or damage may be in an undefined state: open a new one.
        if state.code != LOCKED:
            self._disconnect(cleanly=False)
        self._enter(state)

    def _disconnect(self, *, cleanly: bool) -> None:
        self._undone()
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
            state = state_after(problem)
            if state is None:
                raise
            self._fail(state)

    def _put_aside(self) -> Path:
        self._disconnect(cleanly=False)
        path = self._database.put_aside()
        self._enter(StoreState())
        self._first_open()
        return path

    def _execute(self, order: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            result, problem = order(), None
        except Exception as raised:  # noqa: BLE001 - raised in the caller
            result, problem = None, raised
        self._call(settle, future, result, problem)

    def _pause(self) -> None:
        time.sleep(_RETRY_S)

    def _enter(self, state: StoreState) -> None:
        if state.code != self.state.code:
            self.state = state
            self._call(self._announce, state)

    def _deliver(self, outcomes: Sequence[_Outcome]) -> None:
        self._call(self._settle_all, outcomes, time.monotonic())

    def _settle_all(self, outcomes: Sequence[_Outcome], since: float) -> None:
        """In the event loop: report the outcomes of a commit."""
        for job, result, problem in outcomes:
            job.done(result, problem)
        self._noted_after = time.monotonic() - since

    def _call(self, function: Callable[..., Any], *arguments: Any) -> None:
        if self._loop is not None:
            # If the loop is closed, no caller waits.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(function, *arguments)


def _nothing() -> None:
    """Nothing depends on what was written."""


def _nothing_to_flush(_: sqlite3.Connection) -> None:
    """No write buffers."""


def settle(future: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    """Set the result of a future, unless the caller was cancelled."""
    if future.done():
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
