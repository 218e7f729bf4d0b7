"""The sessions that the CLI itself keeps under ~/.claude/projects: listed, read, followed.

Read only, always. What is shown comes from the records: the folder's name is a mangled path
from which nothing can be learnt (TRUTH 1.7). `refresh` reads what changed since the last time,
in a thread and in small parts; with a cache (`SqliteStore` is one) also what changed since the
last start. A session id is looked up, never made into a path.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from fairlead.store.import_index import IndexedFile
from fairlead.store.log import StoreUnavailable
from fairlead.store.session_files import (
    ReadSession,
    SessionFiles,
    Stamps,
    read_session,
    stamps_of,
    sweep,
)
from fairlead.store.transcript_file import scan
from fairlead.transcript.transcript import Transcript

__all__ = ["Changed", "CliSession", "CliSessions", "FileCache", "Progress"]

LIVE_S = 120.0
"""A file that changed this lately is being written by another process."""
HOT_S = 600.0
"""Files that changed this lately are looked at in each round of `watch`, others in some."""
ROUNDS_PER_SWEEP = 10
PART_S = 0.1
"""How long one stay in the thread may take while files are indexed; then progress is told."""


class FileCache(Protocol):
    """Where the index of files outlives the process."""

    async def indexed_files(self, root: str) -> list[IndexedFile]:
        """What is known of the files under a folder."""

    async def put_indexed_files(self, root: str, files: Sequence[IndexedFile]) -> None:
        """Keep what is known of some files."""

    async def forget_indexed_files(self, root: str, paths: Sequence[str]) -> None:
        """Forget files that are gone."""


class CliSession(Struct, frozen=True, kw_only=True):
    """A session that a CLI keeps in a file."""

    id: str
    """What `--resume` takes."""
    path: str
    cwd: str
    """Where it would be resumed; empty if no record says."""
    title: str
    first_prompt: str
    created: float
    last_activity: float
    modified: float
    size: int
    messages: int
    version: str
    git_branch: str

    def is_live(self, now: float) -> bool:
        """Whether another process seems to be writing it."""
        return now - self.modified < LIVE_S


class Progress(Struct, frozen=True):
    """How far an index has come."""

    done: int
    total: int
    bytes_done: int
    bytes_total: int


class Changed(Struct, frozen=True):
    """What a look at the files found."""

    sessions: tuple[CliSession, ...] = ()
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sessions or self.gone)


class CliSessions:
    """The list. Everything that touches the disk is in a thread."""

    def __init__(self, projects: Path | str, cache: FileCache | None = None) -> None:
        self.projects = Path(projects)
        self._cache = cache
        self._files: dict[str, IndexedFile] = {}
        self._by_id: dict[str, str] = {}
        self._listed: list[CliSession] | None = None
        self._loaded = False
        self.complete = False
        """Whether all files were looked at once, so that what is not listed is not there."""
        self._busy = asyncio.Lock()

    async def refresh(self, progress: Callable[[Progress], None] | None = None) -> Changed:
        """Look at all files and read what was added; call `progress` now and then."""
        async with self._busy:
            await self._load()
            stamps = await asyncio.to_thread(sweep, self.projects)
            found = await self._take(stamps, self._files.keys() - stamps.keys(), progress)
            self.complete = True
            return found

    def sessions(self) -> list[CliSession]:
        """All sessions as of the last refresh, the last active first."""
        if self._listed is None:
            rows = [_shown(self.projects, one) for one in self._files.values()]
            rows.sort(key=lambda one: (-one.last_activity, one.id))
            self._listed = rows
        return list(self._listed)

    def find(self, session: str) -> CliSession | None:
        """One session by its id; of several files with one id, the last active."""
        path = self._by_id.get(session)
        return None if path is None else _shown(self.projects, self._files[path])

    async def transcript(self, session: str) -> Transcript:
        """A session and its subagents, folded by the same reducer as the live stream.

        Raises `KeyError` for a session that is not listed and `OSError` for one that is gone.
        """
        return (await self.read(session)).transcript

    async def read(self, session: str) -> ReadSession:
        """The same, and what the session used by what its files tell."""
        path = self.projects / self._by_id[session]
        return await asyncio.to_thread(read_session, path)

    async def watch(
        self, interval: float = 1.0, progress: Callable[[Progress], None] | None = None
    ) -> AsyncGenerator[Changed, None]:
        """What changes from now on: new sessions, new lines, files that are gone.

        Busy files are looked at in each round, all files in every tenth.
        """
        rounds = 0
        while True:
            sweeps = rounds % ROUNDS_PER_SWEEP == 0
            found = await (self.refresh(progress) if sweeps else self._look_at_hot())
            rounds += 1
            if found:
                yield found
            await asyncio.sleep(interval)

    async def follow(self, session: str, interval: float = 0.5) -> AsyncGenerator[Transcript, None]:
        """The transcript of a session now, and again whenever another process has added to it.

        Ends when the file is gone. Raises `KeyError` for a session that is not listed.
        """
        files = SessionFiles(self.projects / self._by_id[session])
        while True:
            try:
                found = await asyncio.to_thread(files.read)
            except OSError:
                return
            if found is not None:
                yield found
            await asyncio.sleep(interval)

    async def _look_at_hot(self) -> Changed:
        since = (time.time() - HOT_S) * 1e9
        async with self._busy:
            hot = [one.path for one in self._files.values() if one.modified_ns > since]
            stamps = await asyncio.to_thread(stamps_of, self.projects, hot)
            return await self._take(stamps, set(hot) - stamps.keys(), None)

    async def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        if self._cache is not None:
            try:
                known = await self._cache.indexed_files(str(self.projects))
            except StoreUnavailable:
                return
            self._files = {one.path: one for one in known}
            self._by_id = _newest_by_id(self._files.values())

    async def _take(
        self, stamps: Stamps, gone: set[str], progress: Callable[[Progress], None] | None
    ) -> Changed:
        stale = [path for path, stamp in stamps.items() if stamp != _stamp(self._files.get(path))]
        sizes = [stamps[path][1] for path in stale]
        done: list[IndexedFile] = []
        place = 0
        while place < len(stale):
            known = self._files.copy()
            part, place_after = await asyncio.to_thread(
                _scan_some, self.projects, stale, place, known
            )
            place = place_after
            await self._keep(part)
            done += part
            if progress is not None:
                progress(Progress(place, len(stale), sum(sizes[:place]), sum(sizes)))
        await self._forget(gone)
        if done or gone:
            self._listed = None
            self._by_id = _newest_by_id(self._files.values())
        names = {Path(path).stem for path in gone} - self._by_id.keys()
        return Changed(tuple(_shown(self.projects, one) for one in done), tuple(sorted(names)))

    async def _keep(self, part: list[IndexedFile]) -> None:
        self._files.update({one.path: one for one in part})
        if self._cache is not None and part:
            try:
                await self._cache.put_indexed_files(str(self.projects), part)
            except StoreUnavailable:
                pass  # It is a cache: the next start reads these files again.

    async def _forget(self, gone: set[str]) -> None:
        for path in gone:
            self._files.pop(path, None)
        if self._cache is not None and gone:
            try:
                await self._cache.forget_indexed_files(str(self.projects), sorted(gone))
            except StoreUnavailable:
                pass  # As above.


def _stamp(file: IndexedFile | None) -> tuple[int, int, int] | None:
    return None if file is None else (file.inode, file.size, file.modified_ns)


def _scan_some(
    projects: Path, paths: list[str], place: int, known: dict[str, IndexedFile]
) -> tuple[list[IndexedFile], int]:
    """Read files from a place in the list on, for a short time; and the place then."""
    end = time.monotonic() + PART_S
    found = []
    while place < len(paths):
        try:
            found.append(scan(projects, paths[place], known.get(paths[place])))
        except OSError:
            pass  # Gone, or not ours to read: it is not listed.
        place += 1
        if time.monotonic() > end:
            break
    return found, place


def _newest_by_id(files: Iterable[IndexedFile]) -> dict[str, str]:
    """Id -> path; a session whose folder was moved can be there twice."""
    ordered = sorted(files, key=lambda one: one.last_activity)
    return {Path(one.path).stem: one.path for one in ordered}


def _shown(projects: Path, file: IndexedFile) -> CliSession:
    modified = file.modified_ns / 1e9
    return CliSession(
        id=file.path.rpartition("/")[2].removesuffix(".jsonl"),
        path=f"{projects}/{file.path}",
        cwd=file.cwd,
        title=file.custom_title or file.title or file.first_prompt,
        first_prompt=file.first_prompt,
        created=file.created or modified,
        last_activity=file.last_activity or modified,
        modified=modified,
        size=file.size,
        messages=file.messages,
        version=file.version,
        git_branch=file.git_branch,
    )
