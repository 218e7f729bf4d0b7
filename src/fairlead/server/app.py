"""All parts put together: the application that uvicorn runs.

Built from the table of routes and two sockets, inside the doorway. Nothing else is reachable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from fairlead.server.doorway import Doorway
from fairlead.server.http import Api
from fairlead.server.limits import Limits
from fairlead.server.sockets import Sockets
from fairlead.server.static import StaticFiles

__all__ = ["build"]

SocketHandler = Callable[[WebSocket], Awaitable[None]]


def build(
    *,
    api: Api,
    sockets: Sockets,
    bridge: SocketHandler,
    static: StaticFiles,
    authorities: frozenset[str],
    limits: Limits,
) -> ASGIApp:
    """The whole application."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        sockets.start()
        try:
            yield
        finally:
            await sockets.stop()

    routes: list[BaseRoute] = [
        Route(one.path, api.guarded(one), methods=[one.method]) for one in api.routes
    ]
    routes += [
        WebSocketRoute("/ws", sockets.serve),
        WebSocketRoute("/bridge", bridge),
        Route("/", static.page),
        Route("/{name:path}", static.file),
    ]
    return Doorway(Starlette(routes=routes, lifespan=life), authorities, limits)
