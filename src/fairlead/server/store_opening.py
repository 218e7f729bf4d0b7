"""Opens the store of a server, or explains why it cannot and what to do.

A server does not start on a database that it cannot trust or read: it could store nothing, and no
device could connect. Nothing is ever deleted or overwritten; `new_database` moves the old file
aside and creates an empty one. Every refusal has its own exit code (docs/store.md).
"""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.errors import Refused, UsageError
from fairlead.store.database.folder import FolderReadOnly
from fairlead.store.database.state import (
    DAMAGED,
    DISK_FULL,
    FOREIGN,
    LOCKED,
    NEWER_SCHEMA,
    StoreState,
)
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore

__all__ = ["StoreRefused", "opened_store"]

log = logging.getLogger("fairlead")

EXIT_CODES = {DISK_FULL: 23, DAMAGED: 24, FOREIGN: 25, NEWER_SCHEMA: 26, LOCKED: 27}

NEEDS_USER = frozenset({DAMAGED, FOREIGN, NEWER_SCHEMA})

_REMEDIES = {
    DISK_FULL: "Free some space there, or choose another folder with --data.",
    DAMAGED: "Nothing was changed. `fairlead serve --new-database` moves it aside unchanged and "
    "creates an empty one. Or replace it with a backup.",
    FOREIGN: "Nothing was changed. Choose another folder with --data, or move the file aside and "
    "create an empty database with `fairlead serve --new-database`.",
    NEWER_SCHEMA: "Or move it aside and create an empty one with `fairlead serve --new-database`.",
    LOCKED: "Stop the program that uses it, or choose another folder with --data.",
}


class StoreRefused(Refused):
    """The server cannot work with this database."""

    def __init__(self, path: Path, state: StoreState) -> None:
        super().__init__(path, state)
        self.path = path
        self.state = state
        self.exit_code = EXIT_CODES.get(state.code, 2)

    def __str__(self) -> str:
        return f"{self.path}: {self.state.reason} {_REMEDIES.get(self.state.code, '')}".rstrip()


@asynccontextmanager
async def opened_store(data: Path, *, new_database: bool = False) -> AsyncIterator[SqliteStore]:
    """The store in a folder, readable, and writable unless the disk is full."""
    try:
        store = await SqliteStore(data).start()
    except OSError as problem:
        if problem.errno == errno.EROFS:
            raise FolderReadOnly(data) from problem
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            state = StoreState(DISK_FULL, "the disk is full.")
            raise StoreRefused(data, state) from problem
        raise
    try:
        await _check(store, data, new_database=new_database)
        yield store
    finally:
        await store.close()


async def _check(store: SqliteStore, data: Path, *, new_database: bool) -> None:
    if new_database:
        if store.state.code not in NEEDS_USER:
            raise UsageError(
                f"The database in {data} can be used, so --new-database did nothing. Omit the "
                "option, or choose an empty folder with --data."
            )
        moved_to = await store.start_fresh()
        log.warning(
            "the old database was moved to %s; this server starts with an empty one", moved_to
        )
    if store.state.code in NEEDS_USER:
        raise StoreRefused(data, store.state)
    try:
        await store.devices()
    except (StoreUnavailable, sqlite3.Error) as problem:
        # A full disk does not prevent reading. But if the disk was full before the tables could be
        # created, SQLite reports a missing table, which alone does not say why.
        raise StoreRefused(data, _state_of(store, problem)) from problem


def _state_of(store: SqliteStore, problem: StoreUnavailable | sqlite3.Error) -> StoreState:
    if not store.state.ok:
        return store.state
    if isinstance(problem, StoreUnavailable):
        return StoreState(problem.code, problem.reason)
    return StoreState(DAMAGED, f"the database is incomplete ({problem}).")
