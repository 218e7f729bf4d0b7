"""The routes that read what git would commit: the status, hunks, and what a discard would lose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.git.changes import status
from fairlead.git.commits import GitCommits
from fairlead.git.errors import GitError
from fairlead.git.formats.patch import parse_patch
from fairlead.git.formats.status import Status, StatusEntry
from fairlead.git.index import GitIndex, content_digest
from fairlead.git.repository import find_repository
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal
from fairlead.server.review.session_repository import SessionRepository, session_repository
from fairlead.server.workbench.answers import PatchAnswer, PatchHunk
from fairlead.server.workbench.content_routes import session_files
from fairlead.server.working_files import id_of, shown_path

__all__ = ["GitRoutes"]

AT_ONCE, WAITING = 3, 30
MOST_ROWS = 5_000
MOST_LINES = 5_000


class GitRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that is staged or not."""

    id: str
    path: str
    kind: str
    """git's letter: M, A, D, R, C, T, U, or ? for a file that git does not know."""
    old_path: str | None = None
    conflicted: bool = False
    submodule: bool = False


class GitAnswer(Struct, frozen=True, kw_only=True):
    """What git would commit."""

    repository: bool
    branch: str | None = None
    commit: str | None = None
    upstream: str | None = None
    ahead: int = 0
    behind: int = 0
    staged: tuple[GitRow, ...] = ()
    unstaged: tuple[GitRow, ...] = ()
    total: int = 0
    """How many rows there are; more than are listed if there are very many."""
    folded: bool = False
    hooks: tuple[str, ...] = ()
    """The names of the hooks that a commit runs."""
    hooks_digest: str = ""
    staged_digest: str = ""


class HunkRow(PatchHunk, frozen=True, kw_only=True, rename="camel"):
    """A hunk with its digest."""

    digest: str


class HunksAnswer(Struct, frozen=True, kw_only=True):
    """The hunks of one file."""

    hunks: tuple[HunkRow, ...] = ()
    binary: bool = False
    cut: bool = False


class LossRow(Struct, frozen=True, kw_only=True):
    """What discarding a file would lose."""

    file: str
    path: str
    digest: str
    about: str


