"""A small number for each session, so that a million events need not repeat its UUID.

The project (working folder), the model and the profile of a session are kept here too, because
search filters by them and usage is summed by them.
"""

from __future__ import annotations

import sqlite3

__all__ = ["describe", "key_of", "take_key"]

_DESCRIBE = (
    "INSERT INTO streams (session, project, model, profile) VALUES (?1, ?2, ?3, ?4)"
    " ON CONFLICT (session) DO UPDATE SET project = coalesce(nullif(?2, ''), project),"
    " model = coalesce(nullif(?3, ''), model), profile = coalesce(nullif(?4, ''), profile)"
    " WHERE ?2 NOT IN ('', project) OR ?3 NOT IN ('', model) OR ?4 NOT IN ('', profile)"
)
"""Sets what is known and differs; a row that stays the same is not written again."""


def key_of(db: sqlite3.Connection, session: str) -> int | None:
    """The number of a session, if it has one."""
    row = db.execute("SELECT key FROM streams WHERE session = ?", (session,)).fetchone()
    return int(row[0]) if row else None


def take_key(db: sqlite3.Connection, session: str) -> int:
    """The number of a session; a new one if it has none."""
    key = key_of(db, session)
    if key is None:
        key = db.execute("INSERT INTO streams (session) VALUES (?)", (session,)).lastrowid
    return int(key or 0)


def describe(
    db: sqlite3.Connection, session: str, project: str, model: str = "", profile: str = ""
) -> None:
    """Store the project, model and profile of a session if they are known."""
    db.execute(_DESCRIBE, (session, project, model, profile))
