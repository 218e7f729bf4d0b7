"""The sessions table: what a list of sessions shows, and what a restart needs to resume one.

Only what must outlive the process; what changes with every event is in the log. The row is kept
as JSON, so a new field needs no migration; columns exist for what is looked up.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.store import streams

__all__ = ["Origin", "SessionRow", "find", "put", "rows"]


class Origin(Struct, frozen=True, kw_only=True):
    """Where a fork branches off: the CLI's id of the other session, and the last line it knows."""

    cli_session_id: str
    at: str | None = None


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session of the server; `id` never changes, the CLI's own id may."""

    id: str
    cwd: str = ""
    title: str | None = None
    cli_session_id: str | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    agent: str = ""
    source: str = "fairlead"
    state: str = ""
    """The last state that was known when the row was written."""
    cost_usd: float = 0.0
    created: float = 0.0
    last_activity: float = 0.0
    pinned: bool = False
    archived: bool = False
    parent: str | None = None
    """The session this one was forked from."""
    origin: Origin | None = None
    """Of a fork whose CLI has not begun yet: until then there is nothing under its own id."""
    items: int = 0
    options: dict[str, Any] = {}
    """What a restart must pass to the CLI again; TRUTH 1.7: the CLI restores neither mode nor model."""


_decode = msgspec.json.Decoder(SessionRow).decode


def put(db: sqlite3.Connection, row: SessionRow) -> None:
    """Store a row in place of the one with the same id."""
    streams.place(db, row.id, row.cwd, row.model or "")
    db.execute(
        "INSERT INTO sessions (id, last_activity, row) VALUES (?, ?, ?) ON CONFLICT (id)"
        " DO UPDATE SET last_activity = excluded.last_activity, row = excluded.row",
        (row.id, row.last_activity, msgspec.json.encode(row)),
    )


def find(db: sqlite3.Connection, session: str) -> SessionRow | None:
    """One row by its id."""
    found = db.execute("SELECT row FROM sessions WHERE id = ?", (session,)).fetchone()
    return _decode(found[0]) if found else None


def rows(db: sqlite3.Connection) -> list[SessionRow]:
    """All rows, the last active first."""
    found = db.execute("SELECT row FROM sessions ORDER BY last_activity DESC, id")
    return [_decode(row) for (row,) in found]
