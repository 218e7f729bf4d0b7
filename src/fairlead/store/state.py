"""How the store is, in one word and one sentence, and which SQLite error means which.

Five states: `ok`; `disk_full` and `locked`, which pass by themselves; `damaged` and
`newer_schema`, which need a person. Knows nothing of threads or files.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from fairlead.store.log import StoreUnavailable

__all__ = [
    "CLOSED",
    "DAMAGED",
    "DISK_FULL",
    "LOCKED",
    "NEWER_SCHEMA",
    "OK",
    "PASSING",
    "Damaged",
    "NewerSchema",
    "StoreState",
    "Unwritable",
    "state_after",
]

OK, DISK_FULL, LOCKED = "ok", "disk_full", "locked"
DAMAGED, NEWER_SCHEMA, CLOSED = "damaged", "newer_schema", "closed"

PASSING = frozenset({DISK_FULL, LOCKED})
"""States the store leaves by itself as soon as a write works again."""


class StoreState(Struct, frozen=True):
    """Whether events can be stored now, and if not, why."""

    code: str = OK
    """ok, disk_full, locked, damaged, newer_schema, or closed."""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether writing works."""
        return self.code == OK

    def error(self) -> StoreUnavailable:
        """The exception that says so."""
        return StoreUnavailable(self.reason or self.code, code=self.code)


class Damaged(sqlite3.DatabaseError):
    """What was read is not what was written; SQLite itself did not notice."""


class NewerSchema(sqlite3.DatabaseError):
    """A newer Fairlead made this database."""


class Unwritable(sqlite3.DatabaseError):
    """A file beside the database could not be made or renamed."""


_CODES = {
    sqlite3.SQLITE_FULL: (DISK_FULL, "the disk is full. Free some space; nothing else is needed."),
    sqlite3.SQLITE_IOERR: (
        DISK_FULL,
        "the disk did not take the data. It may be full or failing; writing is tried again.",
    ),
    sqlite3.SQLITE_BUSY: (
        LOCKED,
        "another program holds the database. End it; writing is tried again.",
    ),
    sqlite3.SQLITE_LOCKED: (LOCKED, "the database is locked; writing is tried again."),
    sqlite3.SQLITE_READONLY: (
        LOCKED,
        "the database may not be written. Check the owner and mode of its file and folder.",
    ),
    sqlite3.SQLITE_PERM: (
        LOCKED,
        "the database may not be opened. Check the owner and mode of its file and folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        LOCKED,
        "the database cannot be opened now: no free file handle, or no such file.",
    ),
    sqlite3.SQLITE_NOMEM: (LOCKED, "there is no memory left; writing is tried again."),
    sqlite3.SQLITE_CORRUPT: (
        DAMAGED,
        "the database is damaged. It is kept as it is and only read; start a new one beside it.",
    ),
    sqlite3.SQLITE_NOTADB: (
        DAMAGED,
        "the file is no database. It is kept as it is; start a new one beside it.",
    ),
}


def state_after(error: sqlite3.Error) -> StoreState | None:
    """The state that an error shows; None if the statement was wrong and the store is not."""
    # The module's own error for a text that is no UTF-8; it has no code.
    if isinstance(error, Damaged) or str(error).startswith("Could not decode"):
        return StoreState(DAMAGED, f"{_CODES[sqlite3.SQLITE_CORRUPT][1]} ({error})")
    if isinstance(error, NewerSchema):
        return StoreState(NEWER_SCHEMA, str(error))
    if isinstance(error, Unwritable):
        return StoreState(DISK_FULL, f"{_CODES[sqlite3.SQLITE_IOERR][1]} ({error})")
    # The low byte is the kind of error, the rest says more precisely which.
    found = _CODES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return StoreState(found[0], f"{found[1]} ({error})") if found else None
