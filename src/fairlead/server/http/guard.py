"""The check before each handler of the HTTP API: the token, the role, and the form of refusals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.errors import FairleadError
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.requests.peer import address_of, note_known
from fairlead.server.access.roles import require
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Handler, Route
from fairlead.server.refusal import Refusal

__all__ = ["Admit", "Guard"]

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

Admit: TypeAlias = Callable[[Request, Route], Awaitable[None]]
"""Raises `Refusal` if a request may not use a route; sets the `role` and `device` of its state."""


class Guard:
    """Guards handlers for the devices of one server."""

    def __init__(self, devices: DeviceRegistry) -> None:
        self._devices = devices

    def guarded(self, route: Route, admit: Admit | None = None) -> Handler:
        """A handler that runs only for a valid token of a sufficient role.

        `admit` replaces the check of the token and the role, for requests that come another way.
        """
        check = admit or self._admit

        async def handle(request: Request) -> Response:
            try:
                if route.role is not None:
                    await check(request, route)
                return await route.handler(request)
            except Refusal as refusal:
                return _refused(refusal.code, refusal.message)
            except FairleadError as problem:
                return _refused("bad_message", str(problem))
            except (msgspec.DecodeError, RecursionError) as problem:
                return _refused("bad_message", f"The body cannot be read: {problem}.")

        return handle

    async def _admit(self, request: Request, route: Route) -> None:
        header = request.headers.get("authorization", "")
        scheme, _, token = header.partition(" ")
        device = None
        if scheme == "Bearer" and token:
            device = await self._devices.device_of(token, address_of(request))
        if device is None:
            raise Refusal("not_authenticated", "Invalid or expired token. Sign in again.")
        note_known(request)
        require(device.role, route.role or "owner", f"{route.method} {route.path}")
        request.state.role, request.state.device = device.role, device.id


def _refused(code: str, message: str) -> Response:
    return json_answer({"code": code, "message": message}, STATUS.get(code, 400))
