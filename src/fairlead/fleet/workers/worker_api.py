"""The HTTP API of the front: its own routes, and those about sessions of workers by their workers.

Search, usage, limits and health are of all processes together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairlead.fleet.gateway.http.merging import merged_hits, merged_usage
from fairlead.fleet.gateway.node_client import HttpResponse, NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk
from fairlead.fleet.workers.worker_directory import WorkerDirectory
from fairlead.server.http.api import Api
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.guard import Admit
from fairlead.server.http.routes import Handler, Route
from fairlead.server.refusal import Refusal

__all__ = ["WorkerApi"]

PASSED = {"accept", "content-type", "if-none-match", "if-modified-since", "range"}
"""Headers of a request that a worker gets."""

DROPPED = {"content-length", "transfer-encoding", "connection"}
HITS, MOST_HITS = 50, 200
SUMMED = (
    "fairlead_sessions", "fairlead_sessions_live", "fairlead_store_commits_total",
    "fairlead_store_writes_total", "fairlead_max_rss_bytes",
)  # fmt: skip
"""Metrics of all processes together."""

SETTINGS = {"/api/profiles", "/api/profiles/remove"}
"""Routes whose changes the workers must read again."""


class WorkerApi:
    """The routes of a front (`app.GuardedRoutes`)."""

    def __init__(
        self,
        own: Api,
        directory: WorkerDirectory,
        client: NodeClient,
        *,
        introduce: Callable[[str], Awaitable[None]],
        settings_changed: Callable[[], Awaitable[None]],
        budgets_changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._own = own
        self._directory = directory
        self._client = client
        self._introduce = introduce
        self._settings_changed = settings_changed
        self._budgets_changed = budgets_changed
        self._merged: dict[str, Callable[[Request, Handler], Awaitable[Response]]] = {
            "GET /api/search": self._search,
            "GET /api/usage": self._usage,
            "GET /api/limits": self._limits,
            "GET /api/health": self._health,
            "GET /api/metrics": self._metrics,
            "GET /api/schedules": self._schedules,
            "POST /api/schedules": self._change_schedule,
            "POST /api/schedules/remove": self._change_schedule,
            "GET /api/budgets": self._budgets,
            "POST /api/budgets": self._change_budget,
            "POST /api/budgets/remove": self._change_budget,
            "POST /api/mentions": self._mentions,
        }
        self.routes = tuple(
            structs.replace(route, handler=self._handler(route)) for route in own.routes
        )

    @property
    def merged(self) -> frozenset[str]:
        """The routes, such as `GET /api/search`, that are not carried out by one process alone."""
        return frozenset(self._merged)

    def guarded(self, route: Route, admit: Admit | None = None) -> Handler:
        """A handler that runs only for a valid token of a sufficient role."""
        return self._own.guarded(route, admit)

    def _handler(self, route: Route) -> Handler:
        merged = self._merged.get(f"{route.method} {route.path}")

        async def handle(request: Request) -> Response:
            session = request.path_params.get("session") or request.query_params.get("session")
            owner = self._directory.owner(session) if session else None
            if owner is not None:
                response = await self._ask(request, owner[0], request.stream())
                headers = {n: v for n, v in response.headers if n.lower() not in DROPPED}
                return StreamingResponse(response.body, response.status, headers=headers)
            if merged is not None:
                return await merged(request, route.handler)
            answer = await route.handler(request)
            if route.method == "POST" and route.path in SETTINGS:
                await self._settings_changed()
            return answer

        return handle

    # Of all processes

    async def _search(self, request: Request, own: Handler) -> Response:
        limit = min(_count(request.query_params.get("limit"), HITS) or HITS, MOST_HITS)
        offset = _count(request.query_params.get("offset"), 0)
        wanted = {"limit": str(min(offset + limit, MOST_HITS)), "offset": "0"}
        query = urlencode({**request.query_params, **wanted})
        answers = await self._all(request, own, query)
        newest = request.query_params.get("order") == "newest"
        merged = merged_hits(
            answers, lambda _, session: session, newest=newest, offset=offset, limit=limit
        )
        return json_answer({"hits": [{**hit, "node": ""} for hit in merged["hits"]]})

    async def _usage(self, request: Request, own: Handler) -> Response:
        return json_answer(merged_usage(await self._all(request, own)))

    async def _limits(self, request: Request, own: Handler) -> Response:
        answers = [answer for _, answer in await self._all(request, own)]
        windows: dict[tuple[str, str], dict[str, Any]] = {}
        for row in (row for answer in answers for row in answer["windows"]):
            key = row["account"], row["kind"]
            if key not in windows or windows[key]["at"] < row["at"]:
                windows[key] = row
        stopped = {row["session"]: row for answer in answers for row in answer["stopped"]}
        first = answers[0]["continue_at_reset"]
        return json_answer(
            {
                "windows": list(windows.values()),
                "stopped": list(stopped.values()),
                "continue_at_reset": first,
            }
        )

    async def _health(self, request: Request, own: Handler) -> Response:
        answers = [answer for _, answer in await self._all(request, own)]
        bad = next((each for each in answers if not each["ok"]), answers[0])
        complete = len(answers) == 1 + len(self._directory.nodes())
        return json_answer(
            {
                **bad,
                "ok": bad["ok"] and complete,
                "sessions": sum(each["sessions"] for each in answers),
                "live": sum(each["live"] for each in answers),
                "sockets": answers[0]["sockets"],
                "workers": {"total": len(self._directory.nodes()), "here": len(answers) - 1},
            }
        )

    async def _metrics(self, request: Request, own: Handler) -> Response:
        texts = [bytes((await own(request)).body).decode()]
        for worker in self._directory.here():
            response = await self._ask(request, worker, _nothing())
            texts.append((await response.read()).decode())
        values = [_values(text) for text in texts]
        sums = {name: sum(each.get(name, 0.0) for each in values) for name in SUMMED}
        lines = [_with_value(line, sums) for line in texts[0].splitlines()]
        lines += ["# TYPE fairlead_workers gauge", f"fairlead_workers {len(texts) - 1}"]
        return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

    async def _mentions(self, request: Request, own: Handler) -> Response:
        """By the process of the session that the body names."""
        owner = self._directory.owner(str(_decoded(await request.body()).get("session") or ""))
        if owner is None:
            return await own(request)
        response = await self._ask(request, owner[0], _once(await request.body()))
        return Response(await response.read(), response.status, media_type="application/json")

    # Schedules and budgets

    async def _schedules(self, request: Request, own: Handler) -> Response:
        answers = await self._all(request, own, path="/api/schedules", method="GET")
        return json_answer({"schedules": [row for _, each in answers for row in each["schedules"]]})

    async def _change_schedule(self, request: Request, own: Handler) -> Response:
        """By the process of its session, or the one that has it."""
        body = _decoded(await request.body())
        owner = self._directory.owner(str(body.get("session") or ""))
        if owner is None:
            owner = await self._with_row(request, "/api/schedules", "schedules", body.get("id"))
        if owner is None:
            await own(request)
        else:
            await self._checked(request, owner[0])
        return await self._schedules(request, self._handler_of("GET", "/api/schedules"))

    async def _budgets(self, request: Request, own: Handler) -> Response:
        answers = await self._all(request, own, path="/api/budgets", method="GET")
        rows: dict[str, dict[str, Any]] = {}
        for _, answer in answers:
            for row in answer["budgets"]:
                rows.setdefault(row["id"], row)
        return json_answer({"budgets": list(rows.values())})

    async def _change_budget(self, request: Request, own: Handler) -> Response:
        """A session's budget by its process; any other by the front, which tells the workers."""
        body = _decoded(await request.body())
        owner = self._directory.owner(str(body.get("key") or ""))
        if owner is None and not body.get("scope"):  # A removal names only the budget.
            owner = await self._with_row(request, "/api/budgets", "budgets", body.get("id"))
        if owner is not None and str(body.get("scope") or "session") == "session":
            await self._checked(request, owner[0])
        else:
            await own(request)
            await self._budgets_changed()
        return await self._budgets(request, self._handler_of("GET", "/api/budgets"))

    def _handler_of(self, method: str, path: str) -> Handler:
        return next(r.handler for r in self._own.routes if (r.method, r.path) == (method, path))

    async def _with_row(
        self, request: Request, path: str, rows: str, id: Any
    ) -> tuple[str, str] | None:
        """The worker that has a row with this id, unless the front has it."""
        if not id:
            return None
        own = self._handler_of("GET", path)
        answers = await self._all(request, own, path=path, method="GET")
        for worker, answer in answers:
            for row in answer[rows]:
                if row.get("id", row.get("schedule", {}).get("id")) == id:
                    return (worker, "") if worker else None
        return None

    async def _checked(self, request: Request, worker: str) -> None:
        response = await self._ask(request, worker, _once(await request.body()))
        content = await response.read()
        if response.status != 200:
            refused = msgspec.json.decode(content)
            raise Refusal(str(refused["code"]), str(refused["message"]))

    # Within

    async def _all(
        self,
        request: Request,
        own: Handler,
        query: str | None = None,
        *,
        path: str = "",
        method: str = "",
    ) -> list[tuple[str, dict[str, Any]]]:
        """The answers of the front and of all workers that are here."""
        if query is not None:
            request = Request({**request.scope, "query_string": query.encode()}, request.receive)

        async def first() -> dict[str, Any]:
            return dict(msgspec.json.decode((await own(request)).body))

        async def of(worker: str) -> dict[str, Any] | None:
            try:
                response = await self._ask(request, worker, _nothing(), path=path, method=method)
                content = await response.read()
            except Refusal:
                return None
            return dict(msgspec.json.decode(content)) if response.status == 200 else None

        workers = self._directory.here()
        front, *others = await asyncio.gather(first(), *(of(each) for each in workers))
        assert front is not None
        answers = [("", front)]
        answers += [(w, each) for w, each in zip(workers, others, strict=True) if each is not None]
        return answers

    async def _ask(
        self,
        request: Request,
        worker: str,
        body: AsyncIterator[bytes],
        *,
        path: str = "",
        method: str = "",
    ) -> HttpResponse:
        await self._introduce(request.state.device)
        ask = HttpAsk(
            transfer="",
            device=request.state.device,
            method=method or request.method,
            path=path or quote(request.scope["path"]),
            query=request.scope["query_string"].decode("latin-1"),
            headers=tuple((n, v) for n, v in request.headers.items() if n in PASSED),
        )
        return await self._client.http(worker, ask, body)


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return {}  # The handler says what is wrong with it.
    return value if isinstance(value, dict) else {}


def _values(text: str) -> dict[str, float]:
    pairs = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}


def _with_value(line: str, sums: dict[str, float]) -> str:
    name, _, _ = line.partition(" ")
    return f"{name} {sums[name]:g}" if name in sums else line


def _count(text: str | None, other: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else other


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
