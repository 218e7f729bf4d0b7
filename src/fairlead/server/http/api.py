"""The HTTP API for requests that a client makes once, instead of following a document on a socket.

Sessions, search, export, uploads, files and their names, health and metrics; `more` adds the
routes of other modules. Every handler is an entry of a table with the least role it requires
(`routes`). The guard checks the token and the role before the handler runs, and turns every
refusal into the same form of response.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from fairlead.errors import FairleadError
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.roles import require
from fairlead.server.files import Folders
from fairlead.server.http.bodies import json_answer as _json
from fairlead.server.http.bodies import read_body as _body
from fairlead.server.http.export.exports import Exports, StreamedExport
from fairlead.server.http.guard import Guard
from fairlead.server.http.routes import Handler, Parameter, Route, openapi
from fairlead.server.http.search.file_search import Finder, folders_like
from fairlead.server.http.uploads import Uploads
from fairlead.server.limits import Limits
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.store.tables.search import Filters

__all__ = ["Api", "Library"]

HITS, MOST_HITS = 50, 200
"""Default and largest number of hits of one search."""

QUERY_CHARS, KINDS = 1_000, 10
"""Most characters of a search query, and most kinds that it may name."""

NAMES, NAME_CHARS = 50, 200
"""Most names in one response, and most characters of a name query."""


SEARCH_FILTERS = (
    ("session", "Only this session."),
    ("project", "Only sessions in this folder."),
    ("model", "Only sessions that used this model last."),
    ("profile", "Only sessions of this profile; empty for the default one."),
    ("kinds", "Comma-separated: prompt, answer, command, path, error."),
    ("after", "Not before this Unix timestamp."),
    ("before", "Before this Unix timestamp."),
    ("order", "newest, or the best match first if it is left out."),
    ("limit", "Most hits to return."),
    ("offset", "Hits to skip."),
)


class Library(Protocol):
    """The part of the registry and the store that the API uses."""

    @property
    def opening(self) -> Folders:
        """Opens the files and folders of sessions."""

    def sessions(self) -> list[ListedSession]:
        """The rows of the lobby's list."""

    def roots(self) -> list[str]:
        """The folders that sessions work in."""

    async def search(self, query: str, filters: Filters, device: str) -> list[Any]:
        """The hits of a query, best first; refuses a search that takes too long."""

    async def export(self, session: str, form: str) -> tuple[AsyncIterator[bytes], str] | None:
        """A session as `json`, `markdown`, `html` or `ndjson` in pieces, and its media type."""

    def folder(self, session: str) -> str | None:
        """The folder that a session works in, if there is such a session."""

    def allowed(self) -> list[str]:
        """The folders under which sessions may work."""

    def health(self) -> dict[str, Any]:
        """Whether the server works and stores events."""

    def metrics(self) -> str:
        """Metrics in the text format of Prometheus."""


