"""The database file: made, opened, checked, marked as in use, put aside when it is damaged.

Used by the writer thread alone, but for `open_reader`, which opens for a reader. The epoch is
kept here. It changes with the file, and after a power cut: the last events may then be missing
and their numbers be given to others.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from fairlead.store.connection import Connect
from fairlead.store.folder import DATABASE, FolderRefused, own_file
from fairlead.store.migrations import Migration
from fairlead.store.schema import bring_up_to_date, refuse_newer
from fairlead.store.state import Damaged, Unwritable

__all__ = ["CHECKED_AFTER_A_CRASH", "CHECKED_ALWAYS", "Database"]

CHECKED_ALWAYS = 64 * 1024 * 1024
"""Bytes up to which the whole file is looked through at each start: about 0.2 s."""
CHECKED_AFTER_A_CRASH = 512 * 1024 * 1024
"""The same where the last process did not close the database."""

_WAL_LIMIT = 64 * 1024 * 1024
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Database:
    """One file and what belongs to it."""

    def __init__(
        self, folder: Path, *, connect: Connect, migrations: Sequence[Migration], full: bool
    ) -> None:
        self.folder = folder
        self.path = folder / DATABASE
        self.epoch = str(uuid.uuid4())
        """Until the database could be opened for the first time, one that nobody has."""
        self._connect = connect
        self._migrations = migrations
        self._synchronous = "FULL" if full else "NORMAL"
        self._checked = False

    def make(self) -> None:
        """Make an empty file that only its owner may read, unless there is one already."""
        os.close(own_file(self.path))

    def open(self) -> sqlite3.Connection:
        """A connection for writing, to a database that is up to date and marked as in use."""
        db = self._connect(self.path, False)
        try:
            self._prepare(db)
        except (OSError, FolderRefused) as problem:
            db.close()
            raise Unwritable(str(problem)) from problem
        except BaseException:
            db.close()
            raise
        return db

    def open_reader(self) -> sqlite3.Connection:
        """A connection that cannot write."""
        return self._connect(self.path, True)

    def mark_closed(self, db: sqlite3.Connection) -> None:
        """Note that nothing is missing, so that the next start need not suspect it."""
        db.execute("UPDATE meta SET value = 'yes' WHERE name = 'closed'")

    def put_aside(self) -> Path:
        """Rename the file and what belongs to it; the next `open` makes a new one."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        kept = self.folder / f"{DATABASE}.kept-{stamp}-{uuid.uuid4().hex[:6]}"
        # The log beside it goes first: alone it is harmless, the file without it is not whole.
        for end in ("-wal", "-shm", ""):
            old = self.path.with_name(self.path.name + end)
            if old.exists():
                old.rename(kept.with_name(kept.name + end))
        self._checked = False
        self.epoch = str(uuid.uuid4())
        self.make()
        return kept

    def _prepare(self, db: sqlite3.Connection) -> None:
        refuse_newer(db, self._migrations)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {self._synchronous}")
        db.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
        bring_up_to_date(db, self._migrations, self._backup_path)
        if not self._checked:
            self._check(db)
            self._checked = True

    def _check(self, db: sqlite3.Connection) -> None:
        """Look for damage, settle the epoch, mark as in use. Once for each start."""
        meta = dict(db.execute("SELECT name, value FROM meta").fetchall())
        closed = meta.get("closed") == "yes"
        limit = CHECKED_ALWAYS if closed else CHECKED_AFTER_A_CRASH
        (size,) = db.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        if size <= limit:
            (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise Damaged(found)
        boot = _boot_id()
        epoch = meta.get("epoch")
        if epoch is None or not (closed or boot == meta.get("boot")):
            epoch = self.epoch
        marks = {"epoch": epoch, "boot": boot, "closed": "no"}
        db.execute("BEGIN IMMEDIATE")
        try:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", marks.items())
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self.epoch = epoch

    def _backup_path(self, version: int) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        return self.folder / f"{DATABASE}.schema-{version}-{stamp}"


def _boot_id() -> str:
    """Names the time since the machine was started; never the same twice where nobody says."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return str(uuid.uuid4())
