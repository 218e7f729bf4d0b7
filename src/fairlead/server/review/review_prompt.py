"""The text of a review: each comment with its path, its lines and its code. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fairlead.store.tables.comments import Comment

__all__ = ["review_text"]

_TICKS = re.compile(r"`+")


def review_text(comments: Sequence[Comment], intro: str, sender: str) -> str:
    """One prompt with all comments in the given order; `sender` is the device that sends it."""
    files = len({comment.file for comment in comments})
    about = f"Code review: {_counted(len(comments), 'comment')} in {_counted(files, 'file')}."
    parts = [about]
    if intro.strip():
        parts.append(intro.strip())
    path = None
    for number, comment in enumerate(comments, start=1):
        if comment.path != path:
            path = comment.path
            parts.append(f"## {_on_one_line(path)}")
        parts.append(_comment(number, comment, sender))
    return "\n\n".join(parts) + "\n"


def _comment(number: int, comment: Comment, sender: str) -> str:
    single = comment.start == comment.end
    where = f"Line {comment.start}" if single else f"Lines {comment.start} to {comment.end}"
    if comment.side == "old":
        where += " of the version before the change"
    by = "" if comment.device == sender else f" (by {_on_one_line(comment.author)})"
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(comment.code)), default=0))
    return (
        f"### Comment {number}: {where}{by}\n\n{fence}\n{comment.code}\n{fence}\n\n"
        f"{comment.text.strip()}"
    )


def _on_one_line(text: str) -> str:
    """A name that cannot end its line or hide what follows it."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
