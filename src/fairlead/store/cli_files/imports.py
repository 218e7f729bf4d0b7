"""Lists, reads and follows the sessions that the CLI itself stores under ~/.claude/projects.

The files are never written; `remove` deletes those of a session that the user deletes. The list is built from their records, because the folder's name is a
path that cannot be decoded (CLI-705). `refresh` reads what changed since the last call, in a
thread and in small parts; with a cache (such as `SqliteStore`) also across restarts. A session id
is looked up, never used as a path.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from fairlead.store.cli_files.removal import files_of, remove_files
from fairlead.store.cli_files.session_files import (
    ReadSession,
    SessionFiles,
    Stamps,
    read_session,
    stamps_of,
    sweep,
)
from fairlead.store.cli_files.transcript_file import scan
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.import_index import IndexedFile
from fairlead.transcript.transcript import Transcript

__all__ = ["Changed", "CliSession", "CliSessions", "FileCache", "Progress"]

log = logging.getLogger("fairlead")

LIVE_S = 120.0
"""A file that changed within this time counts as being written by another process."""
HOT_S = 600.0
"""Files that changed within this time are checked in each round of `watch`, others rarely."""
ROUNDS_PER_SWEEP = 10
PART_S = 0.1
"""How long the thread may work on files before it reports its progress."""


class FileCache(Protocol):
    """A persistent cache of the index of files."""

    async def indexed_files(self, root: str) -> list[IndexedFile]:
        """The index rows of the files under a folder."""

    async def put_indexed_files(self, root: str, files: Sequence[IndexedFile]) -> None:
        """Store the index rows of some files."""

    async def forget_indexed_files(self, root: str, paths: Sequence[str]) -> None:
        """Delete the index rows of deleted files."""


class CliSession(Struct, frozen=True, kw_only=True):
    """A session that the CLI stores in a file."""

    id: str
    """The id for `--resume`."""
    path: str
    cwd: str
    """The folder in which it would be resumed; empty if unknown."""
    title: str
    first_prompt: str
    created: float
    last_activity: float
    modified: float
    size: int
    messages: int
    version: str
    git_branch: str
    problem: str = ""
    """Why its file cannot be read; empty if it can."""
    profile: str = ""
    """The profile in whose folder it is; empty for the default one."""

    def is_live(self, now: float) -> bool:
        """Whether another process seems to be writing it."""
        return now - self.modified < LIVE_S


class Progress(Struct, frozen=True):
    """The progress of indexing."""

    done: int
    total: int
    bytes_done: int
    bytes_total: int


class Changed(Struct, frozen=True):
    """The changes since the last check of the files."""

    sessions: tuple[CliSession, ...] = ()
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sessions or self.gone)


class CliSessions:
    """The list of sessions. All disk access is in a thread."""

    def __init__(
        self, projects: Path | str, cache: FileCache | None = None, profile: str = ""
    ) -> None:
        self.projects = Path(projects)
        self.profile = profile
        """The profile whose folder this is; empty for the default one."""
        self._cache = cache
        self._files: dict[str, IndexedFile] = {}
        self._by_id: dict[str, str] = {}
        self._listed: list[CliSession] | None = None
        self._loaded = False
        self.complete = False
        """Whether all files were checked once: a session that is not listed does not exist."""
        self._busy = asyncio.Lock()

    async def refresh(self, progress: Callable[[Progress], None] | None = None) -> Changed:
        """Check all files and read what was added; calls `progress` regularly."""
        async with self._busy:
            await self._load()
            stamps = await asyncio.to_thread(sweep, self.projects)
            changed = await self._take(stamps, self._files.keys() - stamps.keys(), progress)
            self.complete = True
            return changed

    def sessions(self) -> list[CliSession]:
        """All sessions as of the last refresh, the last active first."""
        if self._listed is None:
            rows = [self._listed_as(file) for file in self._files.values()]
            rows.sort(key=lambda file: (-file.last_activity, file.id))
            self._listed = rows
        return list(self._listed)

    def find(self, session: str) -> CliSession | None:
        """One session by its id; of several files with one id, the last active."""
        # During a removal the id is still there while its file is not any more.
        file = self._files.get(self._by_id.get(session, ""))
        return None if file is None else self._listed_as(file)

    async def transcript(self, session: str) -> Transcript:
        """A session and its subagents, folded by the same reducer as the live stream.

        Raises `KeyError` for a session that is not listed and `OSError` for one whose file was
        deleted.
        """
        return (await self.read(session)).transcript

    async def read(self, session: str) -> ReadSession:
        """The same, and the usage of the session according to its files."""
        path = self.projects / self._by_id[session]
        return await asyncio.to_thread(read_session, path)

    async def remove(self, session: str) -> list[str]:
        """Delete all files of a session; return the paths of those that existed."""
        async with self._busy:
            await self._load()
            paths = {path for path in self._files if Path(path).stem == session}
            paths.update(await asyncio.to_thread(files_of, self.projects, session))
            removed = await asyncio.to_thread(remove_files, self.projects, sorted(paths))
            await self._take({}, set(removed) & self._files.keys(), None)
            return removed

    async def watch(
        self, interval: float = 1.0, progress: Callable[[Progress], None] | None = None
    ) -> AsyncGenerator[Changed, None]:
        """What changes from now on: new sessions, new lines, deleted files.

        Recently changed files are checked in each round, all files in every tenth.
        """
        rounds = 0
        while True:
            sweeps = rounds % ROUNDS_PER_SWEEP == 0
            changed = await (self.refresh(progress) if sweeps else self._check_recent())
            rounds += 1
            if changed:
                yield changed
            await asyncio.sleep(interval)

    async def follow(self, session: str, interval: float = 0.5) -> AsyncGenerator[Transcript, None]:
        """The transcript of a session now, and again whenever another process has added to it.

        Ends when the file is deleted. Raises `KeyError` for a session that is not listed.
        """
        files = SessionFiles(self.projects / self._by_id[session])
        while True:
            try:
                transcript = await asyncio.to_thread(files.read)
            except OSError:
                return
            if transcript is not None:
                yield transcript
            await asyncio.sleep(interval)

    def _listed_as(self, file: IndexedFile) -> CliSession:
        return _cli_session(self.projects, file, self.profile)

    async def _check_recent(self) -> Changed:
        since = (time.time() - HOT_S) * 1e9
        async with self._busy:
            hot = [file.path for file in self._files.values() if file.modified_ns > since]
            stamps = await asyncio.to_thread(stamps_of, self.projects, hot)
            return await self._take(stamps, set(hot) - stamps.keys(), None)

    async def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        if self._cache is not None:
            try:
                files = await self._cache.indexed_files(str(self.projects))
            except StoreUnavailable:
                return
            self._files = {file.path: file for file in files}
            self._by_id = _newest_by_id(self._files.values())

    async def _take(
        self, stamps: Stamps, gone: set[str], progress: Callable[[Progress], None] | None
    ) -> Changed:
        stale = [path for path, stamp in stamps.items() if stamp != _stamp(self._files.get(path))]
        sizes = [stamps[path][1] for path in stale]
        done: list[IndexedFile] = []
        position = 0
        while position < len(stale):
            indexed = self._files.copy()
            part, next_position = await asyncio.to_thread(
                _scan_some, self.projects, stale, position, indexed, stamps
            )
            position = next_position
            await self._store_part(part)
            done += part
            if progress is not None:
                progress(Progress(position, len(stale), sum(sizes[:position]), sum(sizes)))
        await self._forget(gone)
        if done or gone:
            self._listed = None
            self._by_id = _newest_by_id(self._files.values())
        names = {Path(path).stem for path in gone} - self._by_id.keys()
        return Changed(tuple(self._listed_as(file) for file in done), tuple(sorted(names)))

    async def _store_part(self, part: list[IndexedFile]) -> None:
        self._files.update({file.path: file for file in part})
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


def _unreadable(path: str, stamp: tuple[int, int, int], problem: Exception) -> IndexedFile:
    inode, size, modified_ns = stamp
    reason = problem.strerror if isinstance(problem, OSError) else type(problem).__name__
    return IndexedFile(
        path=path, inode=inode, size=size, modified_ns=modified_ns, problem=reason or "unreadable"
    )


def _scan_some(
    projects: Path, paths: list[str], position: int, indexed: dict[str, IndexedFile], stamps: Stamps
) -> tuple[list[IndexedFile], int]:
    """Read files from a position in the list, for a short time; also returns the next position."""
    end = time.monotonic() + PART_S
    sessions = []
    while position < len(paths):
        path = paths[position]
        try:
            sessions.append(scan(projects, path, indexed.get(path)))
        except FileNotFoundError:
            pass  # Deleted: it is not listed.
        except Exception as problem:
            # One bad file must not hide the others. It is listed, and read again when it changes.
            if not isinstance(problem, OSError):
                log.exception("the session file %s cannot be listed", path)
            sessions.append(_unreadable(path, stamps[path], problem))
        position += 1
        if time.monotonic() > end:
            break
    return sessions, position


def _newest_by_id(files: Iterable[IndexedFile]) -> dict[str, str]:
    """Id -> path; a session whose folder was moved may have two files.

    A copy that was made for another folder has the same records, so the later file counts.
    """
    ordered = sorted(files, key=lambda session: (session.last_activity, session.modified_ns))
    return {Path(session.path).stem: session.path for session in ordered}


def _damaged(file: IndexedFile) -> str:
    return f"Damaged session file: {file.problem}" if file.problem else ""


def _cli_session(projects: Path, file: IndexedFile, profile: str) -> CliSession:
    modified = file.modified_ns / 1e9
    return CliSession(
        id=file.path.rpartition("/")[2].removesuffix(".jsonl"),
        path=f"{projects}/{file.path}",
        cwd=file.cwd,
        title=file.custom_title or file.title or file.first_prompt or _damaged(file),
        first_prompt=file.first_prompt,
        created=file.created or modified,
        last_activity=file.last_activity or modified,
        modified=modified,
        size=file.size,
        messages=file.messages,
        version=file.version,
        git_branch=file.git_branch,
        problem=file.problem,
        profile=profile,
    )
