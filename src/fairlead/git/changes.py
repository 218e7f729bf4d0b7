"""The changes of a working tree since a commit, and the patch of one file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from fairlead.git.errors import GitError, GitMissing, GitOutputTooLarge, GitTimeout
from fairlead.git.formats.changed import ChangedFile, parse_changed
from fairlead.git.formats.patch import Patch, added_file, parse_patch
from fairlead.git.formats.status import Status, StatusEntry, parse_status
from fairlead.git.reader import BIG_FILE, DIFF, OUTPUT_BYTES, GitReader, literal
from fairlead.git.repository import find_repository

__all__ = [
    "Changes",
    "Files",
    "branches",
    "changes_since",
    "file_patch",
    "head_commit",
    "merge_base",
    "status",
]


class Files(Protocol):
    """The files of the working tree, by their paths below its root.

    The caller brings them, because it decides how to open a file without following links.
    """

    def size(self, path: str) -> int | None:
        """Bytes of a regular file; None if there is none."""

    def read(self, path: str, most: int) -> bytes | None:
        """The content of a regular file; None if there is none or it has more bytes than `most`."""

    def start(self, path: str, most: int) -> bytes | None:
        """The first `most` bytes of a regular file; None if there is none."""


MOST_EXCLUDED = 1_000
"""Very large files that can be left out of a count; with more, no lines are counted at all."""
MOST_COUNTED = 20_000
"""Changed files whose lines are counted; with more, counting would take too long."""
COUNTED_BYTES = 1024 * 1024
"""Size of an untracked file whose lines are counted."""
COUNTED_IN_ALL = 64 * 1024 * 1024
"""Bytes of untracked files that are read to count lines; after that, only names are listed."""
T = TypeVar("T")

PARSED_AT_ONCE = 64 * 1024
"""Bytes of output that are parsed in the event loop."""
PATCH_LINES = 3_000
MOST_COMPARED = 32 * 1024 * 1024
"""Bytes of a file that is compared if the user asks for it."""
MOST_CONTEXT = 1_000_000
PER_FILE_BYTES = 4_096
"""What opening one more file counts as."""
LINE_BYTES = 400
LEAST_PATCH_BYTES = 1024 * 1024
"""Bytes of a patch that are read for each line that is wanted, and at least."""

STATUS = ("--porcelain=v2", "-z", "--branch", "--find-renames", "--ignore-submodules=dirty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A working tree against a base."""

    base: str
    """The commit or tree that the files are compared with."""
    status: Status
    files: tuple[ChangedFile, ...]
    folded: bool = False
    """Whether untracked folders stand for all of their files, because there are too many."""


async def status(
    reader: GitReader, *, below: str = "", limit: int = OUTPUT_BYTES
) -> tuple[Status, bool]:
    """The state of the working tree, and whether untracked folders stand for their files."""
    where = ("--", literal(below)) if below else ()
    try:
        printed = await reader.read("status", *STATUS, "--untracked-files=all", *where, limit=limit)
        return await _parsed(parse_status, printed), False
    except GitOutputTooLarge:
        printed = await reader.read("status", *STATUS, "--untracked-files=normal", *where)
        return await _parsed(parse_status, printed), True


async def changes_since(
    reader: GitReader,
    base: str | None,
    files: Files,
    *,
    below: str = "",
    limit: int = OUTPUT_BYTES,
) -> Changes:
    """Every file that differs from `base`, a commit; None compares with the last commit.

    With `below`, only files below that folder of the working tree are compared. If the names of
    the untracked files have more than `limit` bytes, folders stand for them. The lines of more than
    20,000 changed files are not counted.
    """
    state, folded = await status(reader, below=below, limit=limit)
    tree = base or state.commit or await _empty_tree(reader)
    tracked = await _tracked(reader, tree, files, below)
    untracked = await asyncio.to_thread(_untracked_files, state, files)
    changed = {file.path: file for file in (*tracked, *untracked)}
    ordered = sorted(changed.values(), key=lambda file: file.path)
    return Changes(base=tree, status=state, files=tuple(ordered), folded=folded)


async def file_patch(
    reader: GitReader,
    base: str,
    file: ChangedFile,
    files: Files,
    *,
    context: int = 3,
    most_lines: int = PATCH_LINES,
    large: bool = False,
) -> Patch:
    """The patch of one file of `changes_since`.

    Of an untracked file that is very large, the beginning is shown. Another very large file is
    compared only with `large`, and only up to `MOST_COMPARED` bytes, because git loads it whole.
    """
    size = await asyncio.to_thread(files.size, file.path) or 0
    if file.kind == "untracked":
        content = await asyncio.to_thread(files.start, file.path, BIG_FILE)
        if content is None:
            return Patch(binary=True)
        if size <= BIG_FILE:
            return await asyncio.to_thread(added_file, content, most_lines)
        # Without the last line, of which only a part was read.
        lines = content[: content.rfind(b"\n") + 1] or content
        patch = await asyncio.to_thread(added_file, lines, most_lines)
        return replace(patch, cut=not patch.binary, size=size)
    if size > (MOST_COMPARED if large else BIG_FILE):
        return Patch(binary=True, size=size)
    paths = [literal(path) for path in (file.old_path, file.path) if path]
    unified = f"--unified={max(0, min(context, MOST_CONTEXT))}"
    limit = max(LEAST_PATCH_BYTES, most_lines * LINE_BYTES)
    threshold = ("-c", f"core.bigFileThreshold={MOST_COMPARED + 1}") if large else ()
    printed = await reader.read_start(
        "diff", *DIFF, unified, base, "--", *paths, limit=limit, options=threshold
    )
    patch = await asyncio.to_thread(parse_patch, printed, most_lines)
    return replace(patch, cut=True) if len(printed) > limit else patch


