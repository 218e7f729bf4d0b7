"""Parses `git status --porcelain=v2 -z --branch`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Status", "StatusEntry", "parse_status"]

UNCHANGED = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusEntry:
    """A file that differs between the last commit, the index and the working tree."""

    path: str
    old_path: str | None = None
    """Where a renamed or copied file came from."""
    staged: str = UNCHANGED
    """git's letter for the index against the last commit; `.` if equal."""
    unstaged: str = UNCHANGED
    """git's letter for the working tree against the index; `.` if equal, `?` if untracked."""
    conflicted: bool = False
    submodule: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of a working tree."""

    commit: str | None = None
    """The commit that is checked out; None before the first one."""
    branch: str | None = None
    """None if no branch is checked out."""
    upstream: str | None = None
    ahead: int = 0
    behind: int = 0
    entries: tuple[StatusEntry, ...] = ()


def parse_status(printed: bytes) -> Status:
    """The status that git printed. Lines of unknown kinds are ignored, as git's format demands."""
    headers: dict[str, str] = {}
    entries: list[StatusEntry] = []
    records = iter(printed.decode("utf-8", "surrogateescape").split("\0"))
    for record in records:
        if record.startswith("# "):
            key, _, value = record[2:].partition(" ")
            headers[key] = value
        else:
            entry = _entry(record, records)
            if entry is not None:
                entries.append(entry)
    ahead, behind = _ahead_behind(headers.get("branch.ab", ""))
    return Status(
        commit=_unless(headers.get("branch.oid"), "(initial)"),
        branch=_unless(headers.get("branch.head"), "(detached)"),
        upstream=headers.get("branch.upstream"),
        ahead=ahead,
        behind=behind,
        entries=tuple(entries),
    )


def _entry(record: str, following: Iterator[str]) -> StatusEntry | None:
    kind, _, rest = record.partition(" ")
    if kind == "?" and rest:
        return StatusEntry(path=rest, unstaged="?")
    if kind not in FIELDS:
        return None
    fields = rest.split(" ", FIELDS[kind])
    if len(fields) <= FIELDS[kind] or len(fields[0]) != 2:
        return None
    return StatusEntry(
        path=fields[-1],
        old_path=next(following, None) if kind == "2" else None,
        staged=fields[0][0],
        unstaged=fields[0][1],
        conflicted=kind == "u",
        submodule=fields[1].startswith("S"),
    )


FIELDS = {"1": 7, "2": 8, "u": 9}
"""Kind of a record -> how many fields stand before its path."""


def _ahead_behind(text: str) -> tuple[int, int]:
    ahead, _, behind = text.partition(" ")
    try:
        return int(ahead), -int(behind)
    except ValueError:
        return 0, 0


def _unless(value: str | None, nothing: str) -> str | None:
    return None if value == nothing else value
