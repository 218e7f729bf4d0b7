"""Finds the repository that a folder belongs to, from files only: no program is started.

git itself would follow `core.worktree` and any `.git` file to wherever they point, so a hostile
repository could show files of other folders. Here the working tree is always the folder that
contains `.git`, and a `.git` file may lead to a folder elsewhere only if that folder points back,
as the folders of linked worktrees and submodules do. A project cannot write into folders outside
of itself, so it cannot forge the way back.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Repository", "find_repository", "read_small"]

MOST_PARENTS = 40
MOST_BYTES = 64 * 1024

_WORKTREE_KEY = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*([^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree and its git folder."""

    top: Path
    """The root of the working tree."""
    git_dir: Path
    """The folder with this working tree's HEAD and index."""


def find_repository(folder: str | Path) -> Repository | None:
    """The repository of a folder: the nearest parent with a usable `.git`, or None."""
    start = Path(folder)
    for top in (start, *start.parents)[:MOST_PARENTS]:
        git_dir = _git_dir(top)
        if git_dir is not None:
            return Repository(top=top, git_dir=git_dir)
    return None


def _git_dir(top: Path) -> Path | None:
    entry = top / ".git"
    try:
        mode = entry.lstat().st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        return entry if read_small(entry / "HEAD") else None
    text = read_small(entry)
    if not text.startswith("gitdir: "):
        return None
    git_dir = top / text.removeprefix("gitdir: ").strip()
    return git_dir if _points_back(git_dir, top) else None


def _points_back(git_dir: Path, top: Path) -> bool:
    """Whether a git folder elsewhere names this working tree as its own."""
    back = read_small(git_dir / "gitdir").strip()  # A linked worktree.
    if back:
        return _same(git_dir / back, top / ".git")
    match = _WORKTREE_KEY.search(read_small(git_dir / "config"))  # A submodule.
    return match is not None and _same(git_dir / match[1].strip().strip('"'), top)


def _same(first: Path, second: Path) -> bool:
    try:
        return first.resolve(strict=True) == second.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return False


def read_small(path: Path) -> str:
    """The start of a regular file; an empty text if there is none. Links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.read(descriptor, MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
