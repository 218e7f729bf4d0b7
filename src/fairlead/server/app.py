"""The ASGI application that uvicorn runs.

It consists of the table of routes and two sockets, behind the request filter. Nothing else is
reachable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from fairlead.server.access.access_tokens import AccessTokens
from fairlead.server.access.requests.middleware import RequestFilter
from fairlead.server.access.requests.proxies import TrustedProxies
from fairlead.server.access.requests.public_url import PublicUrl
from fairlead.server.http.routes import Handler
from fairlead.server.http.routes import Route as ApiRoute
from fairlead.server.http.static import StaticFiles
from fairlead.server.limits import Limits
from fairlead.server.sockets.handshake import ACCESS
from fairlead.server.sockets.sockets import Sockets

__all__ = ["GuardedRoutes", "SocketHandler", "build"]

SocketHandler = Callable[[WebSocket], Awaitable[None]]

SOCKET_PATH = "/ws"


class GuardedRoutes(Protocol):
    """A table of routes, and the check of tokens and roles before each of them (`http.api`)."""

    routes: tuple[ApiRoute, ...]

    def guarded(self, route: ApiRoute) -> Handler:
        """A handler that runs only for a valid token of a sufficient role."""


def build(
    *,
    api: GuardedRoutes,
    sockets: Sockets,
    bridge: SocketHandler,
    static: StaticFiles,
    authorities: frozenset[str],
    limits: Limits,
    proxies: TrustedProxies | None = None,
    public: PublicUrl | None = None,
    access: AccessTokens | None = None,
) -> ASGIApp:
    """Build the application."""

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[None]:
        sockets.start()
        try:
            yield
        finally:
            await sockets.stop()

    async def serve(websocket: WebSocket) -> None:
        try:
            await sockets.serve(websocket)
        finally:
            if access is not None:
                access.end(websocket.scope.get(ACCESS))

    routes: list[BaseRoute] = [
        Route(route.path, api.guarded(route), methods=[route.method]) for route in api.routes
    ]
    routes += [
        WebSocketRoute(SOCKET_PATH, serve),
        WebSocketRoute("/bridge", bridge),
        Route("/", static.page),
        Route("/{name:path}", static.file),
    ]
    app = _Application(serve, routes=routes, lifespan=lifespan)
    return RequestFilter(app, authorities, limits, proxies, public)


class _Application(Router):
    """The routes, and the answer when the code of a route fails.

    A socket takes no layer of Starlette, which would stay in memory while it is connected. Requests
    do not need `starlette.applications` either: its error page loads 0.4 MiB of names of characters.
    """

    def __init__(self, serve: SocketHandler, **more: Any) -> None:
        super().__init__(**more)
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] == SOCKET_PATH:
            await self._serve(WebSocket(scope, receive, send))
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out a request. uvicorn logs a failure, but its own answer has no security headers."""
        answered = False

        async def sender(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await super().__call__(scope, receive, sender)
        except Exception:
            if not answered:
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, send)
            raise
