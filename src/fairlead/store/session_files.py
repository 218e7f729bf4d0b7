"""The files of the CLI's sessions on disk: which there are, and one session with its subagents.

Links are not followed, and what is no plain file is not opened: the folder may hold anything.
Below: `transcript_file` reads one file. Above: `imports` keeps the list.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.store.file_usage import FileSpent, spent_in
from fairlead.store.transcript_file import FileTail, read_object, read_records
from fairlead.transcript import plain
from fairlead.transcript.history import Subagent, history
from fairlead.transcript.transcript import Transcript

__all__ = ["ReadSession", "SessionFiles", "Stamps", "read_session", "stamps_of", "sweep"]

Stamps = dict[str, tuple[int, int, int]]
"""Path under a folder -> inode, size, time of change in nanoseconds."""


class SessionFiles:
    """One session that another process is writing, followed by offset and never touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[Path, tuple[FileTail, list[dict[str, Any]]]] = {}

    def read(self) -> Transcript | None:
        """The transcript, if records were added since the last call; `OSError` if it is gone."""
        changed = self._follow(self.path)
        subagents = subagent_files(self.path)
        for path in subagents:
            changed = self._follow(path) or changed
        if not changed:
            return None
        sides = [_subagent(path, self._files[path][1]) for path in subagents]
        return fold(self._files[self.path][1], sides)

    def _follow(self, path: Path) -> bool:
        new = path not in self._files
        tail, records = self._files.setdefault(path, (FileTail(path), []))
        added = tail.read()
        if tail.restarted:
            records.clear()
        records += added
        return new or tail.restarted or bool(added)


def fold(records: list[dict[str, Any]], subagents: list[Subagent]) -> Transcript:
    """What the records of a session and of its subagents mean."""
    transcript = Transcript()
    for fed, at in history(records, subagents):
        transcript.feed(fed, at)
    return transcript


class ReadSession(Struct, frozen=True):
    """A session as its files are now, and what it used by what they tell."""

    transcript: Transcript
    spent: tuple[FileSpent, ...]


def read_session(path: Path) -> ReadSession:
    """Read the files of a session."""
    records = read_records(path)
    sides = {one: read_records(one) for one in subagent_files(path)}
    transcript = fold(records, [_subagent(one, own) for one, own in sides.items()])
    return ReadSession(transcript, spent_in(path.stem, [records, *sides.values()]))


def subagent_files(path: Path) -> list[Path]:
    """`<session>/subagents/agent-<id>.jsonl` beside the session's own file."""
    return sorted(
        Path(entry.path)
        for entry in _entries(path.with_suffix("") / "subagents")
        if entry.name.startswith("agent-")
        and entry.name.endswith(".jsonl")
        and entry.is_file(follow_symlinks=False)
    )


def sweep(projects: Path) -> Stamps:
    """All session files: `<folder>/<session>.jsonl`, no links, no files of subagents."""
    found: Stamps = {}
    for folder in _entries(projects):
        if not folder.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(Path(folder.path)):
            if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
                continue
            stamp = _stamp_of(entry)
            if stamp is not None:
                found[f"{folder.name}/{entry.name}"] = stamp
    return found


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
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def stamps_of(projects: Path, paths: Iterable[str]) -> Stamps:
    """Those of these files that are there."""
    stamps: Stamps = {}
    for path in paths:
        try:
            found = (projects / path).lstat()
        except OSError:
            continue
        stamps[path] = (found.st_ino, found.st_size, found.st_mtime_ns)
    return stamps


def _subagent(path: Path, records: list[dict[str, Any]]) -> Subagent:
    caller = plain.text(read_object(path.with_suffix(".meta.json")).get("toolUseId"))
    return Subagent(
        agent=path.stem.removeprefix("agent-"), records=tuple(records), tool_use_id=caller or None
    )
