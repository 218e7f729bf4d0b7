"""The two source trees of a comparison: this one, and a commit in a temporary worktree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["ROOT", "Tree", "UnknownCommit", "checked_out", "current"]

ROOT = Path(__file__).parent.parent.parent

STATIC = Path("src/fairlead/server/static")
"""The built web app, which is not part of a commit."""


class UnknownCommit(Exception):
    """Git does not know the commit."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One version of the code."""

    name: str
    root: Path

    @property
    def source(self) -> Path:
        """The folder to import `fairlead` from."""
        return self.root / "src"


def current() -> Tree:
    """The code of this working tree, including uncommitted changes."""
    return Tree("new", ROOT)


@contextmanager
def checked_out(commit: str) -> Iterator[Tree]:
    """The code of a commit, in a worktree that is removed afterwards."""
    with TemporaryDirectory(prefix="fairlead-compare-") as folder:
        root = Path(folder) / "tree"
        completed = _git("worktree", "add", "--quiet", "--detach", str(root), commit)
        if completed.returncode:
            raise UnknownCommit(f"git cannot check out {commit!r}: {completed.stderr.strip()}")
        try:
            built = ROOT / STATIC
            if built.is_dir() and not (root / STATIC).exists():
                (root / STATIC).symlink_to(built)
            yield Tree("old", root)
        finally:
            _git("worktree", "remove", "--force", str(root))


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
