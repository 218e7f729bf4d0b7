"""Intents about worktrees: make one, list them, and end the work in one.

Every path is checked like the folder of a session, and every git command is one of
`git.worktrees`, which run no program of the repository. What `discard` deletes is exactly what the
user saw: if it changed meanwhile, the intent is refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from fairlead.git.changes import branches, status
from fairlead.git.errors import GitError
from fairlead.git.reader import GitReader
from fairlead.git.repository import find_repository
from fairlead.git.worktrees import (
    LinkedWorktree,
    MergeConflict,
    add_worktree,
    commit_everything,
    commits_since,
    count_commits,
    delete_branch,
    exclude_from_status,
    ignored_paths,
    linked_worktrees,
    merge_into,
    rebase_onto,
    remove_worktree,
    undo_commit,
)
from fairlead.server.access.roles import require
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.protocol.workbench_intents import (
    AddWorktree,
    FinishWorktree,
    SetWorktreeSetup,
    WorktreeLosses,
    Worktrees,
)
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.working_files import shown_path
from fairlead.server.worktree_settings import BELOW
from fairlead.store.tables.audit import AuditRecord

__all__ = ["HANDLERS"]

NAME_CHARS = 40
MOST_FILES = 200
ENDS = {"merge": "merged", "rebase": "merged", "keep": "kept", "discard": "discarded"}


async def add(sessions: Sessions, context: IntentContext, intent: AddWorktree) -> Result:
    """Make a branch and a worktree, and copy the listed files into it."""
    cwd = sessions.policy.check_folder(intent.cwd)
    reader = await _reader(cwd)
    trees = await linked_worktrees(reader)
    main = trees[0].path
    base = intent.base or next(
        (t.branch for t in trees if t.path == str(reader.repository.top)), None
    )
    if not base or await reader.commit_of(f"refs/heads/{base}") is None:
        raise Refusal(
            "conflict", f"The branch {base or 'HEAD'!r} does not exist. Choose another base."
        )
    name = await _free_name(reader, trees, intent.name)
    folder = await asyncio.to_thread(_folder, sessions, Path(main))
    if sessions.policy.worktrees.folder is None:
        await exclude_from_status(reader, "/".join(BELOW))
    path = Path(folder, name)
    branch = f"fairlead/{name}"
    await add_worktree(reader, path, branch, f"refs/heads/{base}")
    copied = await asyncio.to_thread(_copy, sessions, main, str(path))
    inside = Path(cwd).relative_to(reader.repository.top)
    new = path / inside
    return {
        "cwd": str(new if await asyncio.to_thread(new.is_dir) else path),
        "branch": branch,
        "base": base,
        "copied": copied,
    }


async def worktrees(sessions: Sessions, context: IntentContext, intent: Worktrees) -> Result:
    """The worktrees of a repository, each with its session and what it has that its base lacks."""
    cwd = sessions.policy.check_folder(intent.cwd)
    repository = await asyncio.to_thread(find_repository, cwd)
    if repository is None:
        return {}
    reader = GitReader(repository)
    trees = await linked_worktrees(reader)
    main = trees[0].path
    settings = sessions.policy.worktrees
    here = next((tree.branch for tree in trees if tree.path == str(repository.top)), None)
    return {
        "repository": main,
        "branch": here,
        "branches": list(await branches(reader)),
        "folder": str(settings.below(Path(main))),
        "setup": settings.setup(main),
        "copy": list(settings.copied(main)),
        "worktrees": [
            await _listed(sessions, reader, tree, trees[0].branch)
            for tree in trees
            if not tree.main
        ],
    }


async def set_setup(sessions: Sessions, context: IntentContext, intent: SetWorktreeSetup) -> Result:
    """Store what prepares the worktrees of a repository."""
    reader = await _reader(sessions.policy.check_folder(intent.cwd))
    main = (await linked_worktrees(reader))[0].path
    await asyncio.to_thread(sessions.policy.worktrees.put, main, intent.setup, intent.copy)
    return {}


async def losses(sessions: Sessions, context: IntentContext, intent: WorktreeLosses) -> Result:
    """What removing a worktree and its branch would lose."""
    reader, tree, base = await _linked(sessions, intent)
    return await _losses(reader, tree, base)


async def finish(sessions: Sessions, context: IntentContext, intent: FinishWorktree) -> Result:
    """Merge, rebase, keep or discard the branch of a worktree."""
    if intent.how not in ENDS:
        raise Refusal("bad_message", f"Unknown choice {intent.how!r:.40}. Send {', '.join(ENDS)}.")
    reader, tree, base = await _linked(sessions, intent)
    if intent.how == "discard":
        require(context.role, "owner", "Discarding a worktree")
    _refuse_busy(sessions, tree.path)
    lost = await _losses(reader, tree, base)
    if intent.how == "discard" and lost["seen"] != intent.seen:
        raise Refusal(
            "stale", "The worktree changed after its list was shown. Review it again.", **lost
        )
    try:
        await _finish(reader, tree, base, intent, uncommitted=bool(lost["files"]))
    except MergeConflict as conflict:
        raise Refusal(
            "conflict",
            f"{intent.how.capitalize()} stopped: {conflict.message}. Nothing was changed. "
            f"Let the agent merge {base} into its branch, then try again.",
            files=list(conflict.files),
        ) from None
    await _end_sessions(sessions, tree.path, ENDS[intent.how])
    record = AuditRecord(
        at=sessions.clock(),
        action=f"{intent.how}_worktree",
        device=context.device.id,
        details={"path": tree.path, "branch": tree.branch, "commits": lost["commits"]},
    )
    await sessions.store.record_audit(record)
    return {"branch": tree.branch, "base": base}


async def _finish(
    reader: GitReader,
    tree: LinkedWorktree,
    base: str | None,
    intent: FinishWorktree,
    *,
    uncommitted: bool,
) -> None:
    branch = tree.branch
    repository = await asyncio.to_thread(find_repository, tree.path)
    if intent.how != "discard" and repository is not None:
        if branch is None or (base is None and intent.how != "keep"):
            raise Refusal(
                "conflict", "This worktree has no branch or no base branch to merge into."
            )
        inside = GitReader(repository)
        message = intent.message.strip() or f"Work on {branch}"
        index = await commit_everything(inside, message) if uncommitted else None
        try:
            if intent.how == "merge":
                text = f"Merge branch '{branch}'\n\n{message}"
                await merge_into(reader, str(base), branch, text)
            elif intent.how == "rebase":
                await rebase_onto(reader, inside, str(base), branch)
        except GitError:
            # The user is told that nothing was changed, so the files are uncommitted again.
            if index is not None:
                await undo_commit(inside, index)
            raise
    await remove_worktree(reader, tree.path)
    if branch is not None and intent.how != "keep":
        await delete_branch(reader, branch)


async def _reader(cwd: str) -> GitReader:
    repository = await asyncio.to_thread(find_repository, cwd)
    if repository is None:
        raise Refusal("conflict", f"{cwd!r} is not in a git repository, so it has no worktrees.")
    return GitReader(repository)


async def _linked(
    sessions: Sessions, intent: WorktreeLosses | FinishWorktree
) -> tuple[GitReader, LinkedWorktree, str | None]:
    """A reader of the main working tree, the linked one of an intent, and its base branch."""
    path = intent.cwd.rstrip("/")
    rows = [row.worktree for row in sessions.rows.values() if row.worktree is not None]
    known = next((each for each in rows if path == each.path), None)
    folder = intent.repository or (path if known is None else known.repository)
    reader = await _reader(sessions.policy.check_folder(folder))
    trees = await linked_worktrees(reader)
    main = await asyncio.to_thread(find_repository, trees[0].path)
    tree = next((each for each in trees if not each.main and each.path == path), None)
    if tree is None or main is None:
        raise Refusal("not_found", f"{path!r:.200} is not a linked worktree of this repository.")
    if not any(Path(tree.path).is_relative_to(root) for root in sessions.policy.folders):
        raise Refusal("forbidden", f"{path!r:.200} is outside the folders of this server.")
    return GitReader(main), tree, trees[0].branch if known is None else known.base


async def _losses(reader: GitReader, tree: LinkedWorktree, base: str | None) -> dict[str, Any]:
    """Commits that only this worktree has, and files that are not committed or ignored.

    `seen` is a hash of all of them, so that nothing is discarded that the user was not shown.
    """
    tip = f"refs/heads/{tree.branch}" if tree.branch is not None else tree.commit
    known = None if base is None else f"refs/heads/{base}"
    commits = [
        f"{each.id} {each.subject}" for each in await commits_since(reader, known, tip, tree.branch)
    ]
    count = await count_commits(reader, known, tip, tree.branch)
    files: list[str] = []
    ignored: tuple[str, ...] = ()
    repository = await asyncio.to_thread(find_repository, tree.path)
    if repository is not None:
        inside = GitReader(repository)
        state, _ = await status(inside)
        files = [entry.path for entry in state.entries]
        ignored = await ignored_paths(inside)
    seen = await asyncio.to_thread(_seen, tree, count, files, ignored)
    return {
        "path": tree.path,
        "branch": tree.branch,
        "base": base,
        "commits": commits,
        "more_commits": count - len(commits),
        "files": [shown_path(name) for name in files[:MOST_FILES]],
        "more_files": max(0, len(files) - MOST_FILES),
        "ignored": [shown_path(name) for name in ignored[:MOST_FILES]],
        "more_ignored": max(0, len(ignored) - MOST_FILES),
        "seen": seen,
    }


def _seen(tree: LinkedWorktree, commits: int, files: list[str], ignored: tuple[str, ...]) -> str:
    """A hash of what would be lost, with the size and time of each file."""
    parts = [tree.path, tree.branch or "", tree.commit, str(commits)]
    for name in files:
        try:
            state = os.lstat(os.path.join(tree.path, name))
            parts.append(f"{name}\0{state.st_size} {state.st_mtime_ns}")
        except OSError:
            parts.append(f"{name}\0gone")
    text = "\0\0".join((*parts, "ignored", *ignored))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


async def _listed(
    sessions: Sessions, reader: GitReader, tree: LinkedWorktree, main: str | None
) -> dict[str, Any]:
    # The list also has the sessions that other processes of the server run.
    listed = (row for row in sessions.lobby.sessions() if row.worktree is not None)
    session = next((row for row in listed if row.worktree and row.worktree.path == tree.path), None)
    base = main if session is None or session.worktree is None else session.worktree.base
    try:
        lost = await _losses(reader, tree, base)
    except GitError as problem:
        nothing = {"commits": [], "more_commits": 0, "files": [], "more_files": 0, "ignored": []}
        lost = {**nothing, "more_ignored": 0, "seen": "", "problem": str(problem)}
    return {
        "path": tree.path,
        "branch": tree.branch,
        "gone": tree.gone,
        "session": None if session is None else session.id,
        "commits": len(lost["commits"]) + lost["more_commits"],
        "files": len(lost["files"]) + lost["more_files"],
        "ignored": len(lost["ignored"]) + lost["more_ignored"],
    }


async def _free_name(reader: GitReader, trees: Sequence[LinkedWorktree], wish: str) -> str:
    """A name for branch and folder that neither has yet."""
    plain = re.sub(r"[^a-z0-9]+", "-", wish.lower())[:NAME_CHARS].strip("-") or "session"
    folder_names = {Path(tree.path).name for tree in trees}
    for number in range(1, 1_000):
        name = plain if number == 1 else f"{plain}-{number}"
        if (
            name not in folder_names
            and await reader.commit_of(f"refs/heads/fairlead/{name}") is None
        ):
            return name
    raise Refusal("conflict", f"There are too many branches named {plain!r}. Choose another name.")


def _folder(sessions: Sessions, main: Path) -> str:
    """The folder for new worktrees, which must be one that sessions may work in."""
    folder = sessions.policy.worktrees.below(main)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Refusal(
            "conflict", f"The folder {str(folder)!r} cannot be made: {problem.strerror}."
        ) from None
    return sessions.policy.check_folder(str(folder))


def _copy(sessions: Sessions, main: str, path: str) -> list[str]:
    """Copy the listed files that exist and are not in the new worktree; follows no link."""
    copied = []
    for name in sessions.policy.worktrees.copied(main):
        parts = name.split("/")
        limit = sessions.limits.file_bytes
        content = sessions.policy.opening.read_plain(main, parts, limit + 1)
        target = Path(path, name)
        if content is None or len(content) > limit or os.path.lexists(target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(Path(path).resolve()):
            continue
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
            file.write(content)
        copied.append(name)
    return copied


def _refuse_busy(sessions: Sessions, path: str) -> None:
    for live in sessions.live:
        row = sessions.rows.get(live.id)
        if row is not None and Path(row.cwd).is_relative_to(path) and live.busy:
            raise Refusal("conflict", "Stop the session before ending its worktree.")


async def _end_sessions(sessions: Sessions, path: str, state: str) -> None:
    """Stop the sessions of a worktree that is gone, and note how it ended."""
    for row in list(sessions.rows.values()):
        if row.worktree is None or row.worktree.path != path:
            continue
        live = sessions.loaded(row.id)
        if live is not None and live.live:
            await live.stop()
        row = sessions.row(row.id)
        if row.worktree is not None:
            ended = structs.replace(row.worktree, state=state)
            sessions.catalog.save_soon(structs.replace(row, worktree=ended))


HANDLERS: Handlers = {
    AddWorktree: add,
    Worktrees: worktrees,
    SetWorktreeSetup: set_setup,
    WorktreeLosses: losses,
    FinishWorktree: finish,
}
