"""All that a user could lose: files of every working tree, indexes, branches, and stored sessions.

before = HeldState.of(project, outside)
...
assert before.lost(HeldState.of(project, outside)) == {"file a.txt"}
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.git.repositories import git

__all__ = ["HeldState"]


@dataclass(frozen=True)
class HeldState:
    """Each thing by a name that says what it is."""

    things: dict[str, object]

    @classmethod
    def of(cls, project: Path, *folders: Path, more: dict[str, object] | None = None) -> Self:
        """A repository with its worktrees, and all files of other folders."""
        things: dict[str, object] = dict(more or {})
        for folder in (project, *folders):
            for path in _files(folder):
                things[f"file {path.relative_to(folder.parent)}"] = _content(path)
        for line in git(project, "for-each-ref", "--format=%(refname) %(objectname)").splitlines():
            name, commit = line.split(" ")
            things[f"ref {name}"] = commit
        for tree in _trees(project):
            if not tree.is_dir():
                continue
            place = tree.relative_to(project)
            things[f"head {place}"] = (
                git(tree, "symbolic-ref", "-q", "HEAD", check=False),
                git(tree, "rev-parse", "HEAD"),
            )
            for entry in git(tree, "ls-files", "--stage", "-z").split("\0"):
                if entry:
                    about, _, name = entry.partition("\t")
                    things[f"index {place} {name}"] = about
        return cls(things)

    def lost(self, after: HeldState) -> set[str]:
        """The names of what is gone or differs; new things are not lost."""
        return {
            name
            for name, value in self.things.items()
            if name not in after.things or after.things[name] != value
        }


def _trees(project: Path) -> Iterable[Path]:
    for line in git(project, "worktree", "list", "--porcelain").splitlines():
        if line.startswith("worktree "):
            yield Path(line.removeprefix("worktree "))


def _files(folder: Path) -> Iterable[Path]:
    for place, folders, names in os.walk(folder):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*names, *(each for each in folders if Path(place, each).is_symlink())):
            if name != ".git":
                yield Path(place, name)


def _content(path: Path) -> object:
    state = path.lstat()
    if stat.S_ISLNK(state.st_mode):
        return str(path.readlink())
    return state.st_mode, path.read_bytes()
