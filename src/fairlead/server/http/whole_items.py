"""One row of a session in full, for a client that got a truncated one (`previews`).

It is sent over HTTP and not over the socket, where ten megabytes would delay everything behind them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.refusal import Refusal
from fairlead.server.view.session_view import SessionView

__all__ = ["Documents", "WholeItems"]

LISTS = ("items", "turns", "settled")
"""The lists whose rows clients get truncated."""


class Documents(Protocol):
    """Loads the documents of sessions."""

    @property
    def open(self) -> Callable[[str], Awaitable[bool]]:
        """Load a document; False if there is none."""

    def source(self, document: str) -> SessionView | None:
        """A loaded document."""


class WholeItems:
    """The handler."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        session = Parameter(name="session", where="path", about="The session's id.")
        row = Parameter(name="id", where="query", about="The row's id.")
        of = Parameter(
            name="of",
            where="query",
            about="The list of the row: items (the default), turns or settled.",
            needed=False,
        )
        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/item",
                role="viewer",
                about="One item, turn or settled request of a session, in full.",
                handler=self._read,
                parameters=(session, row, of),
            ),
        )

    async def _read(self, request: Request) -> Response:
        session = request.path_params["session"]
        of = request.query_params.get("of", LISTS[0])
        if of not in LISTS:
            raise Refusal("bad_message", f"The parameter `of` must be one of {', '.join(LISTS)}.")
        opened = await self._documents.open(session)
        source = self._documents.source(session) if opened else None
        row = source.transcript.row(of, request.query_params.get("id", "")) if source else None
        if row is None:
            raise Refusal("not_found", "Session or row not found.")
        return json_answer(row)
