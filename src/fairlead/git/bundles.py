"""A working tree as one file, and back: its commits, its uncommitted changes and its new files.

The state of the working tree becomes a commit whose parents are `HEAD` and the state of the index.
Both are made with a temporary index, so that neither the real index nor a file changes. `git bundle`
writes them with the history to a file. `unbundle` makes a new repository of it, in which the same
changes are staged, unstaged and untracked. Ignored files, hooks and the configuration of the
repository are not part of a bundle. The commands run as in `reader`: nothing of the repository is
started.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlead.git.changes import status
from fairlead.git.errors import GitError
from fairlead.git.reader import OUTPUT_BYTES, GitReader, git_environment
from fairlead.git.repository import Repository, find_repository
from fairlead.git.worktrees import ignored_paths

__all__ = ["BundledWork", "WorkPreview", "bundle_work", "preview_work", "unbundle"]

BUNDLE_S = 600.0
"""How long git may take for the history of a large repository."""

REF = "refs/fairlead/move"
"""The name of the commit while it is written and read."""

LISTED = 200
"""Files that a preview lists."""

_AUTHOR = {
    "GIT_AUTHOR_NAME": "Fairlead",
    "GIT_AUTHOR_EMAIL": "fairlead@localhost",
    "GIT_COMMITTER_NAME": "Fairlead",
    "GIT_COMMITTER_EMAIL": "fairlead@localhost",
}

_REMOTE = re.compile(r"(?:https|ssh)://[^\s]+\Z|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:][^\s]*\Z")
_USERINFO = re.compile(r"\A(https://)[^/@]*@")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPreview:
    """What a bundle of a working tree would contain."""

    branch: str | None
    head: str
    """The commit that is checked out; empty if there is none yet."""
    commits: int
    history_bytes: int
    """About the bytes of the history."""
    files: tuple[str, ...]
    """The files that are changed or new, at most `LISTED`."""
    more_files: int
    file_bytes: int
    ignored: tuple[str, ...]
    """What git ignores, which is not part of a bundle; at most `LISTED`."""
    more_ignored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledWork:
    """What is needed to make the working tree again, besides the bundle itself."""

    branch: str | None
    head: str
    index: str
    """A commit with the content of the index."""
    work: str
    """A commit with the content of the working tree."""
    remote: str = ""
    """The address of `origin` without a password; empty if there is none."""


async def preview_work(reader: GitReader) -> WorkPreview:
    """What a bundle of this working tree would contain."""
    head = await _head(reader)
    state, _ = await status(reader)
    names = [entry.path for entry in state.entries]
    ignored = await ignored_paths(reader)
    size = await asyncio.to_thread(_size_of, reader.repository.top, names)
    return WorkPreview(
        branch=await _branch(reader),
        head=head,
        commits=int(await reader.read("rev-list", "--count", head)),
        history_bytes=int(await reader.read("rev-list", "--disk-usage", "--objects", head)),
        files=tuple(names[:LISTED]),
        more_files=max(0, len(names) - LISTED),
        file_bytes=size,
        ignored=ignored[:LISTED],
        more_ignored=max(0, len(ignored) - LISTED),
    )


async def bundle_work(repository: Repository, file: Path) -> BundledWork:
    """Write the history and the uncommitted work of a working tree to a new file."""
    writer = _Writer(repository, deadline_s=BUNDLE_S)
    head, branch = await _head(writer), await _branch(writer)
    if await writer.read("ls-files", "--unmerged", limit=OUTPUT_BYTES):
        raise GitError("bundle", "a merge is not finished. Finish or abort it first")
    with tempfile.TemporaryDirectory(prefix="fairlead-index-") as folder:
        temporary = Path(folder, "index")
        real = Path(await writer.git_path("index"))
        if await asyncio.to_thread(real.is_file):
            await asyncio.to_thread(temporary.write_bytes, await asyncio.to_thread(real.read_bytes))
        else:
            await writer.run_with(temporary, "read-tree", head)
        index = await writer.commit_tree(temporary, [head], "index")
        await writer.run_with(temporary, "add", "--all", "--", ":/")
        work = await writer.commit_tree(temporary, [head, index], "working tree")
    name = f"{REF}/{work}"
    await writer.run("update-ref", name, work)
    try:
        await writer.run("bundle", "create", "--quiet", str(file), name)
    finally:
        await writer.run("update-ref", "-d", name)
    remote = await _remote(writer)
    return BundledWork(branch=branch, head=head, index=index, work=work, remote=remote)


async def unbundle(file: Path, folder: Path, work: BundledWork) -> Repository:
    """Make a repository in a new folder from a bundle, with the same uncommitted work.

    Everything in `work` comes from another machine and is checked.
    """
    for commit in (work.head, work.index, work.work):
        if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit) is None:
            raise GitError("bundle", f"{commit!r:.80} is not the id of a commit")
    await asyncio.to_thread(folder.mkdir)
    await _init(folder, sha256=len(work.head) == 64)
    repository = await asyncio.to_thread(find_repository, folder)
    if repository is None:
        raise GitError("init", "the new repository cannot be read")
    writer = _Writer(repository, deadline_s=BUNDLE_S)
    await writer.run("bundle", "verify", "--quiet", str(file))
    await writer.run("bundle", "unbundle", str(file))
    branch = work.branch if work.branch and _BRANCH.match(work.branch) else "main"
    await writer.run("check-ref-format", "--branch", branch)
    await writer.run("update-ref", f"refs/heads/{branch}", work.head)
    await writer.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    await writer.run("read-tree", "--reset", "-u", work.work)
    await writer.run("read-tree", "--reset", work.index)
    await writer.run("update-index", "-q", "--refresh", check=False)
    if work.remote and _REMOTE.match(work.remote):
        await writer.run("config", "remote.origin.url", _USERINFO.sub(r"\1", work.remote))
        await writer.run("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return repository


class _Writer(GitReader):
    """Runs commands that make objects and references."""

    async def run(self, command: str, *arguments: str, check: bool = True) -> bytes:
        try:
            return await self._run(
                [*(await self._options()), command, *arguments],
                command,
                OUTPUT_BYTES,
                environment={**git_environment(), **_AUTHOR},
                gently=True,
            )
        except GitError:
            if check:
                raise
            return b""

    async def run_with(self, index: Path, command: str, *arguments: str) -> bytes:
        """Run a command with another index."""
        return await self._run(
            [*(await self._options()), command, *arguments],
            command,
            OUTPUT_BYTES,
            environment={**git_environment(), **_AUTHOR, "GIT_INDEX_FILE": str(index)},
            gently=True,
        )

    async def commit_tree(self, index: Path, parents: Sequence[str], message: str) -> str:
        tree = (await self.run_with(index, "write-tree")).decode().strip()
        named = [part for parent in parents for part in ("-p", parent)]
        made = await self.run("commit-tree", tree, *named, "-m", f"Fairlead: {message}")
        return made.decode().strip()

    async def git_path(self, name: str) -> str:
        printed = await self.read("rev-parse", "--git-path", name)
        return str(self.repository.top / printed.decode("utf-8", "surrogateescape").rstrip("\n"))


async def _head(reader: GitReader) -> str:
    head = await reader.commit_of("HEAD")
    if head is None:
        raise GitError("bundle", "the repository has no commit yet. Commit something first")
    return head


async def _branch(reader: GitReader) -> str | None:
    try:
        printed = await reader.read("symbolic-ref", "--quiet", "--short", "HEAD")
    except GitError:
        return None  # A commit is checked out.
    return printed.decode("utf-8", "replace").strip() or None


async def _remote(reader: GitReader) -> str:
    try:
        printed = await reader.read("config", "--get", "remote.origin.url")
    except GitError:
        return ""
    address = _USERINFO.sub(r"\1", printed.decode("utf-8", "replace").strip())
    return address if _REMOTE.match(address) else ""


async def _init(folder: Path, *, sha256: bool) -> None:
    """Make an empty repository, without the templates of the machine, which may have hooks."""
    kind = ["--object-format=sha256"] if sha256 else []
    process = await asyncio.create_subprocess_exec(
        "git", "init", "--quiet", "--template=", "--initial-branch=main", *kind, str(folder),
        env=git_environment(), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, errors = await process.communicate()
    if process.returncode != 0:
        raise GitError("init", errors.decode("utf-8", "replace").strip()[:500])


def _size_of(top: Path, names: Sequence[str]) -> int:
    total = 0
    for name in names:
        try:
            total += os.lstat(top / name).st_size
        except OSError:
            continue  # Deleted, or a folder of another repository.
    return total
