"""The HTTP API beside the socket: what is easier asked once than followed.

Sessions, search, export, uploads, files and their names, health, metrics; what else there is
comes in as `more`. Every handler is an entry of a table with its least role (`routes`); the guard
here checks the token and the role before it runs, and turns every refusal into one form of answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.errors import FairleadError
from fairlead.server.bodies import json_answer as _json
from fairlead.server.bodies import read_body as _body
from fairlead.server.callers import address_of
from fairlead.server.doors import Doors
from fairlead.server.files import read_below
from fairlead.server.finding import Finder, folders_like
from fairlead.server.limits import Limits
from fairlead.server.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.server.roles import require
from fairlead.server.routes import Handler, Parameter, Route, openapi
from fairlead.server.uploads import Uploads
from fairlead.store.search import Filters

__all__ = ["Api", "Library"]

STATUS = {
    "not_authenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "stale": 409,
    "conflict": 409,
    "too_large": 413,
    "too_many": 429,
    "unavailable": 503,
    "agent_failed": 502,
    "internal": 500,
}
"""Code of a refusal -> HTTP status; any other is 400."""

HITS, MOST_HITS = 50, 200
"""Hits of one search, unless another number is asked for, and at most."""

NAMES, LETTERS = 50, 200
"""Names in one answer, which a person still looks through; letters that are looked for."""


SEARCH_FILTERS = (
    ("session", "Only this session."),
    ("project", "Only sessions in this folder."),
    ("model", "Only sessions that used this model last."),
    ("kinds", "prompt, answer, command, path, error; by commas."),
    ("after", "Not before this moment, in seconds."),
    ("before", "Before this moment, in seconds."),
    ("order", "newest, else the best first."),
    ("limit", "How many at most."),
    ("offset", "How many to pass by."),
)


class Library(Protocol):
    """What the API needs of the registry and the store."""

    def sessions(self) -> list[ListedSession]:
        """The rows of the lobby's list."""

    def roots(self) -> list[str]:
        """The folders that sessions work in."""

    async def search(self, query: str, filters: Filters) -> list[Any]:
        """What fits a query, best first."""

    async def export(self, session: str, form: str) -> tuple[bytes, str] | None:
        """A session as `json`, `markdown` or `ndjson`, and its media type."""

    def folder(self, session: str) -> str | None:
        """The folder that a session works in, if there is such a session."""

    def allowed(self) -> list[str]:
        """The folders under which sessions may work."""

    def health(self) -> dict[str, Any]:
        """Whether all is well."""

    def metrics(self) -> str:
        """Figures in the text form of Prometheus."""


