"""What the database and the CLI's folder contain about some sessions, to compare before and
after."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from fairlead.store.database.folder import DATABASE

__all__ = ["files_below", "stored_rows"]

BY_STREAM = ("events", "snapshots", "snapshot_parts", "entries")


def stored_rows(data: Path, sessions: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Every row of these sessions by session and table, each as the text of its values."""
    found: dict[str, dict[str, list[str]]] = {}
    with closing(sqlite3.connect(f"file:{data / DATABASE}?mode=ro", uri=True)) as db:
        for session in sessions:
            tables = {
                table: _rows(
                    db,
                    f"SELECT t.* FROM {table} t JOIN streams ON key = stream WHERE session = ?",
                    session,
                )
                for table in BY_STREAM
            }
            tables["sessions"] = _rows(db, "SELECT * FROM sessions WHERE id = ?", session)
            tables["drafts"] = _rows(db, "SELECT * FROM drafts WHERE session = ?", session)
            found[session] = tables
    return found


def _rows(db: sqlite3.Connection, query: str, session: str) -> list[str]:
    return sorted(repr(row) for row in db.execute(query, (session,)))


def files_below(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder, by its path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
