"""Reads files below allowed folders, and nothing else, whatever the path and its symlinks say.

A path is resolved first and compared by whole components, then opened folder by folder with
`O_NOFOLLOW`, so that a symlink that is swapped in between the look and the opening is refused
(abuse cases T-10, T-11).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from fairlead.errors import Refused

__all__ = ["OutsideRoots", "read_below"]


class OutsideRoots(Refused):
    """The path is not below an allowed folder, or is no plain file there."""

    def __str__(self) -> str:
        return "there is no such file below the folders of this server"


def read_below(path: str, roots: Iterable[str], limit: int) -> bytes:
    """The first `limit` bytes of a file; raises `OutsideRoots` for anything that is not one."""
    if "\0" in path:
        raise OutsideRoots
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise OutsideRoots from None
    for root in roots:
        folder = Path(root)
        if folder.resolve() != folder:
            continue  # It was moved or swapped since a session began there.
        if real.is_relative_to(folder):
            return _read(folder, real.relative_to(folder).parts, limit)
    raise OutsideRoots


def _read(root: Path, parts: tuple[str, ...], limit: int) -> bytes:
    if not parts:
        raise OutsideRoots
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts[:-1]:
            folder = _step(folder, part, os.O_DIRECTORY)
        file = _step(folder, parts[-1], os.O_NONBLOCK)
    except OSError:
        raise OutsideRoots from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OutsideRoots
    with os.fdopen(file, "rb") as opened:
        return opened.read(limit)


def _step(folder: int, name: str, how: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | how, dir_fd=folder)
    finally:
        os.close(folder)