class Api(Guard):
    """The handlers."""

    def __init__(
        self,
        library: Library,
        devices: DeviceRegistry,
        uploads: Uploads,
        limits: Limits,
        version: str,
        more: tuple[Route, ...] = (),
    ) -> None:
        """`more` are routes that other modules handle; they are guarded in the same way."""
        super().__init__(devices)
        self._library = library
        self._uploads = uploads
        self._limits = limits
        self._version = version
        self._opening = library.opening
        self._exports = Exports(limits)
        self._finder = Finder(opening=library.opening)
        self.routes = (*self._table(), *more)

    def _table(self) -> tuple[Route, ...]:
        session = Parameter(name="session", where="path", about="The session's id.")
        query = Parameter(name="q", where="query", about="Search terms.")
        filters = tuple(
            Parameter(name=name, where="query", about=about, needed=False)
            for name, about in SEARCH_FILTERS
        )
        form = Parameter(
            name="form", where="query", about="json, markdown, html or ndjson.", needed=False
        )
        path = Parameter(name="path", where="query", about="An absolute path.")

        def route(
            method: str, path: str, role: str | None, about: str, handler: Handler, **more: Any
        ) -> Route:
            return Route(method=method, path=path, role=role, about=about, handler=handler, **more)

        return (
            route("GET", "/api/health", "viewer", "The state of the server.", self._health),
            route("GET", "/api/metrics", "viewer", "Metrics for Prometheus.", self._metrics,
                  returns="text/plain"),
            route("GET", "/api/openapi.json", "viewer", "This description.", self._openapi),
            route("GET", "/api/sessions", "viewer", "All sessions.", self._sessions),
            route("GET", "/api/search", "viewer", "Search all sessions.", self._search,
                  parameters=(query, *filters)),
            route("GET", "/api/sessions/{session}/export", "viewer", "A whole session.",
                  self._export, parameters=(session, form)),
            route("POST", "/api/uploads", "operator", "Upload a file for a prompt.", self._upload),
            route("GET", "/api/files", "operator", "A file below a session's folder.", self._file,
                  parameters=(path,), returns="application/octet-stream"),
            route("GET", "/api/sessions/{session}/names", "operator", "Files whose names match.",
                  self._names, parameters=(session, query)),
            route("GET", "/api/folders", "operator", "Folders whose paths start with this text.",
                  self._folders, parameters=(path,)),
        )  # fmt: skip

    async def _health(self, request: Request) -> Response:
        return _json(self._library.health())

    async def _metrics(self, request: Request) -> Response:
        return Response(self._library.metrics(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return _json(openapi(self.routes, self._version))

    async def _sessions(self, request: Request) -> Response:
        return _json({"sessions": self._library.sessions()})

    async def _search(self, request: Request) -> Response:
        parameters = request.query_params
        filters = Filters(
            session=parameters.get("session"),
            project=parameters.get("project"),
            model=parameters.get("model"),
            profile=parameters.get("profile"),
            kinds=tuple(filter(None, parameters.get("kinds", "").split(",")))[:KINDS],
            after=_number(parameters.get("after")),
            before=_number(parameters.get("before")),
            newest_first=parameters.get("order") == "newest",
            limit=min(_count(parameters.get("limit"), HITS) or HITS, MOST_HITS),
            offset=_count(parameters.get("offset"), 0),
        )
        query = parameters.get("q", "")
        if len(query) > QUERY_CHARS:
            raise Refusal("too_large", f"A search can have at most {QUERY_CHARS:,} characters.")
        hits = await self._library.search(query, filters, request.state.device)
        return _json({"hits": hits})

    async def _export(self, request: Request) -> Response:
        form = request.query_params.get("form", "json")
        if form == "ndjson":
            # Like the log, raw lines may hold secrets that no transcript shows.
            require(request.state.role, "operator", "Exporting a recording")
        end = self._exports.begin(request.state.device)
        try:
            export = await self._library.export(request.path_params["session"], form)
            if export is None:
                raise Refusal("not_found", "Session or export format not found.")
        except BaseException:
            end()
            raise
        content, media_type = export
        return StreamedExport(content, media_type, send_s=self._limits.export_send_s, end=end)

    async def _upload(self, request: Request) -> Response:
        body = await _body(request, self._limits.upload_bytes)
        return _json(await asyncio.to_thread(self._uploads.keep, body))

    async def _file(self, request: Request) -> Response:
        path = request.query_params.get("path", "")
        try:
            content = await asyncio.to_thread(
                self._opening.read, path, self._library.roots(), self._limits.file_bytes
            )
        except FairleadError as problem:
            raise Refusal("not_found", str(problem)) from None
        return Response(content, media_type="application/octet-stream")

    async def _names(self, request: Request) -> Response:
        folder = self._library.folder(request.path_params["session"])
        if folder is None:
            raise Refusal("not_found", "Session not found.")
        text = request.query_params.get("q", "")[:NAME_CHARS]
        names, complete = await asyncio.to_thread(self._finder.find, folder, text, NAMES)
        return _json({"names": names, "whole": complete})

    async def _folders(self, request: Request) -> Response:
        typed = request.query_params.get("path", "")
        allowed = self._library.allowed()
        folders = await asyncio.to_thread(folders_like, typed, allowed, NAMES, self._opening)
        return _json({"folders": folders})


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _count(text: str | None, other: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else other
