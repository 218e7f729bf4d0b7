"""Migrates a database to the newest schema in one transaction, after a backup of the old one.

The version is SQLite's `user_version`, which is part of the transaction: a process that dies
during the migration leaves the old schema intact. A database of a newer Fairlead is not changed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.store.database.folder import own_file
from fairlead.store.database.migrations import Migration
from fairlead.store.database.state import Foreign, NewerSchema

__all__ = ["bring_up_to_date", "refuse_foreign", "refuse_newer", "version_of"]


def version_of(db: sqlite3.Connection) -> int:
    """The schema version of a database; 0 for an empty file."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(db: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Raise `NewerSchema` if a newer Fairlead made the database; it is not changed."""
    newest = migrations[-1].number
    version = version_of(db)
    if version > newest:
        raise NewerSchema(
            f"the database has schema {version}, made by a newer Fairlead; this one knows up to "
            f"{newest}. Install the newer one, or use another data folder. Nothing was changed."
        )


def refuse_foreign(db: sqlite3.Connection) -> None:
    """Raise `Foreign` for a database with tables of another program; it is not changed."""
    tables = {str(name) for (name,) in db.execute("SELECT name FROM sqlite_master")}
    is_fairlead = "meta" in tables
    if (tables or version_of(db)) and not is_fairlead:
        raise Foreign("it is a database of another program, not one of Fairlead.")


def bring_up_to_date(
    db: sqlite3.Connection,
    migrations: Sequence[Migration],
    backup: Callable[[int], Path],
) -> None:
    """Apply the missing steps; `backup` returns the path for a copy of an old version."""
    version = version_of(db)
    if version >= migrations[-1].number:
        return
    if version > 0:
        _copy(db, backup(version))
    _apply(db, [migration for migration in migrations if migration.number > version])


def _apply(db: sqlite3.Connection, steps: Sequence[Migration]) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in steps:
            for statement in step.statements:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {steps[-1].number}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _copy(db: sqlite3.Connection, to: Path) -> None:
    """Written under another name first, so that a file with the final name is complete."""
    for leftover in to.parent.glob("*.part*"):
        leftover.unlink()
    part = to.with_name(f"{to.name}.part")
    os.close(own_file(part))
    copy = sqlite3.connect(part)
    try:
        db.backup(copy)
    finally:
        copy.close()
    part.rename(to)
