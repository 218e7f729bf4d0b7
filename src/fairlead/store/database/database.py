"""The database file: creates, opens and checks it, marks it as in use, renames a damaged one.

Only the writer thread uses it, except for `open_reader`. It also has the epoch, which changes with
the file and after a power cut: the last events may then be missing and their numbers may be
assigned again.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from fairlead.store.database.connection import Connect
from fairlead.store.database.folder import DATABASE, FolderRefused, own_file
from fairlead.store.database.migrations import Migration
from fairlead.store.database.schema import bring_up_to_date, refuse_foreign, refuse_newer
from fairlead.store.database.state import Damaged, Unwritable

__all__ = ["CHECKED_AFTER_A_CRASH", "CHECKED_ALWAYS", "Database"]

CHECKED_ALWAYS = 64 * 1024 * 1024
"""Size up to which the whole file is checked at each start: about 0.2 s."""
CHECKED_AFTER_A_CRASH = 512 * 1024 * 1024
"""The same if the last process did not close the database."""

_WAL_LIMIT = 64 * 1024 * 1024
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Database:
    """The database file and the files that belong to it."""

    def __init__(
        self, folder: Path, *, connect: Connect, migrations: Sequence[Migration], full: bool
    ) -> None:
        self.folder = folder
        self.path = folder / DATABASE
        self.epoch = str(uuid.uuid4())
        """Until the database was opened for the first time, a value that no client has."""
        self._connect = connect
        self._migrations = migrations
        self._synchronous = "FULL" if full else "NORMAL"
        self._checked = False

    def make(self) -> None:
        """Create an empty file that only its owner can read, unless it exists."""
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
        """Record a clean close, so that the next start knows that nothing is missing."""
        db.execute("UPDATE meta SET value = 'yes' WHERE name = 'closed'")

    def put_aside(self) -> Path:
        """Rename the file and its companions; the next `open` creates a new one."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        target = self.folder / f"{DATABASE}.kept-{stamp}-{uuid.uuid4().hex[:6]}"
        # The write-ahead log is moved first: alone it is harmless, but the database without it
        # is incomplete.
        for suffix in ("-wal", "-shm", ""):
            old = self.path.with_name(self.path.name + suffix)
            if old.exists():
                old.rename(target.with_name(target.name + suffix))
        self._checked = False
        self.epoch = str(uuid.uuid4())
        self.make()
        return target

    def _prepare(self, db: sqlite3.Connection) -> None:
        refuse_foreign(db)
        refuse_newer(db, self._migrations)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {self._synchronous}")
        db.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
        bring_up_to_date(db, self._migrations, self._backup_path)
        if not self._checked:
            self._check(db)
            self._checked = True

    def _check(self, db: sqlite3.Connection) -> None:
        """Check for damage, set the epoch, mark the file as in use. Once per start."""
        meta = dict(db.execute("SELECT name, value FROM meta").fetchall())
        closed = meta.get("closed") == "yes"
        limit = CHECKED_ALWAYS if closed else CHECKED_AFTER_A_CRASH
        (size,) = db.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        if size <= limit:
            (integrity,) = db.execute("PRAGMA integrity_check(1)").fetchone()
            if integrity != "ok":
                raise Damaged(integrity)
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
    """Identifies the boot of the machine; a new value each time if the system has none."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return str(uuid.uuid4())
