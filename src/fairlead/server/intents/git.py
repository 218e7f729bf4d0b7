"""Intents that change a repository: stage, unstage, discard, commit.

Of each repository one change runs at a time. Discards and commits are written to the audit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from fairlead.git.changes import status
from fairlead.git.commits import COMMIT_S, GitCommits
from fairlead.git.errors import GitError, GitStale
from fairlead.git.formats.status import StatusEntry
from fairlead.git.index import GitIndex
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.protocol.workbench_intents import GitCommit, GitDiscard, GitStage
from fairlead.server.refusal import Refusal
from fairlead.server.review.session_repository import SessionRepository, session_repository
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.working_files import shown_path
from fairlead.store.tables.audit import AuditRecord

__all__ = ["handlers"]

MOST_FILES = 1_000
"""Most files of one intent: all their paths are arguments of one command line."""
MESSAGE_BYTES = 64 * 1024


async def stage(sessions: Sessions, work: SessionRepository, intent: GitStage) -> Result:
    """Stage or unstage."""
    index = GitIndex(work.repository)
    paths = _paths(work, intent.files)
    if intent.hunk is not None:
        (path,) = _single(paths)
        change = index.unstage_hunk if intent.unstage else index.stage_hunk
        await change(path, intent.hunk)
        return {}
    known = {entry.path: entry for entry in (await status(index))[0].entries}
    if intent.unstage:
        both = [
            p for path in paths for p in (known[path].old_path if path in known else None, path)
        ]
        await index.unstage([path for path in both if path])
    else:
        await index.stage(paths)
    return {}


async def discard(sessions: Sessions, work: SessionRepository, intent: GitDiscard) -> Result:
    """Discard what is not staged."""
    index = GitIndex(work.repository)
    paths = _paths(work, tuple(each.file for each in intent.files))
    if intent.hunk:
        (path,) = _single(paths)
        await index.discard_hunk(path, intent.files[0].digest)
        return {"discarded": [shown_path(path)]}
    known = {entry.path: entry for entry in (await status(index))[0].entries}
    for path in paths:
        _check_discard(known.get(path), path)
    discarded: list[str] = []
    for path, file in zip(paths, intent.files, strict=True):
        untracked = known[path].unstaged == "?"
        try:
            await index.discard(path, untracked=untracked, content=file.digest, files=work.files)
        except GitStale as problem:
            raise Refusal("stale", str(problem), discarded=tuple(discarded)) from None
        discarded.append(shown_path(path))
    return {"discarded": discarded}


async def commit(sessions: Sessions, work: SessionRepository, intent: GitCommit) -> Result:
    """Commit what is staged."""
    if len(intent.message.encode("utf-8", "replace")) > MESSAGE_BYTES:
        raise Refusal("too_large", f"A message can have at most {MESSAGE_BYTES:,} bytes.")
    commits = GitCommits(work.repository, deadline_s=COMMIT_S)
    done = await commits.commit(
        intent.message,
        hooks=intent.hooks,
        staged=intent.staged,
        environment=sessions.environment_of(sessions.account_of(intent.session)),
    )
    return {"commit": done}


Change: TypeAlias = Callable[[Sessions, SessionRepository, Any], Awaitable[Result]]


def handlers() -> Handlers:
    """The handlers of one server."""
    locks: dict[str, asyncio.Lock] = {}

    def one_at_a_time(change: Change, audited: str | None) -> Any:
        async def handle(sessions: Sessions, context: IntentContext, intent: Any) -> Result:
            row = sessions.row(intent.session)
            folder = sessions.policy.check_folder(row.cwd)
            work = await asyncio.to_thread(session_repository, sessions.policy, folder)
            async with locks.setdefault(str(work.repository.top), asyncio.Lock()):
                try:
                    result = await change(sessions, work, intent)
                except GitStale as problem:
                    raise Refusal("stale", str(problem)) from None
                except GitError as problem:
                    raise Refusal("unavailable", str(problem)) from None
            if audited is not None:
                record = AuditRecord(
                    at=sessions.clock(),
                    action=audited,
                    session=row.id,
                    device=context.device.id,
                    details=result,
                )
                await sessions.store.record_audit(record)
            if sessions.lobby.session(row.id) is not None:
                sessions.lobby.update("sessions", row.id, workbench_at=sessions.clock())
            return result

        return handle

    return {
        GitStage: one_at_a_time(stage, None),
        GitDiscard: one_at_a_time(discard, "git_discard"),
        GitCommit: one_at_a_time(commit, "git_commit"),
    }


def _paths(work: SessionRepository, files: tuple[str, ...]) -> list[str]:
    if not 0 < len(files) <= MOST_FILES:
        raise Refusal("bad_message", f"Name 1 to {MOST_FILES} files.")
    return [work.path(file) for file in files]


def _single(paths: list[str]) -> list[str]:
    if len(paths) != 1:
        raise Refusal("bad_message", "A hunk belongs to one file.")
    return paths


def _check_discard(entry: StatusEntry | None, path: str) -> None:
    if entry is None or entry.unstaged == ".":
        raise Refusal("stale", f"{shown_path(path)} has no changes to discard. Look again.")
    if entry.conflicted or entry.submodule or path.endswith("/"):
        raise Refusal(
            "conflict",
            f"{shown_path(path)} has conflicts, is a submodule or is a folder. Use git in a terminal.",
        )
