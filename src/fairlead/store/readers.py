"""A few connections that only read, each in its own thread, next to the one that writes.

WAL lets them see the last commit while the next is written. They report damage to the writer,
which then stops writing.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from fairlead.store.database.state import (
    CLOSED,
    DAMAGED,
    NEWER_SCHEMA,
    Damaged,
    StoreState,
    state_after,
)

__all__ = ["SEARCHERS", "Read", "Readers", "Reported"]

READERS = 3
"""Threads: one for a long replay, and two more for other reads."""
SEARCHERS = 2
"""Threads for searches, so that a search delays only other searches."""

T = TypeVar("T")
Read: TypeAlias = Callable[[sqlite3.Connection], T]


class Reported(Protocol):
    """Receives reports of damage, and has the state of the store."""

    @property
    def state(self) -> StoreState:
        """The state of the store."""

    def condemn(self, state: StoreState) -> None:
        """Stop writing."""


class Readers:
    """A pool of threads, each with its own connection."""

    def __init__(self, open_reader: Callable[[], sqlite3.Connection], size: int = READERS) -> None:
        self._open = open_reader
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="fairlead-reader")
        self._thread_local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._closed = False

    async def run(self, read: Read[T], reported: Reported) -> T:
        """Read in one of the threads; raises `StoreUnavailable` if nothing can be read now."""
        state = reported.state
        if state.code in (CLOSED, NEWER_SCHEMA):
            raise state.error()
        try:
            return await self.work(lambda: read(self._connection()))
        except (sqlite3.Error, msgspec.DecodeError) as problem:
            # A row that is not JSON any more was changed by another program.
            error = problem if isinstance(problem, sqlite3.Error) else Damaged(str(problem))
            new_state = state_after(error)
            if new_state is None:
                raise
            if new_state.code == DAMAGED:
                reported.condemn(new_state)
            raise new_state.error() from problem

    async def work(self, work: Callable[[], T]) -> T:
        """Run a function that needs no connection in one of the threads."""
        if self._closed:
            raise StoreState(CLOSED, "the store is closed").error()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def close(self) -> None:
        """Wait for running reads, then close all connections."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown)
        while self._all:
            self._all.pop().close()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._thread_local, "connection", None)
        if connection is None:
            connection = self._open()
            self._thread_local.connection = connection
            self._all.append(connection)
        return connection
