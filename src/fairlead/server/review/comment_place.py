"""Finds the lines of a comment in the current file. Blocks: call it in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from fairlead.server.review.line_moves import moved_to, nearest
from fairlead.server.review.session_files import SessionFiles
from fairlead.server.working_files import path_of_id
from fairlead.store.tables.comments import Comment

__all__ = ["FOLLOWED_BYTES", "CommentPlace", "comment_place_of", "followed_content", "text_lines"]

FOLLOWED_BYTES = 2 * 1024 * 1024
"""Lines of larger files are not followed."""


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """Where the lines of a comment are."""

    lines: str
    """`same`, `changed`, `deleted` (the file), or `unknown`."""
    now: int | None = None
    """The number of the first line now, if the lines are the same."""


def followed_content(files: SessionFiles, file: str) -> bytes | None:
    """The content of a commented file; None if there is none or it is too large."""
    content = files.read(path_of_id(file) or "", FOLLOWED_BYTES + 1)
    return None if content is None or len(content) > FOLLOWED_BYTES else content


def comment_place_of(files: SessionFiles, comment: Comment, sent: bytes | None) -> CommentPlace:
    """Where the lines of a comment are now; `sent` is the file when the review was sent."""
    if files.size(path_of_id(comment.file) or "") is None:
        return CommentPlace("deleted")
    content = followed_content(files, comment.file)
    if content is None:
        return CommentPlace("unknown")
    if comment.side == "old":
        if sent is None:
            return CommentPlace("unknown")
        return CommentPlace("same" if content == sent else "changed")
    now, code = text_lines(content), comment.code.split("\n")
    if sent is None:
        start = nearest(now, code, comment.start)
        return CommentPlace("changed") if start is None else CommentPlace("same", start)
    before = text_lines(sent)
    anchor = nearest(before, code, comment.start)
    if anchor is None:  # The file had changed before the review was sent.
        return CommentPlace("changed")
    moved = moved_to(before, now, anchor, anchor + len(code) - 1)
    return CommentPlace("changed") if moved is None else CommentPlace("same", moved)


def text_lines(content: bytes) -> list[str]:
    """The lines as patches show them: split at line feeds only."""
    lines = content.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
