"""The git branch of a folder, read from its files without running a program.

The files belong to a project that may be hostile; `git.repository` opens them accordingly. Only a
few hundred characters are used.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.git.repository import find_repository, read_small

__all__ = ["Branches", "branch_of"]

FRESH_S = 5.0
"""How long a result is cached."""
CACHED = 256
"""Folders whose branch is cached: each worktree is another folder."""

_MOST_CHARS = 512
_HEAD = "ref: refs/heads/"


class Branches:
    """Caches branches for some seconds: rows of sessions change often, branches seldom."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, str | None]] = {}

    def of(self, folder: str) -> str | None:
        """The branch that is checked out in a folder; None outside of a repository."""
        now = self._clock()
        at, branch = self._known.get(folder, (float("-inf"), None))
        if not 0 <= now - at < FRESH_S:
            branch = branch_of(folder)
            self._known.pop(folder, None)
            while len(self._known) >= CACHED:
                del self._known[next(iter(self._known))]
            self._known[folder] = now, branch
        return branch


def branch_of(folder: str) -> str | None:
    """The branch, or the first characters of the commit if no branch is checked out."""
    repository = find_repository(folder) if folder else None
    return None if repository is None else _branch_name(read_small(repository.git_dir / "HEAD"))


def _branch_name(head: str) -> str | None:
    head = head[:_MOST_CHARS].strip().encode("utf-8", "replace").decode("utf-8")
    if head.startswith(_HEAD):
        return head.removeprefix(_HEAD) or None
    if len(head) in (40, 64) and all(character in "0123456789abcdef" for character in head):
        return head[:8]
    return None
