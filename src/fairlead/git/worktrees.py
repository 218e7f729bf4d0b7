"""Linked worktrees: adds and removes them, and brings their branches into the base branch.

The commands run like those that read (`reader`): no hook, filter, file system monitor or transport
of the repository starts. A repository that defines its own merge drivers is refused, because git
offers no way to leave them out. A merge is computed without touching any file and only then
becomes the base branch; a rebase that fails is aborted. So nothing is ever left half done.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from fairlead.git.errors import GitError
from fairlead.git.reader import OUTPUT_BYTES, GitReader
from fairlead.git.repository import find_repository

__all__ = [
    "Commit",
    "LinkedWorktree",
    "MergeConflict",
    "add_worktree",
    "commit_everything",
    "commits_since",
    "count_commits",
    "delete_branch",
    "exclude_from_status",
    "ignored_paths",
    "linked_worktrees",
    "merge_into",
    "rebase_onto",
    "remove_worktree",
    "undo_commit",
]

MOST_COMMITS = 50
MOST_CONFLICTS = 100

_OWN = (
    "-c", "commit.gpgSign=false",
    "-c", "merge.verifySignatures=false",
    "-c", "rebase.autoStash=false",
    "-c", "rebase.updateRefs=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
)  # fmt: skip
"""Further configuration that could start a program or keep files aside."""


class MergeConflict(GitError):
    """Two branches changed the same lines; nothing was changed."""

    def __init__(self, command: str, files: tuple[str, ...]) -> None:
        self.files = files
        listed = ", ".join(files[:5]) + (" …" if len(files) > 5 else "")
        super().__init__(command, f"both sides changed {listed or 'the same files'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedWorktree:
    """A working tree of a repository."""

    path: str
    branch: str | None
    """The branch that is checked out; None if it is a commit."""
    commit: str
    main: bool = False
    gone: bool = False
    """Whether its folder was deleted without git."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, for a list."""

    id: str
    subject: str


async def linked_worktrees(reader: GitReader) -> tuple[LinkedWorktree, ...]:
    """All working trees of a repository, the main one first."""
    printed = await reader.read("worktree", "list", "--porcelain", "-z")
    worktrees: list[LinkedWorktree] = []
    for block in printed.decode("utf-8", "surrogateescape").split("\0\0"):
        fields = dict(line.partition(" ")[::2] for line in block.strip("\0").split("\0") if line)
        if "worktree" in fields and "bare" not in fields:
            branch = fields.get("branch", "").removeprefix("refs/heads/") or None
            worktrees.append(
                LinkedWorktree(
                    path=fields["worktree"],
                    branch=branch,
                    commit=fields.get("HEAD", ""),
                    main=not worktrees,
                    gone="prunable" in fields,
                )
            )
    return tuple(worktrees)


async def add_worktree(reader: GitReader, path: Path, branch: str, base: str) -> None:
    """Create a branch at a commit, and check it out in a new folder."""
    await reader.read("check-ref-format", "--branch", branch)
    await reader.read(
        "worktree", "add", "--quiet", "--no-track", "-b", branch, "--", str(path), base
    )


async def exclude_from_status(reader: GitReader, folder: str) -> None:
    """Leave a folder out of the repository's status, without changing a tracked file."""
    printed = await reader.read("rev-parse", "--git-path", "info/exclude")
    path = reader.repository.top / printed.decode().rstrip("\n")
    line = f"/{folder.strip('/')}/"
    path.parent.mkdir(exist_ok=True)
    text = path.read_text("utf-8", "surrogateescape") if path.is_file() else ""
    if line not in text.splitlines():
        start = "" if not text or text.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{start}{line}\n")


async def commits_since(
    reader: GitReader, base: str | None, tip: str, branch: str | None = None
) -> tuple[Commit, ...]:
    """The first commits of a tip that a base does not contain, the newest first.

    Without a base: those that no other branch or tag than `branch` contains.
    """
    printed = await reader.read(
        "log", "-z", "--format=%h %s", f"--max-count={MOST_COMMITS}", *_range(base, tip, branch)
    )
    lines = printed.decode("utf-8", "replace").split("\0")
    return tuple(Commit(*line.partition(" ")[::2]) for line in lines if line.strip())


async def count_commits(
    reader: GitReader, base: str | None, tip: str, branch: str | None = None
) -> int:
    """How many commits `commits_since` would list without its limit."""
    printed = await reader.read("rev-list", "--count", *_range(base, tip, branch))
    return int(printed)


async def ignored_paths(worktree: GitReader) -> tuple[str, ...]:
    """The files of a working tree that git ignores; a folder with only such files is one entry."""
    printed = await worktree.read(
        "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignored=traditional",
        "--ignore-submodules=dirty",
    )  # fmt: skip
    records = printed.decode("utf-8", "surrogateescape").split("\0")
    return tuple(record[2:] for record in records if record.startswith("! "))


async def commit_everything(reader: GitReader, message: str) -> bytes:
    """Commit every change of a working tree, also new files that are not ignored.

    Returns the index as it was before, for `undo_commit`.
    """
    index = await _index_file(reader)
    before = await asyncio.to_thread(index.read_bytes)
    await reader.read("add", "--all", "--", ".")
    await _run(reader, "commit", "--quiet", "--no-verify", f"--message={message}")
    return before


