"""Bring a database to the newest schema: one transaction, with a copy of the old one first.

The version is SQLite's `user_version`, which is part of the transaction: a process that dies in
the middle leaves the old schema whole. A database of a newer Fairlead is not touched.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.store.folder import own_file
from fairlead.store.migrations import Migration
from fairlead.store.state import NewerSchema

__all__ = ["bring_up_to_date", "refuse_newer", "version_of"]


def version_of(db: sqlite3.Connection) -> int:
    """The schema a database has; 0 for an empty file."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(db: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Raise `NewerSchema` before anything of a database is touched that we cannot know."""
    newest = migrations[-1].number
    version = version_of(db)
    if version > newest:
        raise NewerSchema(
            f"the database has schema {version}, made by a newer Fairlead; this one knows up to "
            f"{newest}. Install the newer one, or give another data folder. Nothing was changed."
        )


def bring_up_to_date(
    db: sqlite3.Connection,
    migrations: Sequence[Migration],
    backup: Callable[[int], Path],
) -> None:
    """Apply the steps a database lacks; `backup` names the file for a copy of an old version."""
    version = version_of(db)
    if version >= migrations[-1].number:
        return
    if version > 0:
        _copy(db, backup(version))
    _apply(db, [one for one in migrations if one.number > version])


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
    """Under another name first, so that a file with the right name is a whole copy."""
    for left in to.parent.glob("*.part*"):
        left.unlink()
    part = to.with_name(f"{to.name}.part")
    os.close(own_file(part))
    copy = sqlite3.connect(part)
    try:
        db.backup(copy)
    finally:
        copy.close()
    part.rename(to)
