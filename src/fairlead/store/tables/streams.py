"""A small number for each session, so that a million events need not repeat its UUID.

The project (working folder) and the model of a session are kept here too, because search filters
by them.
"""

from __future__ import annotations

import sqlite3

__all__ = ["describe", "key_of", "take_key"]


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


def describe(db: sqlite3.Connection, session: str, project: str, model: str = "") -> int:
    """Store the project and the model of a session if they are known; returns its number."""
    key = take_key(db, session)
    if project:
        db.execute(
            "UPDATE streams SET project = ? WHERE key = ? AND project <> ?", (project, key, project)
        )
    if model:
        db.execute("UPDATE streams SET model = ? WHERE key = ? AND model <> ?", (model, key, model))
    return key
