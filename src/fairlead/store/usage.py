"""The lines of the log that speak of money: results of turns, and starts of processes.

Read in pieces over a connection of its own that cannot write, so that a look through millions
of events holds up nobody. Rows of the events table are numbered in the order they came, and a
caller that remembers the last number reads only what is new. Knows no sums; `server/usage` does.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from fairlead.store.connection import connect
from fairlead.store.folder import DATABASE

__all__ = ["PIECE", "Piece", "TellingLine", "telling_lines"]

PIECE = 50_000
"""Rows looked through at once: about 30 ms."""

_TELLING = (
    # The CLI writes the type of a line first; what only looks like one is sorted out by the reader.
    "(direction = 'out' AND instr(substr(line, 1, 64), CAST('\"result\"' AS BLOB)))"
    " OR (direction = 'fact' AND (instr(substr(line, 1, 40), CAST('\"process_started\"' AS BLOB))"
    " OR instr(substr(line, 1, 40), CAST('\"accounted\"' AS BLOB))))"
)


class TellingLine(Struct, frozen=True, kw_only=True):
    """A line that may say what something cost, and whose it is."""

    session: str
    project: str
    """The working folder."""
    direction: str
    at: float
    line: bytes


class Piece(Struct, frozen=True):
    """Some lines, and where the next piece begins."""

    lines: tuple[TellingLine, ...]
    reached: int
    last: int
    """The number of the newest event; below a number that was reached before, events are gone."""


def telling_lines(folder: Path, after: int, count: int = PIECE) -> Piece:
    """What the next `count` rows after a number tell. Blocks: call it in a thread."""
    with closing(connect(folder / DATABASE, True)) as db:
        (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM events").fetchone()
        reached = min(after + count, last)
        return Piece(_between(db, after, reached), max(reached, after), last)


def _between(db: sqlite3.Connection, after: int, to: int) -> tuple[TellingLine, ...]:
    found = db.execute(
        "SELECT streams.session, streams.project, direction, at, line FROM events"
        " JOIN streams ON streams.key = events.stream"
        f" WHERE events.rowid > ? AND events.rowid <= ? AND ({_TELLING}) ORDER BY events.rowid",
        (after, to),
    )
    return tuple(
        TellingLine(session=session, project=project, direction=direction, at=at, line=line)
        for session, project, direction, at, line in found
    )
