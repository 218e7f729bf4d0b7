"""The application around the routes: what a client gets when the code of a route fails."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from fairlead.server.app import _Application


async def broken(request: Request) -> Response:
    raise ValueError("a mistake in the code")


class BrokenLater(Response):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("a mistake in the code")


async def broken_later(request: Request) -> Response:
    return BrokenLater()


async def answers(path: str) -> list[dict[str, Any]]:
    """What is sent for a request whose handler fails, which uvicorn gets as an exception."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def serve(_: object) -> None:
        raise AssertionError

    routes = [Route("/now", broken), Route("/later", broken_later)]
    app = _Application(serve, routes=routes)
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    with pytest.raises(ValueError):
        await app(scope, receive, send)
    return sent


async def test_a_route_that_fails_is_answered_with_500() -> None:
    start, body = await answers("/now")
    assert (start["status"], body["body"]) == (500, b"Internal Server Error")


async def test_a_route_that_fails_after_its_first_bytes_is_not_answered_again() -> None:
    assert [each.get("status") for each in await answers("/later")] == [200]
