"""The state of the store as a code and a sentence, and the state that each SQLite error means.

Seven states: `ok`; `disk_full` and `locked`, which end by themselves; `damaged`, `foreign` and
`newer_schema`, which need a user; and `closed`. Knows nothing about threads or files.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from fairlead.store.log import StoreUnavailable

__all__ = [
    "CLOSED",
    "DAMAGED",
    "DISK_FULL",
    "FOREIGN",
    "LOCKED",
    "NEWER_SCHEMA",
    "OK",
    "PASSING",
    "Damaged",
    "Foreign",
    "NewerSchema",
    "StoreState",
    "Unwritable",
    "state_after",
]

OK, DISK_FULL, LOCKED = "ok", "disk_full", "locked"
DAMAGED, FOREIGN, NEWER_SCHEMA, CLOSED = "damaged", "foreign", "newer_schema", "closed"

PASSING = frozenset({DISK_FULL, LOCKED})
"""States that end as soon as a write succeeds again."""


class StoreState(Struct, frozen=True):
    """Whether events can be stored now, and if not, why."""

    code: str = OK
    """ok, disk_full, locked, damaged, foreign, newer_schema, or closed."""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether writing works."""
        return self.code == OK

    def error(self) -> StoreUnavailable:
        """The exception for this state."""
        return StoreUnavailable(self.reason or self.code, code=self.code)


class Damaged(sqlite3.DatabaseError):
    """What was read is not what was written; SQLite itself did not notice."""


class Foreign(sqlite3.DatabaseError):
    """Another program made this database."""


class NewerSchema(sqlite3.DatabaseError):
    """A newer Fairlead made this database."""


class Unwritable(sqlite3.DatabaseError):
    """A file next to the database could not be created or renamed."""


_CODES = {
    sqlite3.SQLITE_FULL: (DISK_FULL, "the disk is full. Free some space; nothing else is needed."),
    sqlite3.SQLITE_IOERR: (
        DISK_FULL,
        "the disk did not accept the data. It may be full or failing; writing is retried.",
    ),
    sqlite3.SQLITE_BUSY: (
        LOCKED,
        "another program has locked the database. Stop it; writing is retried.",
    ),
    sqlite3.SQLITE_LOCKED: (LOCKED, "the database is locked; writing is retried."),
    sqlite3.SQLITE_READONLY: (
        LOCKED,
        "the database cannot be written. Check the owner and mode of its file and folder.",
    ),
    sqlite3.SQLITE_PERM: (
        LOCKED,
        "the database cannot be opened. Check the owner and mode of its file and folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        LOCKED,
        "the database cannot be opened now: no free file handle, or no such file.",
    ),
    sqlite3.SQLITE_NOMEM: (LOCKED, "there is no memory left; writing is retried."),
    sqlite3.SQLITE_CORRUPT: (
        DAMAGED,
        "the database is damaged. It is not changed; start with a new database.",
    ),
    sqlite3.SQLITE_NOTADB: (
        DAMAGED,
        "the file is not a database. It is not changed; start with a new database.",
    ),
}


def state_after(error: sqlite3.Error) -> StoreState | None:
    """The state that an error means; None if the statement was wrong, not the store."""
    # Error of the sqlite3 module for a text that is not UTF-8; it has no code.
    if isinstance(error, Damaged) or str(error).startswith("Could not decode"):
        return StoreState(DAMAGED, f"{_CODES[sqlite3.SQLITE_CORRUPT][1]} ({error})")
    if isinstance(error, Foreign):
        return StoreState(FOREIGN, str(error))
    if isinstance(error, NewerSchema):
        return StoreState(NEWER_SCHEMA, str(error))
    if isinstance(error, Unwritable):
        return StoreState(DISK_FULL, f"{_CODES[sqlite3.SQLITE_IOERR][1]} ({error})")
    # The low byte is the kind of error, the rest says more precisely which.
    state = _CODES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return StoreState(state[0], f"{state[1]} ({error})") if state else None