async def undo_commit(reader: GitReader, index: bytes) -> None:
    """Undo `commit_everything`: the files stay, and what was staged before is staged again."""
    await _run(reader, "reset", "--soft", "HEAD~1")
    path = await _index_file(reader)
    temporary = path.with_name(f"{path.name}.fairlead")
    await asyncio.to_thread(temporary.write_bytes, index)
    await asyncio.to_thread(temporary.replace, path)


async def merge_into(reader: GitReader, base: str, branch: str, message: str) -> str:
    """Merge a branch into the base branch; returns the new commit of the base.

    Raises `MergeConflict`, and then nothing has changed.
    """
    await _refuse_merge_drivers(reader)
    old, tip = await _tips(reader, base, branch)
    common = (await reader.read("merge-base", old, tip)).decode().strip()
    if common == tip:
        return old
    if common == old:
        new = tip
    else:
        tree = await _merged_tree(reader, old, tip)
        made = await _run(reader, "commit-tree", tree, "-p", old, "-p", tip, "-m", message)
        new = made.decode().strip()
    await _advance(reader, base, old, new)
    return new


async def rebase_onto(reader: GitReader, worktree: GitReader, base: str, branch: str) -> str:
    """Put the commits of a branch on top of the base branch, and advance the base to them.

    `worktree` reads the working tree in which the branch is checked out. Raises `MergeConflict`
    after the rebase was aborted: both branches are then as they were.
    """
    await _refuse_merge_drivers(reader)
    old, before = await _tips(reader, base, branch)
    try:
        await _run(worktree, "rebase", "--quiet", old)
    except GitError as problem:
        files = await _conflicts(worktree)
        with contextlib.suppress(GitError):
            await worktree.read("rebase", "--abort")
        if files:
            raise MergeConflict("rebase", files) from None
        raise problem from None
    _, tip = await _tips(reader, base, branch)
    try:
        await _advance(reader, base, old, tip)
    except GitError:
        # Everything in this working tree is committed, so this loses nothing.
        await _run(worktree, "reset", "--quiet", "--hard", before)
        raise
    return tip


async def remove_worktree(reader: GitReader, path: str) -> None:
    """Delete a working tree with everything in it; its branch stays.

    If its folder is gone already, git forgets this working tree and no other: `git worktree prune`
    would also forget those whose disk is only not mounted.
    """
    await reader.read("worktree", "remove", "--force", path)


async def delete_branch(reader: GitReader, branch: str) -> None:
    """Delete a branch, whether its commits are elsewhere or not."""
    await reader.read("branch", "--quiet", "-D", "--", branch)


def _range(base: str | None, tip: str, branch: str | None) -> tuple[str, ...]:
    if base is not None:
        return (f"{base}..{tip}", "--")
    own = () if branch is None else (f"--exclude={branch}",)
    return (tip, "--not", *own, "--branches", "--remotes", "--tags", "--")


async def _index_file(reader: GitReader) -> Path:
    printed = await reader.read("rev-parse", "--git-path", "index")
    return reader.repository.top / printed.decode("utf-8", "surrogateescape").rstrip("\n")


async def _tips(reader: GitReader, *branches: str) -> tuple[str, ...]:
    tips = []
    for branch in branches:
        tip = await reader.commit_of(f"refs/heads/{branch}")
        if tip is None:
            raise GitError("rev-parse", f"the branch {branch} does not exist")
        tips.append(tip)
    return tuple(tips)


async def _merged_tree(reader: GitReader, old: str, tip: str) -> str:
    try:
        printed = await reader.read(
            "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", old, tip
        )
    except GitError as problem:
        names = problem.output.decode("utf-8", "replace").split("\0")[1:]
        files = tuple(dict.fromkeys(name for name in names if name))
        if problem.code == 1 and files:
            raise MergeConflict("merge", files[:MOST_CONFLICTS]) from None
        raise
    return printed.decode().split("\0")[0]


async def _advance(reader: GitReader, base: str, old: str, new: str) -> None:
    """Move the base branch to a commit that contains it, with its working tree if it has one."""
    for worktree in await linked_worktrees(reader):
        if worktree.branch != base or worktree.gone:
            continue
        repository = find_repository(worktree.path)
        if repository is not None:
            await _run(GitReader(repository), "merge", "--ff-only", "--quiet", "--no-stat", new)
            return
    await reader.read("update-ref", f"refs/heads/{base}", new, old)


async def _conflicts(worktree: GitReader) -> tuple[str, ...]:
    try:
        printed = await worktree.read("diff", "--name-only", "--diff-filter=U", "-z")
    except GitError:
        return ()
    names = printed.decode("utf-8", "replace").split("\0")
    return tuple(dict.fromkeys(name for name in names if name))[:MOST_CONFLICTS]


async def _refuse_merge_drivers(reader: GitReader) -> None:
    printed = await reader.read("config", "--list", "--show-scope", "-z", limit=OUTPUT_BYTES)
    fields = printed.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key = entry.partition("\n")[0].lower()
        if (
            scope not in ("system", "global", "command")
            and key.startswith("merge.")
            and key.endswith(".driver")
        ):
            raise GitError(
                "merge",
                f"the repository defines its own merge program ({key}). Merge in a terminal instead",
            )


async def _run(reader: GitReader, command: str, *arguments: str) -> bytes:
    return await reader.read_with(_OWN, command, *arguments)
