"""An archive of logs at a gateway: copies that stay when the bus has discarded its own.

The stream on the bus is bounded; the archive reads it regularly and stores every event in an SQLite
database in a folder of the gateway (`fairlead gateway --archive DIR`). The sessions of a machine that
is away or was removed stay listed, can be read and searched, and can be adopted from here. Only logs
that their machine copies to the bus are archived. A session that is deleted on its machine is deleted
here too.

A session of the archive is called `<node>.<session>`, with a number if the log has a gap or begins
again: then the older part stays, and the newest part is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairlead.fleet.bus.bus import Bus, BusError, Entry
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.replica_log import CopiedLog
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.log_batch import LogBatch, UnreadableBatch, decode_batch
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.session.loading import Loaded
from fairlead.store.log import Event, NewEvent, StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import Filters
from fairlead.store.tables.sessions import SessionRow

__all__ = ["LogArchive"]

log = logging.getLogger("fairlead.fleet")

READ_EVERY_S = 5.0
ALL_EVERY = 12
"""Every how many rounds the sessions are read whose rows did not change."""
RECORDS = 20
READ_AT_ONCE = 1_000
INDEXED = 500
"""Items at the end of a session that are indexed again, because they may have changed."""


class Position(Struct, frozen=True, kw_only=True):
    """How far the archive of a session is; stored in its row."""

    node: str
    session: str
    record: int = 0
    epoch: str = ""
    generation: int = 0
    first: int = 0
    """The number before the first event of this part."""
    part: int = 0
    indexed: int = 0
    name: str = ""
    """What people call the machine."""

    @property
    def key(self) -> str:
        """The name of this part in the database."""
        name = f"{self.node}.{self.session}"
        return f"{name}.{self.part}" if self.part else name


class LogArchive:
    """The archive of one gateway."""

    def __init__(self, folder: Path, bus: Bus, directory: Directory) -> None:
        self._store = SqliteStore(folder)
        self._bus = bus
        self._directory = directory
        self._positions: dict[tuple[str, str], Position] = {}
        self._rows: dict[tuple[str, str], ListedSession] = {}
        self._revisions: dict[str, int] = {}

    async def start(self) -> None:
        """Open the database and list what is in it."""
        await self._store.start()
        for row in await self._store.sessions():
            position = msgspec.convert(row.options["position"], Position)
            key = position.node, position.session
            if key not in self._positions or position.part > self._positions[key].part:
                self._positions[key] = position
                self._rows[key] = msgspec.convert(row.options["row"], ListedSession)
        self.list_lost()

    async def close(self) -> None:
        """Close the database."""
        await self._store.close()

    async def run(self) -> None:
        """Read the bus until cancelled."""
        rounds = 0
        while True:
            with contextlib.suppress(BusError, StoreUnavailable):
                await self.read(everything=rounds % ALL_EVERY == 0)
            self.list_lost()
            rounds += 1
            await asyncio.sleep(READ_EVERY_S)

    # Reading

    async def copied(self, node: str, session: str) -> CopiedLog | None:
        """The archived log of a session; None if there is none."""
        position = self._positions.get((node, session))
        if position is None:
            return None
        events: list[Event] = []
        while part := await self._store.read(position.key, len(events), READ_AT_ONCE):
            events += part
        numbered = [structs.replace(each, seq=each.seq + position.first) for each in events]
        return CopiedLog(
            events=numbered,
            generation=position.generation,
            first=position.first,
            epoch=position.epoch,
        )

    async def search(self, query: str, filters: Filters, away: set[str]) -> dict[str, Any]:
        """The hits in sessions of machines that cannot be asked, by machine."""
        hits_by_node: dict[str, Any] = {}
        for hit in await self._store.search(query, filters):
            node, session = hit.session.split(".")[:2]
            if node in away:
                answer = hits_by_node.setdefault(node, {"hits": []})
                answer["hits"].append({**msgspec.to_builtins(hit), "session": session})
        return hits_by_node

    def list_lost(self) -> None:
        """List the machines that the fleet has no more, and whose sessions are here."""
        nodes: dict[str, list[ListedSession]] = {}
        for (node, session), row in self._rows.items():
            if self._positions[node, session].generation >= row.generation:
                nodes.setdefault(node, []).append(row)
        for node, rows in nodes.items():
            entry = self._directory.node(node)
            if entry is None or (not entry.lobby.is_known and not entry.stored):
                name = next(p.name for (each, _), p in self._positions.items() if each == node)
                self._directory.enroll(node, name)
                self._directory.stored(node, rows)

    # Writing

    async def read(self, *, everything: bool = True) -> None:
        """Store what is new on the bus."""
        for entry in await self._bus.bucket("rows").entries():
            changed = self._revisions.get(entry.key) != entry.revision
            if entry.value is None or not (changed or everything):
                continue
            try:
                await self._read_session(entry)
            except (UnreadableBatch, msgspec.DecodeError, ValueError) as problem:
                log.warning("the log %s cannot be archived: %s", entry.key, problem)
            self._revisions[entry.key] = entry.revision

    async def _read_session(self, entry: Entry) -> None:
        node, _, session = entry.key.partition(".")
        row = msgspec.json.decode(entry.value or b"", type=ListedSession)
        known = self._directory.node(node)
        name = node if known is None else known.name
        position = self._positions.get((node, session)) or Position(node=node, session=session)
        position = structs.replace(position, name=name)
        stream, subject = self._bus.stream(subjects.LOG_STREAM), subjects.log(node, session)
        changed = False
        while records := await stream.read(subject, position.record, RECORDS):
            for record in records:
                try:
                    batch = decode_batch(record.payload)
                except UnreadableBatch as problem:
                    log.warning("record %d of %s is ignored: %s", record.number, subject, problem)
                else:
                    position = await self._take(position, batch)
                position = structs.replace(position, record=record.number)
            changed = True
            await self._keep(position, row)
        if changed and position.epoch:
            await self._index(position, row)

    async def _take(self, position: Position, batch: LogBatch) -> Position:
        if batch.deleted:
            await self._erase(position)
            return Position(node=position.node, session=position.session, name=position.name)
        if batch.generation < position.generation:
            return position
        last = position.first + await self._store.last_seq(position.key)
        new_log = batch.epoch != position.epoch
        if new_log or batch.after > last:
            part = position.part + 1 if position.epoch else 0
            position = structs.replace(
                position, part=part, first=batch.after, epoch=batch.epoch, indexed=0
            )
            last = batch.after
        position = structs.replace(position, generation=batch.generation)
        new = [
            NewEvent(event.direction, event.line, event.at)
            for event in batch.events
            if event.seq > last
        ]
        if new:
            await self._store.append(position.key, new)
        return position

    async def _keep(self, position: Position, row: ListedSession) -> None:
        key = position.node, position.session
        if not position.epoch:
            self._positions.pop(key, None)
            self._rows.pop(key, None)
            return
        self._positions[key], self._rows[key] = position, row
        stored = SessionRow(
            id=position.key,
            cwd=row.cwd,
            model=row.model,
            last_activity=row.last_activity or time.time(),
            options={
                "position": msgspec.to_builtins(position),
                "row": msgspec.to_builtins(row),
            },
        )
        await self._store.put_session(stored)

    async def _erase(self, position: Position) -> None:
        for part in range(position.part + 1):
            await self._store.erase_session(structs.replace(position, part=part).key)

    async def _index(self, position: Position, row: ListedSession) -> None:
        loaded = await Loaded.from_log(self._store, position.key)
        ids = loaded.transcript.item_ids
        first = max(0, position.indexed - INDEXED)
        items = [item for each in ids[first:] if (item := loaded.transcript.item(each)) is not None]
        await self._store.index_items(
            position.key, items, project=row.cwd, model=row.model or "", profile=row.profile
        )
        await self._keep(structs.replace(position, indexed=len(ids)), row)