async def head_commit(folder: str) -> str | None:
    """The commit that is checked out in a folder; None outside a repository and on any error."""
    repository = await asyncio.to_thread(find_repository, folder)
    if repository is None:
        return None
    try:
        return await GitReader(repository).commit_of("HEAD")
    except GitError:
        return None


async def merge_base(reader: GitReader, branch: str) -> str | None:
    """The commit where the work left a branch; None if there is no such branch or no common one."""
    commit = await reader.commit_of(branch)
    if commit is None:
        return None
    try:
        printed = await reader.read("merge-base", "HEAD", commit)
    except GitError:
        return None
    return printed.decode("ascii", "replace").strip() or None


async def branches(reader: GitReader, most: int = 500) -> list[str]:
    """The local branches, those with the newest commits first; none if a branch is damaged."""
    try:
        printed = await reader.read(
            "for-each-ref", "--sort=-committerdate", f"--count={most}",
            "--format=%(refname:short)", "refs/heads",
        )  # fmt: skip
    except (GitTimeout, GitMissing):
        raise
    except GitError:
        return []
    return printed.decode("utf-8", "replace").splitlines()


async def _tracked(reader: GitReader, tree: str, files: Files, below: str) -> list[ChangedFile]:
    """The changes of files that git knows; lines are not counted in very large or very many files."""
    where = literal(below) if below else "."
    printed = await reader.read("diff", *DIFF, "--raw", "-z", tree, "--", where)
    changed = await _parsed(parse_changed, printed)
    if len(changed) > MOST_COUNTED:
        return changed
    big = await asyncio.to_thread(_big_files, changed, files)
    if len(big) > MOST_EXCLUDED:
        return changed
    left_out = [literal(path, exclude=True) for path in big]
    counts = await reader.read("diff", *DIFF, "--numstat", "-z", tree, "--", where, *left_out)
    counted = await _parsed(parse_changed, printed + counts)
    marked = (replace(file, binary=True) if file.path in big else file for file in counted)
    return [file for file in marked if not _only_touched(file)]


def _only_touched(file: ChangedFile) -> bool:
    """Whether a file has a new time but the same content and mode: git counts no line, or none."""
    if file.kind != "modified" or file.mode_changed or file.submodule or file.binary:
        return False
    return not file.added and not file.removed


def _big_files(changed: list[ChangedFile], files: Files) -> set[str]:
    return {file.path for file in changed if file.kind != "deleted" and _is_big(files, file.path)}


def _is_big(files: Files, path: str) -> bool:
    size = files.size(path)
    return size is not None and size > BIG_FILE


async def _parsed(parse: Callable[[bytes], T], printed: bytes) -> T:
    """Parse what git printed; long output in a thread, so that the event loop is not blocked."""
    if len(printed) <= PARSED_AT_ONCE:
        return parse(printed)
    return await asyncio.to_thread(parse, printed)


def _untracked_files(state: Status, files: Files) -> list[ChangedFile]:
    """The untracked files; lines are counted until enough bytes were read."""
    left = COUNTED_IN_ALL
    listed = []
    for entry in state.entries:
        if entry.unstaged == "?":
            content = None
            if left > 0 and not entry.path.endswith("/"):
                content = files.read(entry.path, COUNTED_BYTES)
                read = files.size(entry.path) or 0 if content is None else len(content)
                left -= PER_FILE_BYTES + min(read, COUNTED_BYTES)
            listed.append(_untracked(entry, content))
    return listed


def _untracked(entry: StatusEntry, content: bytes | None) -> ChangedFile:
    """An untracked file or folder; its lines are counted if its content is known."""
    file = ChangedFile(path=entry.path, kind="untracked")
    if content is None:
        return file
    if b"\0" in content[:8_000]:
        return replace(file, binary=True)
    lines = content.count(b"\n") + (content[-1:] not in (b"", b"\n"))
    return replace(file, added=lines, removed=0)


async def _empty_tree(reader: GitReader) -> str:
    """The id of the empty tree, which depends on the repository's kind of hash."""
    printed = await reader.read("hash-object", "-t", "tree", "--stdin")
    return printed.decode("ascii").strip()
