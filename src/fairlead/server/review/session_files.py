"""The files that a session may show: below its own folder, or in its repository.

A client names a file by its id relative to the repository or to the session's folder. Files are
opened below the session's folder or the server's allowed folders only, without following links
(`files`). Everything here blocks: call it in a thread.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fairlead.git.repository import find_repository
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.working_files import id_of, path_of_id, shown_path

__all__ = ["SessionFiles"]


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The files of one session."""

    policy: Policy
    folder: str

    def absolute(self, tree: str, file: str) -> str:
        """The path of a file that a client named; refuses one that the session may not show."""
        relative = path_of_id(file)
        top = self._top(tree)
        if not relative or top is None or not _plain(relative):
            raise Refusal("not_found", "File not found in the session's folder.")
        path = top / relative
        if self._root(path) is None or self.policy.opening.hides(path):
            raise Refusal("not_found", "File not found in the session's folder.")
        return str(path)

    def shown(self, path: str) -> str:
        """The path as the agent and the user see it: relative to the folder if it is below it."""
        inside = Path(path).is_relative_to(self.folder)
        return shown_path(str(Path(path).relative_to(self.folder)) if inside else path)

    def ids(self, path: str) -> tuple[str | None, str | None]:
        """The file's id in the list of changes, and in the list of files."""
        return _id_below(self._top("repository"), path), _id_below(Path(self.folder), path)

    def size(self, path: str) -> int | None:
        """Bytes of a regular file; None if there is none."""
        root = self._root(Path(path))
        return None if root is None else self.policy.opening.size(root, _parts(path, root))

    def read(self, path: str, most: int) -> bytes | None:
        """The first `most` bytes of a regular file; None if there is none."""
        root = self._root(Path(path))
        if root is None:
            return None
        return self.policy.opening.read_plain(root, _parts(path, root), most)

    def _top(self, tree: str) -> Path | None:
        if tree == "folder":
            return Path(self.folder)
        if tree != "repository":
            raise Refusal("bad_message", "`tree` must be repository or folder.")
        repository = find_repository(self.folder)
        return None if repository is None else repository.top

    def _root(self, path: Path) -> str | None:
        """The folder below which the file is opened: the session's own, else an allowed one."""
        roots = [Path(self.folder), *self.policy.folders]
        return next((str(root) for root in roots if path.is_relative_to(root)), None)


def _plain(relative: str) -> bool:
    parts = relative.split("/")
    return "\0" not in relative and not any(part in ("", ".", "..") for part in parts)


def _parts(path: str, root: str) -> tuple[str, ...]:
    return Path(path).relative_to(root).parts


def _id_below(top: Path | None, path: str) -> str | None:
    if top is None or not Path(path).is_relative_to(top):
        return None
    return id_of(os.fspath(Path(path).relative_to(top)))
