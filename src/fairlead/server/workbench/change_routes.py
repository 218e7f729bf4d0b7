"""The routes for a session's changes: the list of changed files, and the patch of one file.

Only reads. What is compared: the session's repository, as far as it lies below the folders that
sessions may work in; otherwise only the session's own folder. A few git programs run at a time,
and a client that asks for more has to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from fairlead.git.changes import Changes, branches, changes_since, file_patch, merge_base
from fairlead.git.errors import GitError
from fairlead.git.formats.changed import ChangedFile
from fairlead.git.reader import GitReader
from fairlead.git.repository import find_repository
from fairlead.server.files import Folders
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.refusal import Refusal
from fairlead.server.workbench.answers import ChangesAnswer, PatchAnswer, file_rows
from fairlead.server.workbench.content_routes import object_id
from fairlead.server.working_files import WorkingFiles, path_of_id

__all__ = ["ChangeRoutes", "SessionFolders"]

AT_ONCE = 3
"""Reads of repositories that run at the same time."""
WAITING = 30
"""Reads that may wait for their turn; more are refused."""
MOST_LINES = 50_000


class SessionFolders(Protocol):
    """Where sessions work."""

    @property
    def opening(self) -> Folders:
        """Opens the files and folders of sessions."""

    def folder(self, session: str) -> str | None:
        """The folder that a session works in; refuses one that sessions may not work in."""

    def allowed(self) -> list[str]:
        """The folders under which sessions may work."""

    def base_commit(self, session: str) -> str | None:
        """The commit that was checked out when a session started, if that is known."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A repository as far as a session may see it."""

    reader: GitReader
    files: WorkingFiles
    below: str

    def shows(self, path: str) -> bool:
        """Whether a file of the repository may be shown: not what the server itself stores there."""
        inside = not self.below or path.startswith(f"{self.below}/")
        return inside and not self.files.opening.hides(self.reader.repository.top / path)

    def shown(self, changes: Changes) -> Changes:
        """The changes of the files that may be shown. There can be 100,000: call it in a thread."""
        files = tuple(file for file in changes.files if self.shows(file.path))
        return replace(changes, files=files)


class ChangeRoutes:
    """The handlers."""

    def __init__(self, folders: SessionFolders) -> None:
        self._folders = folders
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        session = Parameter(name="session", where="path", about="The session's id.")

        def query(name: str, about: str, *, needed: bool = False) -> Parameter:
            return Parameter(name=name, where="query", about=about, needed=needed)

        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/changes",
                # A change shows the content of files, as /api/files does.
                role="operator",
                about="The files that changed in the session's repository.",
                handler=self._changes,
                parameters=(
                    session,
                    query("since", "start (the default), commit, or branch."),
                    query("branch", "With since=branch: the branch to compare with."),
                ),
            ),
            Route(
                method="GET",
                path="/api/sessions/{session}/patch",
                role="operator",
                about="The difference of one changed file.",
                handler=self._patch,
                parameters=(
                    session,
                    query("file", "The file's id.", needed=True),
                    query("base", "The base that the list of changes names.", needed=True),
                    query("old", "The id of the file's path in the base, if it was renamed."),
                    query("untracked", "1 for a file that git does not know."),
                    query("context", "Unchanged lines around each change; 3 by default."),
                    query("lines", "The most lines to return."),
                    query("large", "1 to compare a file of more than 8 MiB, up to 32 MiB."),
                ),
            ),
        )

    async def _changes(self, request: Request) -> Response:
        session = request.path_params["session"]
        parameters = request.query_params
        async with self._slot():
            work = await self._work(session)
            if work is None:
                return json_answer(ChangesAnswer(repository=False))
            start = await self._start_commit(work.reader, session)
            base = await _base(
                work.reader, parameters.get("since", "start"), parameters.get("branch"), start
            )
            changes = await changes_since(work.reader, base, work.files, below=work.below)
            changes = await asyncio.to_thread(work.shown, changes)
            names = await branches(work.reader)
        status = changes.status
        answer = ChangesAnswer(
            repository=True,
            branch=status.branch,
            commit=status.commit,
            upstream=status.upstream,
            ahead=status.ahead,
            behind=status.behind,
            base=changes.base,
            start=start,
            branches=tuple(names),
            files=file_rows(changes),
            total=len(changes.files),
            folded=changes.folded,
            below=work.below,
        )
        return json_answer(answer)

    async def _patch(self, request: Request) -> Response:
        parameters = request.query_params
        path, old = path_of_id(parameters.get("file", "")), path_of_id(parameters.get("old", ""))
        if not path:
            raise Refusal("not_found", "File not found.")
        file = ChangedFile(
            path=path,
            old_path=old or None,
            kind="untracked" if parameters.get("untracked") == "1" else "modified",
        )
        async with self._slot():
            work = await self._work(request.path_params["session"])
            if work is None:
                raise Refusal("not_found", "The session's folder is not in a git repository.")
            if not work.shows(path):
                raise Refusal("not_found", "File not found in the session's folder.")
            base = object_id(parameters.get("base", ""))
            patch = await file_patch(
                work.reader,
                base,
                file,
                work.files,
                context=_number(parameters.get("context"), 3, 1_000_000),
                most_lines=_number(parameters.get("lines"), 3_000, MOST_LINES),
                large=parameters.get("large") == "1",
            )
        return json_answer(PatchAnswer.of(patch))

    async def _work(self, session: str) -> _Work | None:
        folder = self._folders.folder(session)
        if folder is None:
            raise Refusal("not_found", "Session not found.")
        repository = await asyncio.to_thread(find_repository, folder)
        if repository is None:
            return None
        top = repository.top
        inside = any(top.is_relative_to(root) for root in self._folders.allowed())
        below = "" if inside else Path(folder).relative_to(top).as_posix()
        files = WorkingFiles(self._folders.opening, str(top))
        return _Work(reader=GitReader(repository), files=files, below=below)

    async def _start_commit(self, reader: GitReader, session: str) -> str | None:
        commit = self._folders.base_commit(session)
        return None if commit is None else await reader.commit_of(commit)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Wait for a turn; turns errors of git into refusals."""
        if self._waiting >= WAITING:
            raise Refusal("too_many", "Too many requests for changes at once. Try again.")
        self._waiting += 1
        try:
            async with self._slots:
                yield
        except GitError as error:
            raise Refusal("unavailable", str(error)) from error
        finally:
            self._waiting -= 1


async def _base(reader: GitReader, since: str, branch: str | None, start: str | None) -> str | None:
    """The commit to compare with; None for the last commit."""
    if since == "commit" or (since == "start" and start is None):
        return None
    if since == "start":
        return start
    if since == "branch":
        base = await merge_base(reader, branch or "")
        if base is None:
            raise Refusal("not_found", "There is no such branch, or it has no commit in common.")
        return base
    raise Refusal("bad_message", "`since` must be start, commit or branch.")


def _number(text: str | None, default: int, most: int) -> int:
    digits = text is not None and text.isascii() and text.isdigit() and len(text) < 9
    return min(int(text), most) if text is not None and digits else default
