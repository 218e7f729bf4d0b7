"""A few connections that only read, each in a thread of its own, beside the one that writes.

WAL lets them see the last commit while the next is written. What they find broken is told to
the writer, which then writes no more.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from fairlead.store.state import CLOSED, DAMAGED, NEWER_SCHEMA, Damaged, StoreState, state_after

__all__ = ["Read", "Readers", "Reported"]

READERS = 3
"""Threads: one for a long search, one for a long replay, one that is free."""

T = TypeVar("T")
Read: TypeAlias = Callable[[sqlite3.Connection], T]


class Reported(Protocol):
    """Who is told of damage, and knows whether anything may be read."""

    @property
    def state(self) -> StoreState:
        """The state of the store."""

    def condemn(self, state: StoreState) -> None:
        """Write no more."""


class Readers:
    """The pool."""

    def __init__(self, open_reader: Callable[[], sqlite3.Connection], size: int = READERS) -> None:
        self._open = open_reader
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="fairlead-reader")
        self._own = threading.local()
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
            # A row of ours that is no JSON any more was changed by somebody else.
            known = problem if isinstance(problem, sqlite3.Error) else Damaged(str(problem))
            found = state_after(known)
            if found is None:
                raise
            if found.code == DAMAGED:
                reported.condemn(found)
            raise found.error() from problem

    async def work(self, work: Callable[[], T]) -> T:
        """Do something in one of the threads that needs no connection."""
        if self._closed:
            raise StoreState(CLOSED, "the store is closed").error()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def close(self) -> None:
        """Wait for what is being read, then close all connections."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown)
        while self._all:
            self._all.pop().close()

    def _connection(self) -> sqlite3.Connection:
        mine: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if mine is None:
            mine = self._open()
            self._own.connection = mine
            self._all.append(mine)
        return mine
