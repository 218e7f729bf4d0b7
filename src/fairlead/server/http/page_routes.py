"""Routes for the app's own pages: usage, the raw log and drafts.

They are entries of the same table as all others (`routes`), with their least roles; `api` guards
them.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer
from fairlead.server.http.raw_log import EventReader, LogQuery, read_log
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.http.usage import Usage
from fairlead.server.refusal import Refusal

__all__ = ["Names", "PageRoutes"]


class Names(Protocol):
    """Looks up sessions."""

    def has_session(self, session: str) -> bool:
        """Whether this is a session of the server, with a log in the store."""

    async def drafts(self, session: str, reader: str) -> list[dict[str, Any]]:
        """Drafts of a session from other devices that may send prompts."""


class PageRoutes:
    """The handlers."""

    def __init__(
        self,
        *,
        names: Names,
        log: EventReader,
        usage: Usage,
    ) -> None:
        self._names = names
        self._log = log
        self._usage = usage
        self.routes = self._table()

    def _table(self) -> tuple[Route, ...]:
        session = _parameter("session", "The session's id.", where="path")
        return (
            Route(
                method="GET", path="/api/usage", role="viewer", handler=self._read_usage,
                about="Usage between timestamps, by project and model.",
                parameters=(_parameter("bounds", "Comma-separated Unix timestamps, ascending."),),
            ),
            Route(
                method="GET", path="/api/sessions/{session}/log", role="operator",
                about="The stored lines of a session.", handler=self._read_lines,
                parameters=(session, *_LOG_PARAMETERS),
            ),
            Route(
                method="GET", path="/api/sessions/{session}/drafts", role="operator",
                about="Drafts of a session from other devices.", handler=self._drafts,
                parameters=(session,),
            ),
        )  # fmt: skip

    async def _read_usage(self, request: Request) -> Response:
        try:
            bounds = [float(bound) for bound in request.query_params.get("bounds", "").split(",")]
        except ValueError:
            raise Refusal(
                "bad_message", "The bounds must be comma-separated Unix timestamps."
            ) from None
        return json_answer(await self._usage.report(bounds))

    async def _read_lines(self, request: Request) -> Response:
        session = request.path_params["session"]
        if not self._names.has_session(session):
            raise Refusal(
                "not_found",
                "The server has no log of this session: the CLI keeps its own sessions in files.",
            )
        return json_answer(await read_log(self._log, session, _log_query(request.query_params)))

    async def _drafts(self, request: Request) -> Response:
        session = request.path_params["session"]
        if not self._names.has_session(session):
            raise Refusal("not_found", "Session not found.")
        return json_answer({"drafts": await self._names.drafts(session, request.state.device)})


def _parameter(name: str, about: str, *, where: str = "query", needed: bool = True) -> Parameter:
    return Parameter(name=name, where=where, about=about, needed=needed)


_LOG_PARAMETERS = tuple(
    _parameter(name, about, needed=False)
    for name, about in (
        ("after", "Lines after this number, in order."),
        ("before", "The last lines before this number; without either, the last lines."),
        ("limit", "Most lines to return."),
        ("directions", "Comma-separated: out, in, fact."),
        ("kinds", "Comma-separated kinds of lines, such as assistant or system/init."),
        ("text", "Text that a line must contain."),
        ("whole", "1 returns long lines in full."),
    )
)


def _log_query(parameters: QueryParams) -> LogQuery:
    plain: dict[str, Any] = {
        name: parameters[name]
        for name in ("after", "before", "limit", "text", "whole")
        if name in parameters
    }
    lists = {
        name: [value for value in parameters.get(name, "").split(",") if value]
        for name in ("directions", "kinds")
    }
    try:
        return msgspec.convert({**plain, **lists}, LogQuery, strict=False)
    except msgspec.ValidationError as problem:
        raise Refusal("bad_message", f"The query cannot be read: {problem}.") from None
