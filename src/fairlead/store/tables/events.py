"""The events table: append-only, numbered without gaps, with a checksum for each event."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from zlib import crc32

from fairlead.store.database.state import Damaged
from fairlead.store.log import Event, NewEvent
from fairlead.store.tables.streams import key_of, take_key

__all__ = ["EventWriter", "checksum", "last_seq", "read"]

INSERTED_AT_ONCE = 64
"""Most rows of one statement. Python hands over to its other threads at each statement, which costs
more than the insertion of a row."""


class EventWriter:
    """Numbers events and inserts them, those of one transaction together.

    Belongs to the one connection that writes. `flush` must be called before the transaction is
    committed or something in it reads events, and `forget` when it is rolled back.
    """

    def __init__(self) -> None:
        self._heads: dict[str, tuple[int, int]] = {}
        """For each session its key and its last number, as of the running transaction."""
        self._rows: list[tuple[int, int, str, float, bytes, int]] = []

    def append(self, db: sqlite3.Connection, session: str, events: Sequence[NewEvent]) -> int:
        """Give the next numbers; returns the last one."""
        head = self._heads.get(session)
        if head is None:
            stream = take_key(db, session)
            head = stream, _last(db, stream)
        stream, last = head
        for event in events:
            last += 1
            direction, line, at = event.direction, event.line, event.at
            written = crc32(line, crc32(f"{session}\0{last}\0{direction}\0{at!r}".encode()))
            self._rows.append((stream, last, direction, at, line, written))
        self._heads[session] = stream, last
        return last

    def flush(self, db: sqlite3.Connection) -> None:
        """Insert what was appended."""
        rows, self._rows = self._rows, []
        start, count = 0, INSERTED_AT_ONCE
        while start < len(rows):
            # Only sizes that are powers of two, so that few statements are prepared.
            while count > len(rows) - start:
                count //= 2
            part = rows[start : start + count]
            db.execute(_insert(count), [value for row in part for value in row])
            start += count

    def forget_session(self, session: str) -> None:
        """Events of this session were deleted: its last number is read again."""
        self._heads.pop(session, None)

    def forget(self) -> None:
        """The transaction was rolled back, or the file is another one."""
        self._heads.clear()
        self._rows.clear()


@cache
def _insert(count: int) -> str:
    return "INSERT INTO events VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * count)


def last_seq(db: sqlite3.Connection, session: str) -> int:
    """The number of the last event; 0 if there is none."""
    stream = key_of(db, session)
    return 0 if stream is None else _last(db, stream)


def read(db: sqlite3.Connection, session: str, after: int, limit: int) -> list[Event]:
    """The events that follow a number, in order; raises `Damaged` if one is missing or changed."""
    stream = key_of(db, session)
    if stream is None:
        return []
    rows = db.execute(
        "SELECT seq, direction, line, at, checksum FROM events"
        " WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?",
        (stream, max(after, 0), limit),
    ).fetchall()
    events = []
    for expected, (seq, direction, line, at, stored_checksum) in enumerate(rows, max(after, 0) + 1):
        if seq != expected:
            raise Damaged(f"event {expected} of session {session} is missing")
        event = Event(seq, direction, line, at)
        if type(line) is not bytes or checksum(session, event) != stored_checksum:
            raise Damaged(f"event {seq} of session {session} was changed")
        events.append(event)
    return events


def checksum(session: str, event: Event) -> int:
    """A checksum of the event and its session: a damaged index could point to another session."""
    head = f"{session}\0{event.seq}\0{event.direction}\0{event.at!r}"
    return crc32(event.line, crc32(head.encode()))


def _last(db: sqlite3.Connection, stream: int) -> int:
    row = db.execute("SELECT max(seq) FROM events WHERE stream = ?", (stream,)).fetchone()
    return int(row[0] or 0)