class GitRoutes:
    """The handlers."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        session = Parameter(name="session", where="path", about="The session's id.")
        file = Parameter(name="file", where="query", about="The file's id.")
        staged = Parameter(
            name="staged", where="query", about="1 for what is staged.", needed=False
        )
        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/git",
                role="operator",
                about="What is staged and what is not.",
                handler=self._status,
                parameters=(session,),
            ),
            Route(
                method="GET",
                path="/api/sessions/{session}/git/hunks",
                role="operator",
                about="The hunks of one file.",
                handler=self._hunks,
                parameters=(session, file, staged),
            ),
            Route(
                method="GET",
                path="/api/sessions/{session}/git/losses",
                role="owner",
                about="What discarding files would lose. `file` can be repeated.",
                handler=self._losses,
                parameters=(session, file),
            ),
        )

    async def _status(self, request: Request) -> Response:
        folder = session_files(self._registry, request.path_params["session"]).folder
        if await asyncio.to_thread(find_repository, folder) is None:
            return json_answer(GitAnswer(repository=False))
        async with self._slot():
            work = await self._work(request)
            commits = GitCommits(work.repository)
            state, folded = await status(commits)
            hooks, hooks_digest = await commits.hooks()
            staged_digest = await commits.staged_digest()
        # In a thread: there can be 100,000 entries.
        shown = await asyncio.to_thread(self._shown, work, state)
        # git counts a conflict on both sides, but a commit cannot contain it.
        staged = [entry for entry in shown if entry.staged not in ".?" and not entry.conflicted]
        unstaged = [entry for entry in shown if entry.unstaged != "."]
        return json_answer(
            GitAnswer(
                repository=True,
                branch=state.branch,
                commit=state.commit,
                upstream=state.upstream,
                ahead=state.ahead,
                behind=state.behind,
                staged=tuple(_row(entry, entry.staged) for entry in staged[:MOST_ROWS]),
                unstaged=tuple(_row(entry, entry.unstaged) for entry in unstaged[:MOST_ROWS]),
                total=len(staged) + len(unstaged),
                folded=folded,
                hooks=tuple(hook.name for hook in hooks),
                hooks_digest=hooks_digest,
                staged_digest=staged_digest,
            )
        )

    async def _hunks(self, request: Request) -> Response:
        async with self._slot():
            work = await self._work(request)
            path = work.path(request.query_params.get("file", ""))
            staged = request.query_params.get("staged") == "1"
            patch = await GitIndex(work.repository).hunks(path, staged=staged)
        rows: list[HunkRow] = []
        lines = 0
        for hunk in patch.hunks:
            parsed = parse_patch(hunk.content, MOST_LINES)
            plain = PatchAnswer.of(parsed).hunks[0]
            lines += len(plain.lines)
            if lines > MOST_LINES:
                break
            rows.append(
                HunkRow(
                    digest=hunk.digest,
                    old_start=plain.old_start,
                    new_start=plain.new_start,
                    lines=plain.lines,
                )
            )
        binary = b"\nBinary files " in patch.header
        return json_answer(
            HunksAnswer(hunks=tuple(rows), binary=binary, cut=len(rows) < len(patch.hunks))
        )

    async def _losses(self, request: Request) -> Response:
        async with self._slot():
            work = await self._work(request)
            paths = [work.path(file) for file in request.query_params.getlist("file")[:1_000]]
            index = GitIndex(work.repository)
            known = {entry.path: entry for entry in (await status(index))[0].entries}
            rows = [await self._loss(work, index, known.get(path), path) for path in paths]
        return json_answer({"losses": rows})

    async def _loss(
        self, work: SessionRepository, index: GitIndex, entry: StatusEntry | None, path: str
    ) -> LossRow:
        digest = await asyncio.to_thread(content_digest, work.files, path)
        if entry is None or entry.unstaged == ".":
            about = "nothing: it has no changes that are not staged"
        elif entry.unstaged == "?":
            size = await asyncio.to_thread(work.files.size, path)
            about = f"the whole file ({size or 0:,} bytes); git has no copy of it"
        elif entry.unstaged == "D":
            about = "its deletion: the file comes back"
        else:
            patch = await index.hunks(path, staged=False)
            lines = [line for hunk in patch.hunks for line in hunk.content.split(b"\n")[1:]]
            added = sum(line.startswith(b"+") for line in lines)
            removed = sum(line.startswith(b"-") for line in lines)
            about = f"{added} added and {removed} removed lines"
        return LossRow(file=id_of(path), path=shown_path(path), digest=digest, about=about)

    async def _work(self, request: Request) -> SessionRepository:
        folder = session_files(self._registry, request.path_params["session"]).folder
        return await asyncio.to_thread(session_repository, self._registry.policy, folder)

    @staticmethod
    def _shown(work: SessionRepository, state: Status) -> list[StatusEntry]:
        """The entries without files that the server itself stores in the repository."""
        top, opening = work.repository.top, work.files.opening
        return [entry for entry in state.entries if not opening.hides(top / entry.path)]

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Wait for a turn; turns errors of git into refusals."""
        if self._waiting >= WAITING:
            raise Refusal("too_many", "Too many requests about git at once. Try again.")
        self._waiting += 1
        try:
            async with self._slots:
                yield
        except GitError as error:
            raise Refusal("unavailable", str(error)) from error
        finally:
            self._waiting -= 1


def _row(entry: StatusEntry, letter: str) -> GitRow:
    return GitRow(
        id=id_of(entry.path),
        path=shown_path(entry.path),
        kind=letter,
        old_path=None if entry.old_path is None else shown_path(entry.old_path),
        conflicted=entry.conflicted,
        submodule=entry.submodule,
    )
