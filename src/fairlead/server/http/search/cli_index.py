"""Indexes the CLI's own sessions for the search, and stores what they used.

Reads their files, newest first, once they have not changed for a while.

It reads one file at a time and pauses after each, so that a machine with thousands of files stays
responsive. A small file in the data folder records what was read, by size and time. If that file
is lost, all files are read again; an item that is indexed again replaces itself.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from fairlead.store.cli_files.file_usage import FileSpent
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.cli_files.imports import CliSession, CliSessions
from fairlead.store.log import StoreUnavailable

__all__ = ["CliIndex"]

log = logging.getLogger("fairlead")

NOTES = "cli-search.json"
QUIET_S = 20.0
"""A file that changed less than this time ago is still being written."""
LOOK_EVERY_S = 5.0
PAUSE_S = 0.02
NOTED_EVERY = 50
READING = 1


class Findable(Protocol):
    """The part of the store that the index uses."""

    @property
    def epoch(self) -> str:
        """Changes when the index may have been lost."""

    async def index_items(
        self,
        session: str,
        items: Sequence[Any],
        *,
        project: str = "",
        model: str = "",
        profile: str = "",
    ) -> None:
        """Make finished items findable."""

    async def forget_items(self, session: str) -> None:
        """Remove a session from the search index."""

    async def put_file_usage(
        self,
        session: str,
        spent: Sequence[FileSpent],
        *,
        project: str = "",
        profile: str = "",
    ) -> None:
        """Store what a session used according to its files."""


class _Notes(Struct):
    epoch: str
    reading: int = 0
    """The version of the reading code; a higher version reads all files again."""
    done: dict[str, tuple[int, float]] = {}


class CliIndex:
    """Indexes files while the server runs."""

    def __init__(
        self,
        cli: CliFolders | CliSessions,
        store: Findable,
        folder: Path,
        *,
        own: Callable[[], set[str | None]],
        clock: Callable[[], float] = time.time,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`own` returns the ids of sessions that the server runs itself and indexes itself.

        `progress` is called with the number of files read and the number to read.
        """
        self._progress = progress
        self._cli = cli
        self._store = store
        self._path = folder / NOTES
        self._own = own
        self._clock = clock
        self._notes = self._read()

    async def run(self) -> None:
        """Index present and new files until cancelled."""
        while True:
            try:
                await self.catch_up()
            except StoreUnavailable:
                pass  # The next round retries.
            except Exception:
                log.exception("the sessions of the CLI could not be indexed; trying again")
            await asyncio.sleep(LOOK_EVERY_S)

    async def catch_up(self) -> int:
        """Read every file that is new or has grown and no longer changes; return their number."""
        own = self._own()
        now = self._clock()
        due = [
            session
            for session in self._cli.sessions()
            if session.id not in own
            and now - session.modified > QUIET_S
            and self._notes.done.get(session.id) != (session.size, session.modified)
        ]
        await self._forget_gone()
        for number, session in enumerate(due, 1):
            await self._index(session)
            if self._progress is not None:
                self._progress(number, len(due))
            if number % NOTED_EVERY == 0 or number == len(due):
                await asyncio.to_thread(self._write)
            await asyncio.sleep(PAUSE_S)
        return len(due)

    async def _forget_gone(self) -> None:
        """Remove deleted sessions, so that no hit leads to one."""
        if not self._cli.complete:
            return
        for gone in [name for name in self._notes.done if self._cli.find(name) is None]:
            await self._store.forget_items(gone)
            del self._notes.done[gone]

    async def _index(self, session: CliSession) -> None:
        try:
            read = await self._cli.read(session.id)
            items, model = read.transcript.items, read.transcript.session.model or ""
            about = {"project": session.cwd, "profile": session.profile}
            await asyncio.gather(  # So that both may share a commit.
                self._store.index_items(session.id, items, model=model, **about),
                self._store.put_file_usage(session.id, read.spent, **about),
            )
        except (KeyError, FileNotFoundError):
            return
        except StoreUnavailable:
            raise
        except Exception:
            # One file that cannot be read must not keep the others out of the index.
            log.exception("the session file %s could not be indexed", session.id)
        self._notes.done[session.id] = (session.size, session.modified)

    def _read(self) -> _Notes:
        fresh = _Notes(epoch=self._store.epoch, reading=READING)
        try:
            stored = msgspec.json.decode(self._path.read_bytes(), type=_Notes)
        except (OSError, msgspec.DecodeError):
            return fresh
        same = stored.epoch == fresh.epoch and stored.reading == fresh.reading
        return stored if same else fresh

    def _write(self) -> None:
        part = self._path.with_name(f"{NOTES}.part")
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "wb") as opened:
                opened.write(msgspec.json.encode(self._notes))
            part.replace(self._path)
        except OSError:
            log.warning(
                "the progress of the search index could not be stored; the files are read again at the next start"
            )
