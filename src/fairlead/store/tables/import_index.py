"""The indexed_files table: a cache of what `imports` knows about the CLI's transcript files.

Everything here can be read again from the files; a row that cannot be decoded is ignored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec
from msgspec import Struct

__all__ = ["IndexedFile", "forget", "put", "rows"]


class IndexedFile(Struct, frozen=True, kw_only=True):
    """The summary of one transcript file, and the offset up to which it was read."""

    path: str
    """Relative to the projects folder."""
    inode: int
    size: int
    modified_ns: int
    offset: int = 0
    """Where the first line begins that was not complete when the file was read."""
    mark: int = 0
    """A checksum of the bytes before `offset`, to detect a rewritten file."""
    cwd: str = ""
    title: str = ""
    custom_title: str = ""
    first_prompt: str = ""
    created: float = 0.0
    last_activity: float = 0.0
    messages: int = 0
    last_message: str = ""
    """The id of the last answer, which has a record for each of its blocks."""
    version: str = ""
    git_branch: str = ""
    broken: int = 0
    """Number of lines that are not JSON objects."""
    problem: str = ""
    """Why the file cannot be read; empty if it can."""


_decode = msgspec.json.Decoder(IndexedFile).decode


def rows(db: sqlite3.Connection, root: str) -> list[IndexedFile]:
    """All rows of a projects folder."""
    files = []
    for (row,) in db.execute("SELECT row FROM indexed_files WHERE root = ?", (root,)):
        try:
            files.append(_decode(row))
        except msgspec.DecodeError:
            continue
    return files


def put(db: sqlite3.Connection, root: str, files: Sequence[IndexedFile]) -> None:
    """Insert or replace rows by their path."""
    db.executemany(
        "INSERT OR REPLACE INTO indexed_files VALUES (?, ?, ?)",
        [(root, file.path, msgspec.json.encode(file)) for file in files],
    )


def forget(db: sqlite3.Connection, root: str, paths: Sequence[str]) -> None:
    """Remove rows."""
    db.executemany(
        "DELETE FROM indexed_files WHERE root = ? AND path = ?", [(root, path) for path in paths]
    )
