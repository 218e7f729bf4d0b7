"""The tables of review comments, and of the files as they were when a review was sent."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable

import msgspec
from msgspec import Struct

__all__ = ["Comment", "SentFile", "delete", "find", "of_session", "put_all", "sent_file"]


class Comment(Struct, frozen=True, kw_only=True):
    """A comment on lines of a file."""

    session: str
    id: str
    version: int
    """1 for a new comment; each change of it counts up."""
    device: str
    """The device that wrote the text."""
    author: str
    """The name of that device at that time."""
    file: str
    """The file's absolute path as an id, because not every path is text."""
    path: str
    """The path as it is shown: relative to the session's folder if it is below it."""
    side: str
    """`new` for lines of the file, `old` for lines that it had before."""
    start: int
    end: int
    code: str
    """The lines themselves."""
    text: str
    created: float
    edited: float
    prompt: str | None = None
    """The prompt that it was sent with."""
    resolved: float | None = None


class SentFile(Struct, frozen=True, kw_only=True):
    """The content of a commented file when a review was sent."""

    session: str
    prompt: str
    file: str
    content: bytes


_decode = msgspec.json.Decoder(Comment)


def put_all(
    db: sqlite3.Connection, comments: Iterable[Comment], files: Iterable[SentFile] = ()
) -> None:
    """Insert or replace comments, and insert the files that were sent with them."""
    db.executemany(
        "INSERT OR REPLACE INTO comments (session, id, row) VALUES (?, ?, ?)",
        [(comment.session, comment.id, msgspec.json.encode(comment)) for comment in comments],
    )
    db.executemany(
        "INSERT OR REPLACE INTO comment_files (session, prompt, file, content) VALUES (?, ?, ?, ?)",
        [(file.session, file.prompt, file.file, zlib.compress(file.content, 6)) for file in files],
    )


def find(db: sqlite3.Connection, session: str, comment: str) -> Comment | None:
    """One comment."""
    row = db.execute(
        "SELECT row FROM comments WHERE session = ? AND id = ?", (session, comment)
    ).fetchone()
    return None if row is None else _decode.decode(row[0])


def of_session(db: sqlite3.Connection, session: str) -> list[Comment]:
    """All comments of a session, the oldest first."""
    rows = db.execute("SELECT row FROM comments WHERE session = ?", (session,))
    return sorted((_decode.decode(row[0]) for row in rows), key=lambda each: each.created)


def delete(db: sqlite3.Connection, session: str, comment: str) -> None:
    """Delete a comment, and the files of reviews that have no comment left."""
    db.execute("DELETE FROM comments WHERE session = ? AND id = ?", (session, comment))
    prompts = {each.prompt for each in of_session(db, session)}
    sent = db.execute("SELECT DISTINCT prompt FROM comment_files WHERE session = ?", (session,))
    for (prompt,) in sent.fetchall():
        if prompt not in prompts:
            db.execute(
                "DELETE FROM comment_files WHERE session = ? AND prompt = ?", (session, prompt)
            )


def sent_file(db: sqlite3.Connection, session: str, prompt: str, file: str) -> bytes | None:
    """The content of a file when a review was sent; None if it was not stored."""
    row = db.execute(
        "SELECT content FROM comment_files WHERE session = ? AND prompt = ? AND file = ?",
        (session, prompt, file),
    ).fetchone()
    return None if row is None else zlib.decompress(row[0])
