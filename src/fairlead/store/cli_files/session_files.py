"""The files of the CLI's sessions on disk: lists them, and reads one session with its subagents.

Links are not followed, and only plain files are opened, because the folder may contain anything.
Below: `transcript_file` reads one file. Above: `imports` keeps the list.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.store.cli_files.file_usage import FileSpent, spent_in
from fairlead.store.cli_files.transcript_file import FileTail, read_object, read_records
from fairlead.transcript.history.reader import Subagent, history
from fairlead.transcript.state import plain
from fairlead.transcript.transcript import Transcript

__all__ = ["ReadSession", "SessionFiles", "Stamps", "read_session", "stamps_of", "sweep"]

Stamps = dict[str, tuple[int, int, int]]
"""Path under a folder -> inode, size, time of change in nanoseconds."""


class SessionFiles:
    """One session that another process is writing, followed by offset and never written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[Path, tuple[FileTail, list[dict[str, Any]]]] = {}

    def read(self) -> Transcript | None:
        """The transcript, if records were added since the last call; `OSError` if deleted."""
        changed = self._follow(self.path)
        subagents = subagent_files(self.path)
        for path in subagents:
            changed = self._follow(path) or changed
        if not changed:
            return None
        subagents_read = [_subagent(path, self._files[path][1]) for path in subagents]
        return fold(self._files[self.path][1], subagents_read)

    def _follow(self, path: Path) -> bool:
        new = path not in self._files
        tail, records = self._files.setdefault(path, (FileTail(path), []))
        added = tail.read()
        if tail.restarted:
            records.clear()
        records += added
        return new or tail.restarted or bool(added)


def fold(records: list[dict[str, Any]], subagents: list[Subagent]) -> Transcript:
    """The transcript of the records of a session and its subagents."""
    transcript = Transcript()
    for fed, at in history(records, subagents):
        transcript.take((fed,), at)
    return transcript


class ReadSession(Struct, frozen=True):
    """A session as its files are now, and its usage according to them."""

    transcript: Transcript
    spent: tuple[FileSpent, ...]


def read_session(path: Path) -> ReadSession:
    """Read the files of a session."""
    records = read_records(path)
    sides = {file: read_records(file) for file in subagent_files(path)}
    transcript = fold(
        records, [_subagent(side, records_of_side) for side, records_of_side in sides.items()]
    )
    return ReadSession(transcript, spent_in(path.stem, [records, *sides.values()]))


def subagent_files(path: Path) -> list[Path]:
    """`<session>/subagents/agent-<id>.jsonl` next to the session's own file."""
    return sorted(
        Path(entry.path)
        for entry in _entries(path.with_suffix("") / "subagents")
        if entry.name.startswith("agent-")
        and _is_text(entry.name)
        and entry.name.endswith(".jsonl")
        and entry.is_file(follow_symlinks=False)
    )


def sweep(projects: Path) -> Stamps:
    """All session files: `<folder>/<session>.jsonl`, no links, no files of subagents."""
    stamps: Stamps = {}
    for folder in _entries(projects):
        if not _is_text(folder.name) or not folder.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(Path(folder.path)):
            if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
                continue
            if not _is_text(entry.name):
                continue  # The CLI names its files by UUIDs: this is not one of them.
            stamp = _stamp_of(entry)
            if stamp is not None:
                stamps[f"{folder.name}/{entry.name}"] = stamp
    return stamps


def _is_text(name: str) -> bool:
    """Whether a file name is valid UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stamp_of(entry: os.DirEntry[str]) -> tuple[int, int, int] | None:
    try:
        if not entry.is_file(follow_symlinks=False):
            return None
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def stamps_of(projects: Path, paths: Iterable[str]) -> Stamps:
    """The stamps of those files that exist."""
    stamps: Stamps = {}
    for path in paths:
        try:
            status = (projects / path).lstat()
        except OSError:
            continue
        stamps[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return stamps


def _subagent(path: Path, records: list[dict[str, Any]]) -> Subagent:
    caller = plain.text(read_object(path.with_suffix(".meta.json")).get("toolUseId"))
    return Subagent(
        agent=path.stem.removeprefix("agent-"), records=tuple(records), tool_use_id=caller or None
    )
