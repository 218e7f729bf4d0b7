"""The store on one machine: a log that loses nothing, and the tables beside it, in SQLite.

    async with SqliteStore(folder) as store:
        seq = await store.append(session, events)    # returns when it is durable

The face of the folder: every method is async and does its work in the one writer thread
(`writer`) or in a small pool of readers (`readers`), never in the event loop. What can go wrong
is in `state`: reading goes on where it can, writing raises `StoreUnavailable`, and the states
that can pass do so without a restart. docs/store.md has the rules (S1 …).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from fairlead.store import (
    audit,
    devices,
    drafts,
    file_usage,
    import_index,
    intents,
    search,
    sessions,
    snapshots,
)
from fairlead.store import events as event_table
from fairlead.store.audit import AuditRecord
from fairlead.store.connection import Connect, connect
from fairlead.store.database import Database
from fairlead.store.devices import Device
from fairlead.store.drafts import Draft
from fairlead.store.file_usage import FileSpent
from fairlead.store.folder import DataFolder
from fairlead.store.import_index import IndexedFile
from fairlead.store.intents import IntentOutcome
from fairlead.store.log import Event, NewEvent, StoredSnapshot
from fairlead.store.migrations import MIGRATIONS, Migration
from fairlead.store.readers import Read, Readers
from fairlead.store.search import Filters, Hit
from fairlead.store.sessions import SessionRow
from fairlead.store.state import StoreState
from fairlead.store.writer import Counters, Pace, Write, Writer

__all__ = ["SqliteStore"]

T = TypeVar("T")

INDEXED_AT_ONCE = 100
"""Items in one transaction of the search index: about 20 ms, so that events need not wait long."""
COUNTED_AT_ONCE = 1_000
"""Answers in one transaction of `put_file_usage`, for the same reason."""


class SqliteStore:
    """Implements `Log`, and holds sessions, devices, audit, drafts, intents and search.

    `folder` belongs to one store at a time; a second one raises `FolderInUse`, a folder that
    cannot be trusted `FolderRefused`. `survive_power_loss` waits for the disk at each commit, of
    which there are at most some dozens a second. Without it, what was acknowledged survives the
    end of the process in any way, but the last moments before a power cut may be missing (the
    log is then shorter, never torn).
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
        self._writer = Writer(self._database, self._pace, self._announce)
        self._readers = Readers(self._database.open_reader)
        self._listeners: list[Callable[[StoreState], None]] = []

    async def start(self) -> SqliteStore:
        """Claim the folder, open or make the database, bring it up to date.

        Raises only if the folder is refused or in use; a database that is locked, damaged or
        newer is told by `state`.
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
        """Store what was already given, then let go of everything."""
        # Readers first: the last to close must be one that can write, or the write-ahead log stays.
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
        """Changes when numbers start anew; a client's old positions are then void."""
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
        """Call back in the event loop whenever the state changes; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def start_anew(self) -> Path:
        """Put a damaged or newer database aside, untouched, and begin an empty one.

        Returns where the old one is now. The epoch changes.
        """
        kept = await self._writer.start_anew()
        await self._readers.close()
        self._readers = Readers(self._database.open_reader)
        return kept

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

        `intent` and `audit` are stored in the same transaction: all of it or nothing. Raises
        `StoreUnavailable`, and then nothing was stored.
        """
        rows = tuple(events)

        def write(db: Any) -> int:
            last = event_table.append(db, session, rows)
            _along(db, intent, audit)
            return last

        return await self._write(write, weight=len(rows))

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""
        return await self._read(lambda db: event_table.read(db, session, after, limit))

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""
        return await self._read(lambda db: event_table.last_seq(db, session))

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot beside the events; it may be forgotten, the events may not.

        Some parts at a time: a long one holds up no append.
        """
        number = 0
        for parts in snapshots.portions(snapshot.parts):
            await self._write(partial(snapshots.put_parts, session, snapshot.seq, number, parts))
            number += len(parts)
        await self._write(lambda db: snapshots.finish(db, session, snapshot))

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest snapshot of a session that this version made and that is whole."""
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
            _along(db, intent, audit)

        await self._write(write)

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
        """Take a device's token away; False if there was none to take."""
        when = time.time() if at is None else at
        return await self._write(lambda db: devices.revoke(db, device, when))

    # Audit

    async def record_audit(self, record: AuditRecord) -> None:
        """Append to the audit."""
        await self._write(lambda db: audit.put(db, record))

    async def audit(self, session: str | None = None, limit: int = 100) -> list[AuditRecord]:
        """The last records of a session, or of everything, the newest first."""
        return await self._read(lambda db: audit.newest(db, session, limit))

    # Drafts

    async def draft(self, session: str, device: str) -> Draft | None:
        """What a device has typed into a session and not sent."""
        return await self._read(lambda db: drafts.find(db, session, device))

    async def drafts(self, session: str) -> list[Draft]:
        """The drafts of all devices, the newest first."""
        return await self._read(lambda db: drafts.of_session(db, session))

    async def put_draft(self, draft: Draft) -> None:
        """Keep a draft; an empty one is forgotten."""
        await self._write(lambda db: drafts.put(db, draft))

    # Intents

    async def intent_result(self, client: str, n: int) -> bytes | None:
        """The JSON of what became of an intent, if it was acted on."""
        return await self._read(lambda db: intents.find(db, client, n))

    async def put_intent_result(self, client: str, n: int, result_json: bytes) -> None:
        """Keep what became of an intent; the first result stays.

        Where the intent appends events or changes a session, give it to that call as `intent`
        instead: then both are stored or neither.
        """
        outcome = IntentOutcome(client=client, n=n, result=result_json)
        await self._write(lambda db: intents.put(db, outcome))

    async def last_intent(self, client: str) -> int:
        """The highest n of a client that was acted on."""
        return await self._read(lambda db: intents.last(db, client))

    # Search

    async def index_items(
        self, session: str, items: Sequence[Any], *, project: str = "", model: str = ""
    ) -> None:
        """Make finished items findable: rows of a transcript, as structs or plain JSON.

        Items that are not finished are passed by. An item that comes again replaces itself.
        `project` is the working folder, for sessions that `put_session` does not know; `model`
        is what it uses now. Both can be searched by.
        """
        for start in range(0, len(items), INDEXED_AT_ONCE):
            part = search.entries(items[start : start + INDEXED_AT_ONCE])
            if part:
                put = partial(search.put, session, part, project, model)
                await self._write(put, weight=len(part))

    async def forget_items(self, session: str) -> None:
        """Let nothing of a session be found any more; its log, if it has one, stays."""
        await self._write(partial(search.forget, session))

    async def search(self, query: str, filters: Filters | None = None) -> list[Hit]:
        """What matches all words of a query; any text is a query."""
        return await self._read(lambda db: search.find(db, query, filters or Filters()))

    async def put_file_usage(
        self, session: str, spent: Sequence[FileSpent], *, project: str = ""
    ) -> None:
        """Keep what the files of a session of the CLI's own say that it used."""
        for start in range(0, len(spent), COUNTED_AT_ONCE):
            part = spent[start : start + COUNTED_AT_ONCE]
            await self._write(partial(file_usage.put, session, part, project), weight=len(part))

    # The index of the CLI's own transcript files (`imports`)

    async def indexed_files(self, root: str) -> list[IndexedFile]:
        """What is known of the transcript files under a folder."""
        return await self._read(lambda db: import_index.rows(db, root))

    async def put_indexed_files(self, root: str, files: Sequence[IndexedFile]) -> None:
        """Keep what is known of some files."""
        await self._write(lambda db: import_index.put(db, root, files))

    async def forget_indexed_files(self, root: str, paths: Sequence[str]) -> None:
        """Forget files that are gone."""
        await self._write(lambda db: import_index.forget(db, root, paths))

    # Within

    async def _write(self, write: Write[T], weight: int = 1) -> T:
        return await self._writer.submit(write, weight)

    async def _read(self, read: Read[T]) -> T:
        return await self._readers.run(read, self._writer)

    def _announce(self, state: StoreState) -> None:
        for listener in tuple(self._listeners):
            listener(state)


def _along(db: Any, intent: IntentOutcome | None, records: Sequence[AuditRecord]) -> None:
    if intent is not None:
        intents.put(db, intent)
    for record in records:
        audit.put(db, record)
