"""The deletions table: sessions that a user deleted and that can still be restored for a moment.

A row is stored when the user deletes a session, and removed when the user undoes that or when the
session is erased. `begun` is set when the undo period is over: from then on the session is erased
whatever happens, also by the next process. The streams table keeps the session's number, so that
no other session gets it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from fairlead.store.tables import search
from fairlead.store.tables.streams import key_of

__all__ = [
    "ERASED_AT_ONCE",
    "KEPT_TABLES",
    "OWN_TABLES",
    "Deletion",
    "begin",
    "erase_events",
    "erase_rest",
    "put",
    "rows",
    "undo",
]

ERASED_AT_ONCE = 5_000
"""Events that one transaction deletes: about 20 ms, so that the events of others are not delayed."""

OWN_TABLES = (
    "drafts", "comments", "comment_files", "notices", "notice_marks", "deletions",
)  # fmt: skip
"""Tables whose rows belong to one session and are deleted with it."""
KEPT_TABLES = ("streams", "audit", "spending", "schedule_runs")
"""Tables that keep what they say of a session: its number, what was done, and what was spent."""


class Deletion(Struct, frozen=True, kw_only=True):
    """A session that is to be deleted; `files` says whether the CLI's own files are deleted too."""

    session: str
    at: float
    files: bool = False
    device: str = ""
    begun: bool = False


def put(db: sqlite3.Connection, deletions: Sequence[Deletion]) -> None:
    """Store deletions; one that is stored already stays as it is."""
    db.executemany(
        "INSERT OR IGNORE INTO deletions (session, at, files, device, begun)"
        " VALUES (?, ?, ?, ?, 0)",
        [(each.session, each.at, each.files, each.device) for each in deletions],
    )


def undo(db: sqlite3.Connection, sessions: Sequence[str]) -> list[str]:
    """Remove deletions that have not begun; return their sessions."""
    undone = []
    for session in sessions:
        deleted = db.execute("DELETE FROM deletions WHERE session = ? AND begun = 0", (session,))
        if deleted.rowcount:
            undone.append(session)
    return undone


def begin(db: sqlite3.Connection, session: str) -> bool:
    """Mark a deletion as begun; False if there is none."""
    return bool(db.execute("UPDATE deletions SET begun = 1 WHERE session = ?", (session,)).rowcount)


def rows(db: sqlite3.Connection) -> list[Deletion]:
    """All deletions, the oldest first."""
    entries = db.execute(
        "SELECT session, at, files, device, begun FROM deletions ORDER BY at, session"
    )
    return [
        Deletion(session=session, at=at, files=bool(files), device=device, begun=bool(begun))
        for session, at, files, device, begun in entries
    ]


def erase_events(db: sqlite3.Connection, session: str) -> bool:
    """Delete the last events of a session; False if there are none left."""
    stream = key_of(db, session)
    if stream is None:
        return False
    erased = db.execute(
        "DELETE FROM events WHERE stream = ? AND seq >"
        " (SELECT coalesce(max(seq), 0) - ? FROM events WHERE stream = ?)",
        (stream, ERASED_AT_ONCE, stream),
    )
    return bool(erased.rowcount)


def erase_rest(db: sqlite3.Connection, session: str) -> None:
    """Delete everything else of a session, and its deletion."""
    stream = key_of(db, session)
    if stream is not None:
        for table in ("snapshots", "snapshot_parts"):
            db.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))
    search.forget(session, db)
    db.execute(
        "DELETE FROM deliveries WHERE notice IN (SELECT id FROM notices WHERE session = ?)",
        (session,),
    )
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    for table in OWN_TABLES:
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
