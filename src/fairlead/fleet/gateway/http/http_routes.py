"""The HTTP API of a gateway: every route of the server, carried out by the machine that it concerns.

- A route about a session goes to the machine of the session.
- A route with the parameter `session` or `node` goes to that machine, one with `cwd` or the path of a
  file to a machine that has sessions in that folder. Some routes have the session in their body.
- Search, sessions, usage and health are asked of all machines, and so is every other GET.
- Devices, pairing and uploads are handled here.

The gateway checks the token, the machine checks the role: it looks the role up itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.http.merging import (
    merged_hits,
    merged_lists,
    merged_usage,
    with_machines,
)
from fairlead.fleet.gateway.http.uploads import GatewayUploads
from fairlead.fleet.gateway.node_client import HttpResponse, NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk
from fairlead.fleet.protocol.names import name_of
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.guard import Guard
from fairlead.server.http.routes import Handler, Parameter, Route, openapi
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.view.lobby import Lobby
from fairlead.store.tables.search import Filters

__all__ = ["FleetApi"]

PASSED = {"accept", "content-type", "if-none-match", "if-modified-since", "range"}
"""Headers of a request that a machine gets."""

RETURNED = {
    "accept-ranges", "content-disposition", "content-length", "content-range", "content-type",
    "etag", "last-modified",
}  # fmt: skip
"""Headers of a machine's response that a browser gets."""

SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A machine that was taken over must not run scripts with the origin of the gateway, where the keys
of devices for all machines are."""

ALL_S = 5.0
"""How long all machines together are waited for."""

HITS, MOST_HITS = 50, 200

IN_BODY = {
    "/api/mentions": "session",
    "/api/schedules": "session",
    "/api/budgets": "key",
}
"""Routes with the name of a session in the body, and the field that has it."""

BODY_BYTES = 16 * 1024 * 1024
"""Most bytes of such a body; the machine has a lower limit."""

WHICH = "Several machines could do this. Add the parameter node with the id of one of them."


Archive = Callable[[str, Filters, set[str]], Awaitable[dict[str, Any]]]
"""Searches the archived sessions of the named machines: node -> answer."""


class FleetApi(Guard):
    """The handlers."""

    def __init__(
        self,
        devices: DeviceRegistry,
        *,
        directory: Directory,
        lobby: Lobby,
        client: NodeClient,
        uploads: GatewayUploads,
        limits: Limits,
        version: str,
        metrics: Callable[[], str],
        archive: Archive | None = None,
        more: tuple[Route, ...],
    ) -> None:
        """`metrics` returns the metrics as text; `more` are the routes that the gateway handles like
        a server."""
        super().__init__(devices)
        self._directory = directory
        self._lobby = lobby
        self._client = client
        self._uploads = uploads
        self._limits = limits
        self._version = version
        self._metrics_text = metrics
        self._archive = archive
        self.routes = (*self._own(), *more, *self._passed_on())

    def _own(self) -> tuple[Route, ...]:
        def route(method: str, path: str, role: str, about: str, handler: Handler) -> Route:
            return Route(method=method, path=path, role=role, about=about, handler=handler)

        return (
            route("GET", "/api/health", "viewer", "The state of the fleet.", self._health),
            route("GET", "/api/metrics", "viewer", "Metrics for Prometheus.", self._metrics),
            route("GET", "/api/openapi.json", "viewer", "This description.", self._openapi),
            route("GET", "/api/sessions", "viewer", "All sessions.", self._sessions),
            route("GET", "/api/search", "viewer", "Search all sessions.", self._search),
            route("GET", "/api/usage", "viewer", "Usage of all machines.", self._usage),
            route("POST", "/api/uploads", "operator", "Upload a file.", self._upload),
        )

    def _passed_on(self) -> tuple[Route, ...]:
        path = Parameter(name="path", where="path", about="The route of the machine.")
        return tuple(
            Route(
                method=method,
                path="/api/{path:path}",
                role="viewer",
                about="Any other route, by the machine that it concerns, which checks the role.",
                handler=self._pass_on,
                parameters=(path,),
            )
            for method in ("GET", "POST", "PUT", "DELETE")
        )

    # Asked of all machines

    async def _health(self, request: Request) -> Response:
        answers, missing = await self._all(request, "/api/health", "")
        nodes = dict(answers)
        answer = {
            "ok": bool(nodes) and not missing and all(each.get("ok") for each in nodes.values()),
            "sessions": sum(each.get("sessions", 0) for each in nodes.values()),
            "live": sum(each.get("live", 0) for each in nodes.values()),
            "nodes": nodes,
        }
        return json_answer(self._with_machines(answer, missing))

    async def _metrics(self, request: Request) -> Response:
        return Response(self._metrics_text(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        """The routes of the gateway, and those of one of the machines."""
        own = openapi(self.routes, self._version)
        for node in self._directory.here()[:1]:
            response = await self._ask(request, node, "/api/openapi.json", "", _nothing())
            described = msgspec.json.decode(await response.read())
            own["paths"] = {**described.get("paths", {}), **own["paths"]}
        return json_answer(own)

    async def _sessions(self, request: Request) -> Response:
        missing = [node.name for node in self._directory.nodes() if not node.here]
        return json_answer(self._with_machines({"sessions": self._lobby.sessions()}, missing))

    async def _search(self, request: Request) -> Response:
        parameters = dict(request.query_params)
        if parameters.get("session"):
            return await self._pass_on(request)
        limit = min(_count(parameters.get("limit"), HITS) or HITS, MOST_HITS)
        offset = _count(parameters.get("offset"), 0)
        query = {**parameters, "limit": str(min(offset + limit, MOST_HITS)), "offset": "0"}
        answers, missing = await self._all(request, "/api/search", urlencode(query))
        if self._archive is not None and (text := parameters.get("q", "")).strip():
            away = {node.id for node in self._directory.nodes() if not node.here}
            archived = await self._archive(text, Filters(limit=offset + limit), away)
            answers += list(archived.items())
        newest = parameters.get("order") == "newest"
        merged = merged_hits(answers, self._name, newest=newest, offset=offset, limit=limit)
        return json_answer(self._with_machines(merged, missing))

    async def _usage(self, request: Request) -> Response:
        answers, missing = await self._all(request, "/api/usage", request.url.query)
        return json_answer(self._with_machines(merged_usage(answers), missing))

    # Uploads

    async def _upload(self, request: Request) -> Response:
        """Keep a file until its prompt is sent, unless the request names its machine."""
        if self._named(request) is not None:
            return await self._pass_on(request)
        body = await read_body(request, self._limits.upload_bytes)
        return json_answer(await self._uploads.keep(body))

    # Passed on

    async def _pass_on(self, request: Request) -> Response:
        path, query = request.scope["path"], dict(request.query_params)
        target = self._target(request, path, query)
        content: AsyncIterator[bytes] = request.stream()
        if request.method == "POST" and path in IN_BODY:
            body = await read_body(request, BODY_BYTES)
            owner, body = self._named_in_body(body, IN_BODY[path])
            content = _once(body)
            target = target or (None if owner is None else (owner, quote(path)))
        if target is None and path == "/api/files":
            target = self._with_file(query.get("path", "")), quote(path)
        if target is None and request.method == "GET":
            answers, missing = await self._all(request, path, urlencode(query))
            return json_answer(self._with_machines(merged_lists(answers), missing))
        if target is None:
            here = self._directory.here()
            if len(here) != 1:
                raise Refusal("bad_message", WHICH)
            target = here[0], quote(path)
        node, path = target
        response = await self._ask(request, node, path, urlencode(query), content)
        headers = {name: value for name, value in response.headers if name.lower() in RETURNED}
        headers["content-security-policy"] = SANDBOX
        return StreamingResponse(response.body, response.status, headers=headers)

    def _target(self, request: Request, path: str, query: dict[str, str]) -> tuple[str, str] | None:
        """The machine of a request and the path there; changes the query to what it knows."""
        parts = path.split("/")
        if len(parts) > 3 and parts[2] == "sessions":
            node, session = self._directory.owner_of(parts[3])
            return node, "/".join((*parts[:3], quote(session), *map(quote, parts[4:])))
        named = self._named(request)
        query.pop("node", None)
        if named is not None:
            if query.get("session"):
                query["session"] = named[1]
            return named[0], quote(path)
        if query.get("cwd") and (nodes := self._directory.with_folder(query["cwd"])):
            return nodes[0], quote(path)
        return None

    def _named_in_body(self, body: bytes, field: str) -> tuple[str | None, bytes]:
        """The machine of the session or the folder in a body, and the body as that machine knows it."""
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return None, body  # The machine says what is wrong with it.
        if not isinstance(value, dict):
            return None, body
        owner = self._directory.owner(str(value.get(field) or ""))
        if owner is not None:
            return owner[0], msgspec.json.encode({**value, field: owner[1]})
        nodes = self._directory.with_folder(str(value.get("cwd") or ""))
        return (nodes[0] if nodes else None), body

    def _with_file(self, path: str) -> str:
        """The machine with a session in the folder of a file, the innermost one."""
        here = self._directory.here()
        rows = [
            (len(row.cwd), node.id)
            for node in self._directory.nodes()
            if node.here
            for row in node.sessions().values()
            if row.cwd and (path == row.cwd or path.startswith(row.cwd.rstrip("/") + "/"))
        ]
        if not rows and len(here) != 1:
            raise Refusal("bad_message", WHICH)
        return max(rows)[1] if rows else here[0]

    def _named(self, request: Request) -> tuple[str, str] | None:
        """The machine that a request names by `session` or `node`, and the session there."""
        session, node = request.query_params.get("session"), request.query_params.get("node")
        if session:
            return self._directory.owner_of(session)
        if node:
            if self._directory.node(node) is None:
                raise Refusal("not_found", "There is no such machine.")
            return node, ""
        return None

    # Within

    async def _all(
        self, request: Request, path: str, query: str
    ) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
        """The answers of all machines, and the names of those that did not answer."""

        async def ask(node: str) -> dict[str, Any]:
            async with asyncio.timeout(ALL_S):
                response = await self._ask(request, node, path, query, _nothing())
                body = await response.read()
            if response.status != 200:
                raise _refusal(body)
            value = msgspec.json.decode(body)
            return value if isinstance(value, dict) else {"value": value}

        nodes = self._directory.nodes()
        here = [node.id for node in nodes if node.here]
        results = await asyncio.gather(*(ask(node) for node in here), return_exceptions=True)
        answers: list[tuple[str, dict[str, Any]]] = []
        refusals: list[Refusal] = []
        for node, result in zip(here, results, strict=True):
            if isinstance(result, dict):
                answers.append((node, result))
            elif isinstance(result, Refusal):
                refusals.append(result)
        if not answers and refusals:
            raise refusals[0]
        answered = {node for node, _ in answers}
        return answers, [node.name for node in nodes if node.id not in answered]

    async def _ask(
        self, request: Request, node: str, path: str, query: str, body: AsyncIterator[bytes]
    ) -> HttpResponse:
        ask = HttpAsk(
            transfer="",
            device=request.state.device,
            method=request.method,
            path=path,
            query=query,
            headers=tuple(
                (name, value) for name, value in request.headers.items() if name in PASSED
            ),
        )
        return await self._client.http(node, ask, body)

    def _with_machines(self, answer: dict[str, Any], missing: list[str]) -> dict[str, Any]:
        return with_machines(answer, len(self._directory.nodes()), missing)

    def _name(self, node: str, session: str) -> str:
        """The name of a session at the gateway."""
        entry = self._directory.node(node)
        known = None if entry is None else entry.names.get(session)
        return known or name_of(node, session, "cli")


def _refusal(body: bytes) -> Refusal:
    try:
        refused = msgspec.json.decode(body)
        return Refusal(str(refused["code"]), str(refused["message"]))
    except (msgspec.DecodeError, LookupError, TypeError):
        return Refusal("internal", "The machine failed to answer.")


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _count(text: str | None, other: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else other
