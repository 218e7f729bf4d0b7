"""Parses the patch of one file, as `git diff` prints it, into numbered lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Hunk", "Line", "Patch", "added_file", "parse_patch"]

_HUNK = re.compile(rb"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
NO_NEWLINE = b"\\"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk. `old` and `new` are its numbers on each side; None where it is not there."""

    kind: str
    """` ` for context, `-` for removed, `+` for added."""
    old: int | None
    new: int | None
    text: str
    newline: bool = True
    """False for the last line of a file that does not end with a line break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that follow one another in the file."""

    old_start: int
    new_start: int
    """The numbers of its first line on each side."""
    section: str
    """The function or heading that git names for orientation; may be empty."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The difference of one file."""

    hunks: tuple[Hunk, ...] = ()
    binary: bool = False
    cut: bool = False
    """Whether lines after the last one were left out, because the patch has too many."""
    size: int = 0
    """Bytes of a file that is too large to be compared or read whole; 0 for any other file."""


def parse_patch(printed: bytes, most_lines: int) -> Patch:
    """The patch of the first file in `printed`, up to a number of lines."""
    hunks: list[Hunk] = []
    section = ""
    lines: list[Line] = []
    binary = inside = False
    old = new = old_start = new_start = count = 0

    def finished() -> Hunk:
        return Hunk(old_start=old_start, new_start=new_start, section=section, lines=tuple(lines))

    # The last piece is what follows the last line break: nothing.
    for raw in printed.split(b"\n")[:-1]:
        if match := _HUNK.match(raw) if raw.startswith(b"@@ ") else None:
            if inside:
                hunks.append(finished())
            inside, lines = True, []
            old, new, section = int(match[1]), int(match[2]), _text(match[3])
            old_start, new_start = old, new
        elif not inside:
            binary = binary or raw.startswith((b"Binary files ", b"GIT binary patch"))
        elif raw.startswith(NO_NEWLINE):
            if lines:
                last = lines[-1]
                lines[-1] = Line(last.kind, last.old, last.new, last.text, newline=False)
        elif raw.startswith(b"diff --git "):
            break
        elif count == most_lines:
            hunks.append(finished())
            return Patch(hunks=tuple(hunks), cut=True)
        else:
            kind = raw[:1].decode("ascii", "replace") or " "
            before, after = kind != "+", kind != "-"
            lines.append(
                Line(kind, old if before else None, new if after else None, _text(raw[1:]))
            )
            old, new, count = old + before, new + after, count + 1
    if inside:
        hunks.append(finished())
    return Patch(hunks=tuple(hunks), binary=binary)


def added_file(content: bytes, most_lines: int) -> Patch:
    """The patch of a file that git does not know: all of its lines are added."""
    if b"\0" in content[:8_000]:  # git's own test for a binary file.
        return Patch(binary=True)
    raw = content.split(b"\n")
    unfinished = raw.pop()
    if unfinished:
        raw.append(unfinished)
    if not raw:
        return Patch()
    lines = [
        Line("+", None, number, _text(text))
        for number, text in enumerate(raw[:most_lines], start=1)
    ]
    cut = len(raw) > most_lines
    if unfinished and not cut:
        lines[-1] = Line("+", None, len(lines), lines[-1].text, newline=False)
    hunk = Hunk(old_start=0, new_start=1, section="", lines=tuple(lines))
    return Patch(hunks=(hunk,), cut=cut)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
