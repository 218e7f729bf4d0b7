"""Parses `git diff --raw --numstat -z`: which files changed, how, and by how many lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["ChangedFile", "parse_changed"]

KINDS = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "type_changed",
    "U": "conflicted",
}
"""git's letter -> the word used here."""

SUBMODULE_MODE = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file that differs from the base. Paths are relative to the root of the working tree.

    A path that is not valid UTF-8 contains surrogate escapes, as everywhere in Python.
    """

    path: str
    kind: str
    """A value of `KINDS`, or `untracked`."""
    old_path: str | None = None
    """Where a renamed or copied file came from."""
    added: int | None = None
    """Lines; None for a binary file, and if they were not counted."""
    removed: int | None = None
    binary: bool = False
    submodule: bool = False
    mode_changed: bool = False
    """Whether the file became executable, or no longer is."""


def parse_changed(printed: bytes) -> list[ChangedFile]:
    """The files in git's order. A record that cannot be understood is skipped."""
    files: dict[str, ChangedFile] = {}
    records = iter(printed.decode("utf-8", "surrogateescape").split("\0"))
    for record in records:
        if record.startswith(":"):
            file = _raw(record, records)
            if file is not None:
                files[file.path] = file
        elif "\t" in record:
            _count(record, records, files)
    return list(files.values())


def _raw(record: str, following: Iterator[str]) -> ChangedFile | None:
    fields = record[1:].split(" ")
    if len(fields) < 5 or not fields[4]:
        return None
    letter = fields[4][0]
    first = next(following, "")
    moved = letter in "CR"
    return ChangedFile(
        path=next(following, "") if moved else first,
        old_path=first if moved else None,
        kind=KINDS.get(letter, "modified"),
        submodule=SUBMODULE_MODE in fields[:2],
        mode_changed=letter in "MCR" and fields[0] != fields[1],
    )


def _count(record: str, following: Iterator[str], files: dict[str, ChangedFile]) -> None:
    added, removed, path = record.split("\t", 2) if record.count("\t") >= 2 else ("", "", "")
    if not path:  # Of a renamed file the two paths follow.
        next(following, "")
        path = next(following, "")
    if path in files:
        files[path] = replace(
            files[path], added=_lines(added), removed=_lines(removed), binary=added == "-"
        )


def _lines(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None
