"""Looks up what each `@` of a prompt would attach, before the prompt is sent.

A CLI reads every file that an `@path` names, from anywhere on the machine and without a permission
request, and lists every folder. So the web app shows the user what that would be before sending.
The lookup is lenient: an `@` that only some version of the CLI treats as a mention counts here
too. It opens no files and only looks at names. Blocks: call it in a thread.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence

from msgspec import Struct

__all__ = ["MOST", "Mention", "look_up", "mentioned"]

MOST = 50
"""Most mentions of one prompt that are looked up; a person would not read more."""

_AT = re.compile(r'(?<![A-Za-z0-9_])@(?:"([^"\n]+)"?|([^\s"]+))')
_LINES = re.compile(r"#L?\d+(?:-L?\d+)?\Z")
_TAIL = ".,;:!?)]}>'`"


class Mention(Struct, frozen=True, kw_only=True):
    """One `@` of a prompt."""

    text: str
    """The text of the mention, with the `@`."""
    kind: str
    """file, folder, resource, or missing: the CLI leaves a missing one as text."""
    path: str
    """The real path; the name of the resource; or the name that does not exist."""
    inside: bool
    """Whether the path is below the session's own folders."""
    size: int | None = None
    """The size of a file in bytes."""


def mentioned(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text of each mention and the names that it may mean, the longest first."""
    seen: set[str] = set()
    for match in _AT.finditer(text):
        written = match[0]
        if written in seen:
            continue
        seen.add(written)
        yield written, (match[1],) if match[1] is not None else _names(match[2])


def look_up(
    text: str, folder: str, home: str, *, added: Sequence[str] = (), servers: Sequence[str] = ()
) -> list[Mention]:
    """What each mention of a text refers to, for a CLI in this folder."""
    roots = [os.path.realpath(path) for path in (folder, *added)]
    mentions: list[Mention] = []
    for written, names in mentioned(text):
        if len(mentions) == MOST:
            break
        mentions.append(_look(written, names, folder, home, roots, servers))
    return mentions


def _look(
    written: str,
    names: Sequence[str],
    folder: str,
    home: str,
    roots: Sequence[str],
    servers: Sequence[str],
) -> Mention:
    for name in names:
        path = home + name[1:] if name == "~" or name.startswith("~/") else name
        try:
            real = os.path.realpath(os.path.join(folder, path))
            status = os.stat(real)
        except (OSError, ValueError):
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        return Mention(
            text=written,
            kind="folder" if is_folder else "file",
            path=real,
            inside=any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots),
            size=None if is_folder else status.st_size,
        )
    server, colon, rest = names[0].partition(":")
    if colon and rest and server in servers:
        return Mention(text=written, kind="resource", path=names[0], inside=True)
    return Mention(text=written, kind="missing", path=names[-1], inside=True)


def _names(name: str) -> tuple[str, ...]:
    """The name itself, without a range of lines, and without the punctuation after it."""
    bare = name.rstrip(_TAIL)
    names = (name, _LINES.sub("", name), bare, _LINES.sub("", bare))
    return tuple(dict.fromkeys(each for each in names if each)) or (name,)
