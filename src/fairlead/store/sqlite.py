"""The store on one machine: a durable log, and the other tables, in SQLite.

    async with SqliteStore(folder) as store:
        seq = await store.append(session, events)    # returns when it is durable

The entry point of this package: every method is async and does its work in the one writer thread
(`writer`) or in a small pool of readers (`readers`), never in the event loop. `state` describes
the failures: reading continues where possible, writing raises `StoreUnavailable`, and temporary
states end without a restart. docs/store.md has the rules (S1 …).
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from fairlead.store.cli_files import file_usage
from fairlead.store.cli_files.file_usage import FileSpent
from fairlead.store.database.connection import Connect, connect
from fairlead.store.database.database import Database
from fairlead.store.database.folder import DataFolder
from fairlead.store.database.migrations import MIGRATIONS, Migration
from fairlead.store.database.state import StoreState
from fairlead.store.log import Event, NewEvent, StoredSnapshot, StoreUnavailable
from fairlead.store.pace import Pace
from fairlead.store.readers import SEARCHERS, Read, Readers
from fairlead.store.tables import (
    audit,
    comments,
    deletions,
    devices,
    drafts,
    import_index,
    intents,
    search,
    sessions,
    snapshots,
)
from fairlead.store.tables import events as event_table
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.comments import Comment, SentFile
from fairlead.store.tables.deletions import Deletion
from fairlead.store.tables.devices import Device
from fairlead.store.tables.drafts import Draft
from fairlead.store.tables.import_index import IndexedFile
from fairlead.store.tables.intents import IntentOutcome
from fairlead.store.tables.search import Filters, Hit
from fairlead.store.tables.sessions import SessionRow
from fairlead.store.writer import Counters, Done, Job, Write, Writer, settle

__all__ = ["SqliteStore"]

T = TypeVar("T")

INDEXED_AT_ONCE = 100
"""Items in one transaction of the search index: about 20 ms, so that events are not delayed long."""
COUNTED_AT_ONCE = 1_000
"""Answers in one transaction of `put_file_usage`, for the same reason."""


class SqliteStore:
    """Stores events, sessions, devices, audit records, drafts, comments, intents, the search index.

    `folder` belongs to one store at a time; a second one raises `FolderInUse`, a folder that
    cannot be trusted `FolderRefused`. `survive_power_loss` waits for the disk at each commit. Without
    it, acknowledged data survives any end of the process, but the last moments before a power cut
    may be lost (the log is then shorter, but never corrupt).
    `connect` and `migrations` are for tests.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        survive_power_loss: bool = True,
        pace: Pace | None = None,
        connect: Connect = connect,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self.folder = Path(folder)
        self._pace = pace or Pace()
        self._lock = DataFolder(self.folder)
        self._database = Database(
            self.folder, connect=connect, migrations=migrations, full=survive_power_loss
        )
        self._events = event_table.EventWriter()
        self._intents = intents.IntentWriter()
        self._writer = Writer(
            self._database,
            self._pace,
            self._announce,
            undone=self._undone,
            flush=self._events.flush,
        )
        self._jobs: list[Job[Any]] = []
        """The writes of this turn of the event loop, in order. They are handed over together, so that
        they share a commit, and the thread is woken once."""
        self._readers = Readers(self._database.open_reader)
        self._searchers = Readers(self._database.open_reader, SEARCHERS)
        self._listeners: list[Callable[[StoreState], None]] = []
        self.erased = 0
        """How many sessions were erased since the start: row numbers may be used again then."""

    async def start(self) -> SqliteStore:
        """Lock the folder, open or create the database, and migrate it.

        Raises only if the folder is refused or in use; a database that is locked, damaged or
        newer is reported by `state`.
        """
        self._lock.claim()
        try:
            self._database.make()
            await self._writer.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Store what was already submitted, then close everything."""
        self._hand_over()
        # Readers first: the last to close must be one that can write, or the write-ahead log stays.
        await self._searchers.close()
        await self._readers.close()
        await self._writer.stop()
        self._lock.release()

    async def __aenter__(self) -> SqliteStore:
        return await self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # State

    @property
    def epoch(self) -> str:
        """Changes when numbers restart from 1; positions of clients are then invalid."""
        return self._database.epoch

    @property
    def state(self) -> StoreState:
        """Whether events can be stored now, and if not, why."""
        return self._writer.state

    @property
    def counters(self) -> Counters:
        """What was written since the start, for metrics."""
        return self._writer.counters

    def on_state(self, listener: Callable[[StoreState], None]) -> Callable[[], None]:
        """Call `listener` in the event loop when the state changes; returns a function to remove it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def start_fresh(self) -> Path:
        """Rename a damaged or newer database, unchanged, and create an empty one.

        Returns the new path of the old database. The epoch changes.
        """
        path = await self._writer.start_fresh()
        await self._searchers.close()
        await self._readers.close()
        self._readers = Readers(self._database.open_reader)
        self._searchers = Readers(self._database.open_reader, SEARCHERS)
        return path

    # The log

    async def append(
        self,
        session: str,
        events: Sequence[NewEvent],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        """Store events in order and return the number of the last one, once they are durable.

        `intent` and `audit` are stored in the same transaction. Raises
        `StoreUnavailable`, and then nothing was stored.
        """
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._submit(self._append(session, tuple(events), partial(settle, future), intent, audit))
        return await future

    def append_soon(
        self,
        session: str,
        events: Sequence[NewEvent],
        done: Callable[[int, BaseException | None], None],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
        urgent: bool = False,
    ) -> None:
        """Like `append`, but calls `done` in the event loop instead of being awaited.

        Appends of all sessions that share a commit are reported in one turn of the loop. An urgent
        one does not wait until others share its commit.
        """
        self._submit(self._append(session, events, done, intent, audit, urgent=urgent))

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""
        return await self._read(lambda db: event_table.read(db, session, after, limit))

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""
        return await self._read(lambda db: event_table.last_seq(db, session))

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Store a snapshot. Unlike events, it may be dropped later.

        Stored in several transactions, so that a large one does not delay events.
        """
        number = 0
        for parts in snapshots.portions(snapshot.parts):
            await self._write(partial(snapshots.put_parts, session, snapshot.seq, number, parts))
            number += len(parts)
        await self._write(lambda db: snapshots.finish(db, session, snapshot))

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest complete snapshot of a session that this version made."""
        return await self._read(lambda db: snapshots.latest(db, session, version))

    # Sessions

    async def sessions(self) -> list[SessionRow]:
        """All sessions of the server, the last active first."""
        return await self._read(sessions.rows)

    async def session(self, session: str) -> SessionRow | None:
        """One session by its id."""
        return await self._read(lambda db: sessions.find(db, session))

    async def put_session(
        self,
        row: SessionRow,
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store a row in place of the one with the same id, with `intent` and `audit` if given."""

        def write(db: Any) -> None:
            sessions.put(db, row)
            self._put_with(db, intent, audit)

        await self._write(write, urgent=intent is not None, apart=True)

    async def put_sessions(self, rows: Sequence[SessionRow]) -> None:
        """Store several rows, all of them or none."""

        def write(db: Any) -> None:
            for row in rows:
                sessions.put(db, row)

        await self._write(write, weight=len(rows), apart=True)

    async def deletions(self) -> list[Deletion]:
        """The sessions that are to be deleted, the oldest first."""
        return await self._read(deletions.rows)

    async def put_deletions(
        self,
        wanted: Sequence[Deletion],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store that sessions are to be deleted, with `intent` and `audit` if given."""

        def write(db: Any) -> None:
            deletions.put(db, wanted)
            self._put_with(db, intent, audit)

        await self._write(write)

    async def undo_deletions(self, sessions: Sequence[str]) -> list[str]:
        """Remove deletions that have not begun; return their sessions."""
        return await self._write(lambda db: deletions.undo(db, sessions))

    async def begin_deletion(self, session: str) -> bool:
        """Mark a deletion as begun: the session is erased from now on. False if there is none."""
        return await self._write(lambda db: deletions.begin(db, session))

    async def erase_session(self, session: str, audit: Sequence[AuditRecord] = ()) -> None:
        """Delete a session whose deletion has begun: its log, row, checkpoints, index and drafts.

        In several transactions, so that a long log does not delay the events of other sessions.
        If the process ends in between, the deletion is still stored, and this is called again.
        """

        def erase_events(db: Any) -> bool:
            self._events.forget_session(session)
            return deletions.erase_events(db, session)

        def erase_rest(db: Any) -> None:
            self._events.forget_session(session)
            deletions.erase_rest(db, session)
            self._put_with(db, None, audit)

        while await self._write(erase_events, weight=deletions.ERASED_AT_ONCE):
            pass
        await self._write(erase_rest)
        self.erased += 1

    # Devices

    async def devices(self) -> list[Device]:
        """All devices, revoked ones too."""
        return await self._read(devices.rows)

    async def device_by_token_hash(self, token_hash: str) -> Device | None:
        """The device whose token has this hash, unless it was revoked."""
        return await self._read(lambda db: devices.by_token_hash(db, token_hash))

    async def put_device(self, device: Device) -> None:
        """Store a device in place of the one with the same id; a revoked one stays revoked."""
        await self._write(lambda db: devices.put(db, device))

    async def revoke_device(self, device: str, at: float | None = None) -> bool:
        """Revoke a device's token; False if it has none."""
        when = time.time() if at is None else at
        return await self._write(lambda db: devices.revoke(db, device, when))

    # Audit

    async def record_audit(self, record: AuditRecord) -> None:
        """Append to the audit."""
        await self._write(lambda db: audit.put(db, record), apart=True)

    async def audit(self, session: str | None = None, limit: int = 100) -> list[AuditRecord]:
        """The last records of a session, or of everything, the newest first."""
        return await self._read(lambda db: audit.newest(db, session, limit))

    # Drafts

    async def draft(self, session: str, device: str) -> Draft | None:
        """The unsent text of a device in a session."""
        return await self._read(lambda db: drafts.find(db, session, device))

    async def drafts(self, session: str) -> list[Draft]:
        """The drafts of all devices, the newest first."""
        return await self._read(lambda db: drafts.of_session(db, session))

    async def put_draft(self, draft: Draft) -> None:
        """Store a draft; an empty one is deleted."""
        await self._write(lambda db: drafts.put(db, draft))

    # Comments

    async def comments(self, session: str) -> list[Comment]:
        """The review comments of a session, the oldest first."""
        return await self._read(lambda db: comments.of_session(db, session))

    async def comment(self, session: str, comment: str) -> Comment | None:
        """One review comment."""
        return await self._read(lambda db: comments.find(db, session, comment))

    async def put_comments(
        self, changed: Sequence[Comment], files: Sequence[SentFile] = ()
    ) -> None:
        """Store review comments, and files as they are when the comments are sent."""
        await self._write(lambda db: comments.put_all(db, changed, files))

    async def delete_comment(self, session: str, comment: str) -> None:
        """Delete a review comment."""
        await self._write(lambda db: comments.delete(db, session, comment))

    async def sent_file(self, session: str, prompt: str, file: str) -> bytes | None:
        """The content of a commented file when its review was sent."""
        return await self._read(lambda db: comments.sent_file(db, session, prompt, file))

    # Intents

    async def intent_result(self, client: str, n: int) -> bytes | None:
        """The JSON of an intent's result, if it was acted on."""
        return await self._read(lambda db: intents.find(db, client, n))

    async def put_intent_result(self, client: str, n: int, result_json: bytes) -> None:
        """Store the result of an intent; the first result stays.

        If the intent appends events or changes a session, pass it to that call as `intent`
        instead: then both are stored or neither.
        """
        outcome = IntentOutcome(client=client, n=n, result=result_json)
        await self._write(lambda db: self._intents.put(db, outcome), urgent=True, apart=True)

    async def intent_results(self, session: str) -> list[IntentOutcome]:
        """The results of all intents about a session, for a machine that takes the session over."""
        return await self._read(lambda db: intents.of_session(db, session))

    async def make_room_for_intents(self, client: str) -> bool:
        """Make room for this client by deleting older clients of its device; False if impossible."""
        if await self._read(lambda db: intents.has_room(db, client)):
            return True
        return await self._write(lambda db: intents.make_room(db, client))

    async def last_intent(self, client: str) -> int:
        """The highest n of a client that was acted on."""
        return await self._read(lambda db: intents.last(db, client))

    # Search

    async def index_items(
        self,
        session: str,
        items: Sequence[Any],
        *,
        project: str = "",
        model: str = "",
        profile: str = "",
    ) -> None:
        """Add finished items to the search index: rows of a transcript, as structs or plain JSON.

        Unfinished items are skipped. An item that is indexed again replaces its old entry.
        `project` is the working folder, for sessions that `put_session` does not know; `model`
        is the model that the session uses now, `profile` its profile. Searches can filter by them.
        """
        for start in range(0, len(items), INDEXED_AT_ONCE):
            part = search.entries(items[start : start + INDEXED_AT_ONCE])
            if part:
                put = partial(search.put, session, part, project, model, profile)
                await self._write(put, weight=len(part))

    async def forget_items(self, session: str) -> None:
        """Remove a session from the search index; its log, if it has one, stays."""
        await self._write(partial(search.forget, session))

    async def search(
        self,
        query: str,
        filters: Filters | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> list[Hit]:
        """The entries that match all words of a query; any text is a query.

        `stop` is called regularly; if it returns True, `SearchStopped` is raised.
        """

        def find(db: sqlite3.Connection) -> list[Hit]:
            return search.find(db, query, filters or Filters(), stop)

        return await self._searchers.run(find, self._writer)

    async def put_file_usage(
        self,
        session: str,
        spent: Sequence[FileSpent],
        *,
        project: str = "",
        profile: str = "",
    ) -> None:
        """Store the usage that the files of one of the CLI's own sessions report."""
        for start in range(0, len(spent), COUNTED_AT_ONCE):
            part = spent[start : start + COUNTED_AT_ONCE]
            put = partial(file_usage.put, session, part, project, profile)
            await self._write(put, weight=len(part))

    # The index of the CLI's own transcript files (`imports`)

    async def indexed_files(self, root: str) -> list[IndexedFile]:
        """The index rows of the transcript files under a folder."""
        return await self._read(lambda db: import_index.rows(db, root))

    async def put_indexed_files(self, root: str, files: Sequence[IndexedFile]) -> None:
        """Store the index rows of some files."""
        await self._write(lambda db: import_index.put(db, root, files))

    async def forget_indexed_files(self, root: str, paths: Sequence[str]) -> None:
        """Delete the index rows of deleted files."""
        await self._write(lambda db: import_index.forget(db, root, paths))

    # Tables of parts that have their own queries, such as `tables/notices`

    async def apply(self, write: Write[T]) -> T:
        """Run a write in a transaction; returns when it is durable, raises `StoreUnavailable`."""
        return await self._write(write)

    def apply_soon(
        self, write: Write[Any], done: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Like `apply`, but calls `done` in the event loop instead of being awaited.

        Writes become durable in the order of these calls and of `append_soon`.
        """
        self._submit(Job(write, 1, done))

    async def query(self, read: Read[T]) -> T:
        """Run a read."""
        return await self._read(read)

    # Internal

    def _append(
        self,
        session: str,
        events: Sequence[NewEvent],
        done: Done,
        intent: IntentOutcome | None,
        records: Sequence[AuditRecord],
        *,
        urgent: bool = False,
    ) -> Job[int]:
        write: Write[int]
        if intent is None and not records:
            write = partial(self._append_events, session, events)
        else:
            write = partial(self._append_with, session, events, intent, records)
        return Job(write, len(events), done, buffers=True, urgent=urgent)

    def _append_events(
        self, session: str, events: Sequence[NewEvent], db: sqlite3.Connection
    ) -> int:
        return self._events.append(db, session, events)

    def _append_with(
        self,
        session: str,
        events: Sequence[NewEvent],
        intent: IntentOutcome | None,
        records: Sequence[AuditRecord],
        db: sqlite3.Connection,
    ) -> int:
        last = self._events.append(db, session, events)
        self._put_with(db, intent, records)
        return last

    def _put_with(
        self, db: sqlite3.Connection, intent: IntentOutcome | None, records: Sequence[AuditRecord]
    ) -> None:
        if intent is not None:
            self._intents.put(db, intent)
        for record in records:
            audit.put(db, record)

    def _undone(self) -> None:
        """In the writer's thread: what was written may not be stored."""
        self._events.forget()
        self._intents.forget()

    def _submit(self, job: Job[Any]) -> None:
        """Queue a write; raises `StoreUnavailable` if nothing can be submitted any more."""
        self._writer.check_open()
        if not self._jobs:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._jobs.append(job)

    def _hand_over(self) -> None:
        """Hand the collected writes over to the writer."""
        jobs, self._jobs = self._jobs, []
        if not jobs:
            return
        try:
            self._writer.submit_jobs(jobs)
        except StoreUnavailable as problem:  # It was closed in this turn.
            for job in jobs:
                job.done(None, problem)

    async def _write(
        self, write: Write[T], weight: int = 1, *, urgent: bool = False, apart: bool = False
    ) -> T:
        """With `apart` it has nothing to do with events, which need not be inserted before it."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        done = partial(settle, future)
        self._submit(Job(write, weight, done, buffers=apart, urgent=urgent))
        return await future

    async def _read(self, read: Read[T]) -> T:
        return await self._readers.run(read, self._writer)

    def _announce(self, state: StoreState) -> None:
        for listener in tuple(self._listeners):
            listener(state)
