"""The snapshots tables: a session at some event, in parts; the last `KEPT` of each session.

The parts are written in several transactions, so that a large snapshot does not delay events; a
snapshot is valid once its row in `snapshots` exists. `version` identifies the code that can read
the parts, and each part has a checksum. A snapshot with any error is ignored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

from fairlead.store.log import StoredSnapshot
from fairlead.store.tables.streams import key_of, take_key

__all__ = ["KEPT", "finish", "latest", "portions", "put_parts"]

KEPT = 2
"""Two, because one could be damaged; more would only use disk space."""

PORTION_BYTES = 1024 * 1024
"""Parts in one transaction: about 10 ms of the writer thread."""


def portions(parts: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
    """The parts in runs of about `PORTION_BYTES`."""
    group: list[bytes] = []
    size = 0
    for part in parts:
        group.append(part)
        size += len(part)
        if size >= PORTION_BYTES:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)


def put_parts(
    session: str, seq: int, first: int, parts: Sequence[bytes], db: sqlite3.Connection
) -> None:
    """Store some parts of an unfinished snapshot; `first` is the number of the first part."""
    stream = take_key(db, session)
    db.executemany(
        "INSERT OR REPLACE INTO snapshot_parts VALUES (?, ?, ?, ?, ?)",
        [
            (stream, seq, number, _checksum(session, seq, number, part), part)
            for number, part in enumerate(parts, first)
        ],
    )


def finish(db: sqlite3.Connection, session: str, snapshot: StoredSnapshot) -> None:
    """Mark a snapshot as complete, and delete the oldest ones."""
    stream, seq, parts = take_key(db, session), snapshot.seq, len(snapshot.parts)
    db.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
        (stream, seq, snapshot.version, parts),
    )
    db.execute(
        "DELETE FROM snapshots WHERE stream = ?1 AND seq NOT IN"
        " (SELECT seq FROM snapshots WHERE stream = ?1 ORDER BY seq DESC LIMIT ?2)",
        (stream, KEPT),
    )
    db.execute(
        "DELETE FROM snapshot_parts WHERE stream = ?1 AND"
        " (seq NOT IN (SELECT seq FROM snapshots WHERE stream = ?1) OR (seq = ?2 AND number >= ?3))",
        (stream, seq, parts),
    )


def latest(db: sqlite3.Connection, session: str, version: str) -> StoredSnapshot | None:
    """The newest complete snapshot of this version."""
    stream = key_of(db, session)
    if stream is None:
        return None
    heads = db.execute(
        "SELECT seq, parts FROM snapshots WHERE stream = ? AND version = ? ORDER BY seq DESC",
        (stream, version),
    ).fetchall()
    for seq, count in heads:
        rows = db.execute(
            "SELECT number, checksum, body FROM snapshot_parts WHERE stream = ? AND seq = ?"
            " ORDER BY number",
            (stream, seq),
        )
        parts = _complete_parts(session, seq, rows)
        if parts is not None and len(parts) == count:
            return StoredSnapshot(seq=seq, version=version, parts=parts)
    return None


def _complete_parts(
    session: str, seq: int, rows: Iterable[tuple[int, int, bytes]]
) -> tuple[bytes, ...] | None:
    parts = []
    for expected, (number, checksum, body) in enumerate(rows):
        if number != expected or type(body) is not bytes:
            return None
        if checksum != _checksum(session, seq, number, body):
            return None
        parts.append(body)
    return tuple(parts)


def _checksum(session: str, seq: int, number: int, part: bytes) -> int:
    return crc32(part, crc32(f"{session}\0{seq}\0{number}".encode()))
