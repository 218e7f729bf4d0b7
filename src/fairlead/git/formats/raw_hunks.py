"""Splits the patch of one file into hunks that git can apply one at a time. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["RawHunk", "RawPatch", "split_patch"]

_LEFT_OUT = (b"old mode ", b"new mode ")
"""A hunk changes lines only; the file's mode is staged with the whole file."""


@dataclass(frozen=True, slots=True)
class RawHunk:
    """The bytes of a hunk as git printed them."""

    content: bytes

    @property
    def digest(self) -> str:
        """Names the hunk by its position and lines: another hunk has another digest."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class RawPatch:
    """The header of a patch, and its hunks."""

    header: bytes
    hunks: tuple[RawHunk, ...]

    def only(self, digest: str) -> bytes | None:
        """The patch with one of its hunks; None if there is no such hunk."""
        for hunk in self.hunks:
            if hunk.digest == digest:
                return self.header + hunk.content
        return None


def split_patch(printed: bytes) -> RawPatch:
    """The patch of the first file in what `git diff` printed."""
    header: list[bytes] = []
    hunks: list[list[bytes]] = []
    for line in _lines(printed):
        if line.startswith(b"@@ "):
            hunks.append([line])
        elif hunks and line.startswith(b"diff --git "):
            break
        elif hunks:
            hunks[-1].append(line)
        elif not line.startswith(_LEFT_OUT):
            header.append(line)
    return RawPatch(b"".join(header), tuple(RawHunk(b"".join(lines)) for lines in hunks))


def _lines(printed: bytes) -> list[bytes]:
    """Lines that end with a line feed only; a carriage return is a part of its line."""
    parts = printed.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
