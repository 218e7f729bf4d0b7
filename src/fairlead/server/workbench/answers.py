"""Response types of the workbench's routes."""

from __future__ import annotations

from msgspec import Struct

from fairlead.git.changes import Changes
from fairlead.git.formats.changed import ChangedFile
from fairlead.git.formats.patch import Patch
from fairlead.server.working_files import id_of, shown_path

__all__ = ["MOST_FILES", "ChangesAnswer", "FileRow", "PatchAnswer", "PatchHunk", "file_rows"]

MOST_FILES = 5_000
"""Files in one answer; if there are more, the answer has their number."""


class FileRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One changed file."""

    id: str
    path: str
    kind: str
    old_id: str | None = None
    old_path: str | None = None
    added: int | None = None
    removed: int | None = None
    binary: bool = False
    submodule: bool = False
    mode_changed: bool = False


class ChangesAnswer(Struct, frozen=True, kw_only=True):
    """The changes of a session's folder; without a repository only `repository` says something."""

    repository: bool
    branch: str | None = None
    commit: str | None = None
    upstream: str | None = None
    ahead: int = 0
    behind: int = 0
    base: str = ""
    """The commit or tree that the files are compared with."""
    start: str | None = None
    """The commit that was checked out when the session started, if the repository has it."""
    branches: tuple[str, ...] = ()
    files: tuple[FileRow, ...] = ()
    total: int = 0
    """How many files changed; more than `files` has if there are very many."""
    folded: bool = False
    """Whether untracked folders stand for their files."""
    below: str = ""
    """The part of the repository that was looked at; empty for all of it."""


class PatchHunk(Struct, frozen=True, kw_only=True, rename="camel"):
    """Lines as in the CLI's own patches: each begins with a space, `-`, `+`, or a backslash."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]


class PatchAnswer(Struct, frozen=True, kw_only=True):
    """The difference of one file."""

    hunks: tuple[PatchHunk, ...] = ()
    binary: bool = False
    cut: bool = False
    size: int = 0
    """Bytes of a file that is too large to be compared by itself; 0 for any other file."""

    @classmethod
    def of(cls, patch: Patch) -> PatchAnswer:
        """The patch as clients read it."""
        hunks = []
        for hunk in patch.hunks:
            lines: list[str] = []
            for line in hunk.lines:
                lines.append(f"{line.kind}{line.text}")
                if not line.newline:
                    lines.append("\\ No newline at end of file")
            hunks.append(
                PatchHunk(old_start=hunk.old_start, new_start=hunk.new_start, lines=tuple(lines))
            )
        return cls(hunks=tuple(hunks), binary=patch.binary, cut=patch.cut, size=patch.size)


def file_rows(changes: Changes) -> tuple[FileRow, ...]:
    """The rows of the changed files, up to a number."""
    return tuple(_row(file) for file in changes.files[:MOST_FILES])


def _row(file: ChangedFile) -> FileRow:
    old = file.old_path
    return FileRow(
        id=id_of(file.path),
        path=shown_path(file.path),
        kind=file.kind,
        old_id=None if old is None else id_of(old),
        old_path=None if old is None else shown_path(old),
        added=file.added,
        removed=file.removed,
        binary=file.binary,
        submodule=file.submodule,
        mode_changed=file.mode_changed,
    )