class Api:
    """The handlers."""

    def __init__(
        self,
        library: Library,
        doors: Doors,
        uploads: Uploads,
        limits: Limits,
        version: str,
        more: tuple[Route, ...] = (),
    ) -> None:
        """`more` are entries of the table that others handle; they are guarded as all are."""
        self._library = library
        self._doors = doors
        self._uploads = uploads
        self._limits = limits
        self._version = version
        self._finder = Finder()
        self.routes = (*self._table(), *more)

    def _table(self) -> tuple[Route, ...]:
        session = Parameter(name="session", where="path", about="The session's id.")
        query = Parameter(name="q", where="query", about="Words to look for.")
        narrowed = tuple(
            Parameter(name=name, where="query", about=about, needed=False)
            for name, about in SEARCH_FILTERS
        )
        form = Parameter(
            name="form", where="query", about="json, markdown or ndjson.", needed=False
        )
        path = Parameter(name="path", where="query", about="An absolute path.")

        def route(
            method: str, path: str, role: str | None, about: str, handler: Handler, **more: Any
        ) -> Route:
            return Route(method=method, path=path, role=role, about=about, handler=handler, **more)

        return (
            route("GET", "/api/health", "viewer", "Whether all is well.", self._health),
            route("GET", "/api/metrics", "viewer", "Figures for Prometheus.", self._metrics,
                  returns="text/plain"),
            route("GET", "/api/openapi.json", "viewer", "This description.", self._openapi),
            route("GET", "/api/sessions", "viewer", "All sessions.", self._sessions),
            route("GET", "/api/search", "viewer", "Search all sessions.", self._search,
                  parameters=(query, *narrowed)),
            route("GET", "/api/sessions/{session}/export", "viewer", "A whole session.",
                  self._export, parameters=(session, form)),
            route("POST", "/api/uploads", "operator", "Upload a file for a prompt.", self._upload),
            route("GET", "/api/files", "operator", "A file below a session's folder.", self._file,
                  parameters=(path,), returns="application/octet-stream"),
            route("GET", "/api/sessions/{session}/names", "operator", "Files by a few letters.",
                  self._names, parameters=(session, query)),
            route("GET", "/api/folders", "operator", "Folders that begin as typed.",
                  self._folders, parameters=(path,)),
        )  # fmt: skip

    def guarded(self, route: Route) -> Handler:
        """A handler that is only reached with a good token of a sufficient role."""

        async def handle(request: Request) -> Response:
            try:
                if route.role is not None:
                    await self._admit(request, route)
                return await route.handler(request)
            except Refusal as refusal:
                return _refused(refusal.code, refusal.message)
            except FairleadError as problem:
                return _refused("bad_message", str(problem))
            except (msgspec.DecodeError, RecursionError) as problem:
                return _refused("bad_message", f"the body cannot be read: {problem}")

        return handle

    async def _admit(self, request: Request, route: Route) -> None:
        header = request.headers.get("authorization", "")
        scheme, _, token = header.partition(" ")
        device = None
        if scheme == "Bearer" and token:
            device = await self._doors.device_of(token, address_of(request))
        if device is None:
            raise Refusal("not_authenticated", "a good token is needed")
        require(device.role, route.role or "owner", route.about)
        request.state.role, request.state.device = device.role, device.id

    async def _health(self, request: Request) -> Response:
        return _json(self._library.health())

    async def _metrics(self, request: Request) -> Response:
        return Response(self._library.metrics(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return _json(openapi(self.routes, self._version))

    async def _sessions(self, request: Request) -> Response:
        return _json({"sessions": self._library.sessions()})

    async def _search(self, request: Request) -> Response:
        given = request.query_params
        filters = Filters(
            session=given.get("session"),
            project=given.get("project"),
            model=given.get("model"),
            kinds=tuple(filter(None, given.get("kinds", "").split(","))),
            after=_number(given.get("after")),
            before=_number(given.get("before")),
            newest_first=given.get("order") == "newest",
            limit=min(_count(given.get("limit"), HITS) or HITS, MOST_HITS),
            offset=_count(given.get("offset"), 0),
        )
        return _json({"hits": await self._library.search(given.get("q", ""), filters)})

    async def _export(self, request: Request) -> Response:
        form = request.query_params.get("form", "json")
        if form == "ndjson":
            # Raw lines may hold secrets that no transcript shows, as those of the log.
            require(request.state.role, "operator", "a recording")
        found = await self._library.export(request.path_params["session"], form)
        if found is None:
            raise Refusal("not_found", "there is no such session, or no such form")
        content, media_type = found
        return Response(content, media_type=media_type)

    async def _upload(self, request: Request) -> Response:
        return _json(self._uploads.keep(await _body(request, self._limits.upload_bytes)))

    async def _file(self, request: Request) -> Response:
        path = request.query_params.get("path", "")
        try:
            content = read_below(path, self._library.roots(), self._limits.file_bytes)
        except FairleadError as problem:
            raise Refusal("not_found", str(problem)) from None
        return Response(content, media_type="application/octet-stream")

    async def _names(self, request: Request) -> Response:
        folder = self._library.folder(request.path_params["session"])
        if folder is None:
            raise Refusal("not_found", "there is no such session")
        letters = request.query_params.get("q", "")[:LETTERS]
        found, whole = await asyncio.to_thread(self._finder.find, folder, letters, NAMES)
        return _json({"names": found, "whole": whole})

    async def _folders(self, request: Request) -> Response:
        typed = request.query_params.get("path", "")
        found = await asyncio.to_thread(folders_like, typed, self._library.allowed(), NAMES)
        return _json({"folders": found})


def _refused(code: str, message: str) -> Response:
    return _json({"code": code, "message": message}, STATUS.get(code, 400))


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _count(text: str | None, other: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else other
