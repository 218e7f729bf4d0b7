"""The events table: appended, numbered without holes, read back exactly or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from zlib import crc32

from fairlead.store.log import Event, NewEvent
from fairlead.store.state import Damaged
from fairlead.store.streams import key_of, take_key

__all__ = ["append", "checksum", "last_seq", "read"]


def append(db: sqlite3.Connection, session: str, events: Sequence[NewEvent]) -> int:
    """Give the next numbers and store; returns the last number."""
    stream = take_key(db, session)
    last = _last(db, stream)
    db.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                stream,
                seq,
                one.direction,
                one.at,
                one.line,
                checksum(session, Event(seq, one.direction, one.line, one.at)),
            )
            for seq, one in enumerate(events, last + 1)
        ],
    )
    return last + len(events)


def last_seq(db: sqlite3.Connection, session: str) -> int:
    """The number of the last event; 0 if there is none."""
    stream = key_of(db, session)
    return 0 if stream is None else _last(db, stream)


def read(db: sqlite3.Connection, session: str, after: int, limit: int) -> list[Event]:
    """The events that follow a number, in order; raises `Damaged` rather than leave one out."""
    stream = key_of(db, session)
    if stream is None:
        return []
    found = db.execute(
        "SELECT seq, direction, line, at, checksum FROM events"
        " WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?",
        (stream, max(after, 0), limit),
    ).fetchall()
    events = []
    for expected, (seq, direction, line, at, written) in enumerate(found, max(after, 0) + 1):
        if seq != expected:
            raise Damaged(f"event {expected} of session {session} is missing")
        event = Event(seq, direction, line, at)
        if type(line) is not bytes or checksum(session, event) != written:
            raise Damaged(f"event {seq} of session {session} was changed")
        events.append(event)
    return events


def checksum(session: str, event: Event) -> int:
    """Of the whole event and of whose it is: a damaged index leads to an event of another."""
    head = f"{session}\0{event.seq}\0{event.direction}\0{event.at!r}"
    return crc32(event.line, crc32(head.encode()))


def _last(db: sqlite3.Connection, stream: int) -> int:
    found = db.execute("SELECT max(seq) FROM events WHERE stream = ?", (stream,)).fetchone()
    return int(found[0] or 0)
