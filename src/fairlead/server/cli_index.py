"""Makes the CLI's own sessions findable, and what they used known.

Reads their files once they are quiet, newest first.

One file at a time with a pause after each, so that a machine with thousands of them stays quick.
What was read is noted in a small file of the data folder, by size and time; if that file is lost
the reading begins anew, and an item that comes again replaces itself.
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

from fairlead.store.file_usage import FileSpent
from fairlead.store.imports import CliSession, CliSessions
from fairlead.store.log import StoreUnavailable

__all__ = ["CliIndex"]

log = logging.getLogger("fairlead")

NOTES = "cli-search.json"
QUIET_S = 20.0
"""A file that changed later than this is still being written."""
LOOK_EVERY_S = 5.0
PAUSE_S = 0.02
NOTED_EVERY = 50
READING = 1


class Findable(Protocol):
    """What this needs of the store."""

    @property
    def epoch(self) -> str:
        """Changes when the index may have been lost."""

    async def index_items(
        self, session: str, items: Sequence[Any], *, project: str = "", model: str = ""
    ) -> None:
        """Make finished items findable."""

    async def forget_items(self, session: str) -> None:
        """Let nothing of a session be found any more."""

    async def put_file_usage(
        self, session: str, spent: Sequence[FileSpent], *, project: str = ""
    ) -> None:
        """Keep what the files of a session say that it used."""


class _Notes(Struct):
    epoch: str
    reading: int = 0
    """Which reading of the files this notes; one that learns more begins anew."""
    done: dict[str, tuple[int, float]] = {}


class CliIndex:
    """Reads on while the server runs."""

    def __init__(
        self,
        cli: CliSessions,
        store: Findable,
        folder: Path,
        *,
        own: Callable[[], set[str | None]],
        clock: Callable[[], float] = time.time,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`own` gives the ids of sessions that the server runs itself, which are found as its own.

        `progress` is told how many files were read, of how many.
        """
        self._progress = progress
        self._cli = cli
        self._store = store
        self._path = folder / NOTES
        self._own = own
        self._clock = clock
        self._notes = self._read()

    async def run(self) -> None:
        """Index what is there and what comes, until cancelled."""
        while True:
            try:
                await self.catch_up()
            except StoreUnavailable:
                pass  # The next look tries again.
            await asyncio.sleep(LOOK_EVERY_S)

    async def catch_up(self) -> int:
        """Read every quiet file that is new or has grown; how many there were."""
        own = self._own()
        now = self._clock()
        due = [
            one
            for one in self._cli.sessions()
            if one.id not in own
            and now - one.modified > QUIET_S
            and self._notes.done.get(one.id) != (one.size, one.modified)
        ]
        await self._forget_gone()
        for number, one in enumerate(due, 1):
            await self._index(one)
            if self._progress is not None:
                self._progress(number, len(due))
            if number % NOTED_EVERY == 0 or number == len(due):
                await asyncio.to_thread(self._write)
            await asyncio.sleep(PAUSE_S)
        return len(due)

    async def _forget_gone(self) -> None:
        """A hit in a session that is no longer there would lead nowhere."""
        if not self._cli.complete:
            return
        for gone in [one for one in self._notes.done if self._cli.find(one) is None]:
            await self._store.forget_items(gone)
            del self._notes.done[gone]

    async def _index(self, found: CliSession) -> None:
        try:
            read = await self._cli.read(found.id)
        except (KeyError, OSError):
            return
        except Exception:
            # One file that cannot be read must not keep the others from being found.
            log.exception("the session file %s cannot be searched", found.id)
        else:
            items, model = read.transcript.items, read.transcript.session.model or ""
            await asyncio.gather(  # So that both may share a commit.
                self._store.index_items(found.id, items, project=found.cwd, model=model),
                self._store.put_file_usage(found.id, read.spent, project=found.cwd),
            )
        self._notes.done[found.id] = (found.size, found.modified)

    def _read(self) -> _Notes:
        fresh = _Notes(epoch=self._store.epoch, reading=READING)
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=_Notes)
        except (OSError, msgspec.DecodeError):
            return fresh
        same = kept.epoch == fresh.epoch and kept.reading == fresh.reading
        return kept if same else fresh

    def _write(self) -> None:
        part = self._path.with_name(f"{NOTES}.part")
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "wb") as opened:
                opened.write(msgspec.json.encode(self._notes))
            part.replace(self._path)
        except OSError:
            log.warning("what was indexed could not be noted; it is read again at the next start")
