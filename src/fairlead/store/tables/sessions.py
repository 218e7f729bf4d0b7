"""The sessions table: the data for a list of sessions and for resuming one after a restart.

It has only data that must outlive the process; data that changes with every event is in the log.
A row is stored as JSON, so a new field needs no migration; columns exist for lookups.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.store.tables import streams

__all__ = ["RECORDING", "MovedTo", "Origin", "SessionRow", "WorktreeRow", "find", "put", "rows"]

RECORDING = "recording"
"""The source of an imported recording, and the first part of its session's id: a recording was
spent elsewhere, so its usage is not counted (`usage`)."""


class Origin(Struct, frozen=True, kw_only=True):
    """Where a fork branches off: the CLI's id of the other session, and the last shared line."""

    cli_session_id: str
    at: str | None = None


class WorktreeRow(Struct, frozen=True, kw_only=True):
    """The linked worktree that a session works in."""

    repository: str
    """The main working tree of the repository."""
    path: str
    branch: str
    base: str
    """The branch that it was made from, and is merged into."""
    state: str = "open"
    """`open`, or how it ended: `merged`, `kept` or `discarded`."""
    setup: str = ""
    """The state of the setup command: empty if there is none, `running`, `done` or `failed`."""
    setup_output: str = ""
    """The end of what the setup command printed."""


class MovedTo(Struct, frozen=True, kw_only=True):
    """The machine of a fleet that a session was moved to. What is left here can only be read."""

    node: str
    """The id of the machine."""
    name: str
    """What people call it."""
    generation: int
    """The generation of the session there."""
    move: str = ""
    """The id of the move; empty if the machine adopted the session."""
    link: str = ""
    """The address of the session at a gateway; empty if unknown."""
    at: float = 0.0


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
    """Set for a fork whose CLI has not started: until then there is no file under its own id."""
    items: int = 0
    turns: int = 0
    """Number of turns that have begun; without one, the session cannot be resumed."""
    finished: float | None = None
    """When the last turn ended; None while one runs."""
    outcome: str | None = None
    """How the last turn ended."""
    last_sentence: str = ""
    """The end of the model's last text."""
    tasks_done: int = 0
    tasks_total: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    base_commit: str | None = None
    """The commit that was checked out when the session first started, if there was one."""
    tags: tuple[str, ...] = ()
    worktree: WorktreeRow | None = None
    generation: int = 0
    """How often the session has moved to another machine."""
    moved: MovedTo | None = None
    """Set if another machine runs the session now."""
    options: dict[str, Any] = {}
    """Options to pass to the CLI again after a restart: it restores neither mode nor model
    (CLI-701)."""

    @property
    def profile(self) -> str:
        """The profile that its CLI uses; empty for the default one."""
        return str(self.options.get("profile") or "")


_decode = msgspec.json.Decoder(SessionRow).decode


def put(db: sqlite3.Connection, row: SessionRow) -> None:
    """Insert or replace a row by its id."""
    streams.describe(db, row.id, row.cwd, row.model or "", row.profile)
    db.execute(
        "INSERT INTO sessions (id, last_activity, row) VALUES (?, ?, ?) ON CONFLICT (id)"
        " DO UPDATE SET last_activity = excluded.last_activity, row = excluded.row",
        (row.id, row.last_activity, msgspec.json.encode(row)),
    )


def find(db: sqlite3.Connection, session: str) -> SessionRow | None:
    """One row by its id."""
    row = db.execute("SELECT row FROM sessions WHERE id = ?", (session,)).fetchone()
    return _decode(row[0]) if row else None


def rows(db: sqlite3.Connection) -> list[SessionRow]:
    """All rows, the last active first."""
    rows = db.execute("SELECT row FROM sessions ORDER BY last_activity DESC, id")
    return [_decode(row) for (row,) in rows]
