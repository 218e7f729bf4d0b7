"""The lines of the log that affect usage: results of turns, and starts of processes.

Read in pieces over a separate read-only connection, so that a scan of millions of events delays no
other reader. Rows of the events table are numbered in order, and a caller that remembers the last
number reads only new rows. `server/http/usage` computes the sums.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.tables.sessions import RECORDING

__all__ = ["PIECE", "Piece", "UsageLine", "usage_lines"]

PIECE = 50_000
"""Rows scanned at once: about 30 ms."""

_USAGE_CONDITION = (
    # The CLI writes the type of a line first; the caller drops false matches.
    "(direction = 'out' AND instr(substr(line, 1, 64), CAST('\"result\"' AS BLOB)))"
    " OR (direction = 'fact' AND (instr(substr(line, 1, 40), CAST('\"process_started\"' AS BLOB))"
    " OR instr(substr(line, 1, 40), CAST('\"accounted\"' AS BLOB))))"
)


class UsageLine(Struct, frozen=True, kw_only=True):
    """A line that may contain usage, and its session."""

    session: str
    project: str
    """The working folder."""
    profile: str
    direction: str
    at: float
    line: bytes


class Piece(Struct, frozen=True):
    """Some lines, and where the next piece begins."""

    lines: tuple[UsageLine, ...]
    reached: int
    last: int
    """The number of the newest event; if it is lower than before, events were lost."""


def usage_lines(folder: Path, after: int, count: int = PIECE) -> Piece:
    """The usage in the next `count` rows after a number. Blocks: call it in a thread."""
    with closing(connect(folder / DATABASE, True)) as db:
        (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM events").fetchone()
        reached = min(after + count, last)
        return Piece(_between(db, after, reached), max(reached, after), last)


def _between(db: sqlite3.Connection, after: int, to: int) -> tuple[UsageLine, ...]:
    rows = db.execute(
        "SELECT streams.session, streams.project, streams.profile, direction, at, line FROM events"
        " JOIN streams ON streams.key = events.stream"
        f" AND substr(streams.session, 1, {len(RECORDING) + 1}) <> '{RECORDING}-'"
        f" WHERE events.rowid > ? AND events.rowid <= ? AND ({_USAGE_CONDITION}) ORDER BY events.rowid",
        (after, to),
    )
    return tuple(
        UsageLine(
            session=session,
            project=project,
            profile=profile,
            direction=direction,
            at=at,
            line=line,
        )
        for session, project, profile, direction, at, line in rows
    )
