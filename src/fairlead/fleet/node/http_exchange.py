"""HTTP requests that arrive over the bus: the routes of the server, without its sockets.

The same handlers run as for a browser of this machine. The device and its role come from the node's
own list (`known_devices`) instead of a token. Bodies arrive and leave in pieces; a handler that
produces faster than the gateway reads waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router

from fairlead.fleet.node.transfers import Transfer
from fairlead.fleet.protocol.envelopes import PIECE_BYTES, Answer, HttpAsk, encode
from fairlead.server.access.roles import require
from fairlead.server.http.api import Api
from fairlead.server.http.routes import Route
from fairlead.store.tables.devices import Device

__all__ = ["HttpExchange", "HttpRoutes"]

log = logging.getLogger("fairlead.fleet")

DEVICE = "fairlead.fleet.device"
"""The key of a request's scope for the device."""

DROPPED = {"connection", "transfer-encoding", "keep-alive", "upgrade"}
"""Headers of a response that concern only one connection."""


class HttpRoutes:
    """The routes of the server that need a role."""

    def __init__(self, api: Api, more: tuple[Route, ...] = ()) -> None:
        """`more` are routes that exist only for gateways."""
        self._router = Router(
            [
                StarletteRoute(route.path, api.guarded(route, _admit), methods=[route.method])
                for route in (*api.routes, *more)
                if route.role is not None
            ]
        )

    def begin(self, ask: HttpAsk, device: Device) -> Transfer:
        """Begin to carry out a request."""
        exchange = HttpExchange(self._router, ask, device)
        return Transfer(exchange.step, exchange.close)


async def _admit(request: Request, route: Route) -> None:
    device: Device = request.scope[DEVICE]
    require(device.role, route.role or "owner", f"{route.method} {route.path}")
    request.state.role, request.state.device = device.role, device.id


class HttpExchange:
    """One request and its response."""

    def __init__(self, router: Router, ask: HttpAsk, device: Device) -> None:
        self._ask = ask
        self._incoming: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue(maxsize=2)
        self._receiving = True
        self._buffer = bytearray()
        self._status = 500
        self._headers: tuple[tuple[str, str], ...] = ()
        self._begun = False
        """Whether the status was sent to the gateway."""
        self._finished = False
        self._changed = asyncio.Condition()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": ask.method,
            "scheme": "http",
            "path": unquote(ask.path),
            "raw_path": ask.path.encode("utf-8", "replace"),
            "query_string": ask.query.encode("utf-8", "replace"),
            "headers": [
                (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
                for name, value in ask.headers
            ],
            "client": None,
            "server": None,
            "state": {},
            DEVICE: device,
        }
        self._task = asyncio.create_task(self._run(router, scope))

    async def step(self, body: bytes, last: bool) -> bytes:
        """Take the next piece of the request's body; after the last, return the next of the response."""
        if self._receiving:
            self._receiving = not last
            await self._incoming.put((body, last))
            if not last:
                return encode(Answer(transfer=self._ask.transfer, more=True))
        async with self._changed:
            await self._changed.wait_for(lambda: self._finished or len(self._buffer) >= PIECE_BYTES)
            piece = bytes(self._buffer[:PIECE_BYTES])
            del self._buffer[: len(piece)]
            more = not self._finished or bool(self._buffer)
            self._changed.notify_all()
        if self._begun:
            return encode(Answer(transfer=self._ask.transfer, more=more), piece)
        self._begun = True
        header = Answer(
            transfer=self._ask.transfer, more=more, status=self._status, headers=self._headers
        )
        return encode(header, piece)

    def close(self) -> None:
        """The gateway asks for nothing more."""
        self._task.cancel()

    async def _run(self, router: Router, scope: dict[str, Any]) -> None:
        try:
            await router(scope, self._receive, self._send)
        except Exception:
            log.exception("the request %s %s failed", self._ask.method, self._ask.path)
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                async with self._changed:
                    self._finished = True
                    self._changed.notify_all()

    async def _receive(self) -> dict[str, Any]:
        if not self._receiving and self._incoming.empty():
            await asyncio.Event().wait()  # Until the task ends: the gateway does not disconnect.
        body, last = await self._incoming.get()
        return {"type": "http.request", "body": body, "more_body": not last}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message.get("headers", ())
                if name.decode("latin-1").lower() not in DROPPED
            )
            return
        async with self._changed:
            self._buffer += message.get("body", b"")
            self._changed.notify_all()
            await self._changed.wait_for(lambda: len(self._buffer) < 2 * PIECE_BYTES)
