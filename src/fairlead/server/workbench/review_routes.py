"""The route that lists a session's review comments, and what became of their lines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.roles import ROLES
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.intents.registry import Registry
from fairlead.server.intents.review import is_open, rank_of
from fairlead.server.refusal import Refusal
from fairlead.server.review.comment_place import CommentPlace, comment_place_of
from fairlead.server.review.session_files import SessionFiles
from fairlead.server.working_files import path_of_id
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.comments import Comment

__all__ = ["CommentRow", "ReviewRoutes"]

AT_ONCE = 2


class CommentRow(Struct, frozen=True, kw_only=True):
    """A comment as a client shows it."""

    id: str
    version: int
    author: str
    own: bool
    """Whether this device wrote it."""
    foreign: bool
    """Whether its author has a lower role or was revoked, so that it must be taken over first."""
    path: str
    changed_file: str | None
    """The file's id in the list of changes."""
    file: str | None
    """The file's id in the list of files."""
    side: str
    start: int
    end: int
    code: str
    text: str
    created: float
    prompt: str | None
    """The prompt that it was sent with; None for a draft."""
    resolved: bool
    lines: str
    """What became of its lines: `same`, `changed`, `deleted` or `unknown`."""
    now: int | None
    """The number of its first line now."""


class ReviewRoutes:
    """The handler."""

    def __init__(self, registry: Registry, store: SqliteStore) -> None:
        self._registry = registry
        self._store = store
        self._slots = asyncio.Semaphore(AT_ONCE)
        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/comments",
                # A comment quotes lines of files, as /api/files does.
                role="operator",
                about="The review comments of a session.",
                handler=self._comments,
                parameters=(Parameter(name="session", where="path", about="The session's id."),),
            ),
        )

    async def _comments(self, request: Request) -> Response:
        sessions = self._registry.sessions
        row = sessions.rows.get(request.path_params["session"])
        if row is None:
            raise Refusal("not_found", "Session not found.")
        files = SessionFiles(sessions.policy, sessions.policy.check_folder(row.cwd))
        rank = ROLES.index(request.state.role)
        async with self._slots:
            comments = await self._store.comments(row.id)
            drafts = {each.id for each in comments if await is_open(sessions, each)}
            sent = await self._sent_files(comments, drafts)
            places = await asyncio.to_thread(_places, files, comments, sent)
        rows = []
        for comment, (place, (changed_file, file)) in zip(comments, places, strict=True):
            own = comment.device == request.state.device
            rows.append(
                CommentRow(
                    id=comment.id,
                    version=comment.version,
                    author=comment.author,
                    own=own,
                    foreign=not own and rank_of(sessions, comment.device) < rank,
                    path=comment.path,
                    changed_file=changed_file,
                    file=file,
                    side=comment.side,
                    start=comment.start,
                    end=comment.end,
                    code=comment.code,
                    text=comment.text,
                    created=comment.created,
                    prompt=None if comment.id in drafts else comment.prompt,
                    resolved=comment.resolved is not None,
                    lines=place.lines,
                    now=place.now,
                )
            )
        return json_answer({"comments": rows})

    async def _sent_files(
        self, comments: Sequence[Comment], drafts: set[str]
    ) -> dict[tuple[str, str], bytes | None]:
        """The files as they were sent, by prompt and file."""
        files: dict[tuple[str, str], bytes | None] = {}
        for comment in comments:
            if comment.prompt is not None and comment.id not in drafts:
                key = comment.prompt, comment.file
                if key not in files:
                    files[key] = await self._store.sent_file(comment.session, *key)
        return files


_Ids = tuple[str | None, str | None]


def _places(
    files: SessionFiles,
    comments: Sequence[Comment],
    sent: dict[tuple[str, str], bytes | None],
) -> list[tuple[CommentPlace, _Ids]]:
    """What became of the lines of each comment, and the ids of its file."""
    return [
        (
            comment_place_of(files, each, sent.get((each.prompt or "", each.file))),
            files.ids(path_of_id(each.file) or ""),
        )
        for each in comments
    ]
