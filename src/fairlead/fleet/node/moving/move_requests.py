"""Answers the gateways about moves: the question `move`, and two HTTP routes for packages.

The routes are only reachable over the bus, below `/fleet`, which no gateway passes on from a browser.
The device that begins a move or sends a package must have the owner role on this machine. The steps
that only complete or cancel such a move need no role, so that any gateway can complete a move after
another gateway has died.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.node.moving.arrivals import Arrivals
from fairlead.fleet.node.moving.departures import Departures, Target
from fairlead.fleet.protocol.envelopes import Answer, MoveAsk, decode, encode
from fairlead.fleet.protocol.subjects import check_token
from fairlead.server.access.roles import require
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["MoveRequests"]

Step = Callable[[MoveAsk], Awaitable[dict[str, Any]]]


class MoveRequests:
    """The handlers of one node."""

    def __init__(self, departures: Departures, arrivals: Arrivals, devices: KnownDevices) -> None:
        self._departures = departures
        self._arrivals = arrivals
        self._devices = devices
        self._steps: dict[str, Step] = {
            "preview": self._preview,
            "begin": self._begin,
            "status": self._status,
            "commit": self._commit,
            "release": self._release,
            "reopen": self._reopen,
            "arrived": self._arrived,
            "activate": self._activate,
            "discard": self._discard,
        }
        move = Parameter(name="move", where="path", about="The id of the move.")
        self.routes = (
            Route(
                method="GET", path="/fleet/moves/{move}", role="owner", handler=self._package,
                about="The package of a session that leaves.", parameters=(move,),
            ),
            Route(
                method="PUT", path="/fleet/moves/{move}", role="owner", handler=self._receive,
                about="The package of a session that arrives.", parameters=(move,),
            ),
        )  # fmt: skip

    async def answer(self, payload: bytes) -> bytes:
        """The answer to a question about a move."""
        ask = decode(payload, MoveAsk)
        step = self._steps.get(ask.step)
        if step is None:
            raise Refusal("unsupported_message", f"This machine does not know {ask.step!r:.40}.")
        _check(ask.move)
        return encode(Answer(), msgspec.json.encode(await step(ask)))

    async def _owner(self, ask: MoveAsk, what: str) -> Device:
        device = await self._devices.find(ask.device)
        require(device.role, "owner", what)
        return device

    async def _preview(self, ask: MoveAsk) -> dict[str, Any]:
        await self._owner(ask, "Moving a session")
        return await self._departures.preview(ask.session)

    async def _begin(self, ask: MoveAsk) -> dict[str, Any]:
        device = await self._owner(ask, "Moving a session")
        target = Target(node=ask.node, name=ask.name, link=ask.link)
        return await self._departures.begin(ask.move, ask.session, device, target, fork=ask.fork)

    async def _status(self, ask: MoveAsk) -> dict[str, Any]:
        return self._departures.status(ask.move)

    async def _commit(self, ask: MoveAsk) -> dict[str, Any]:
        await self._owner(ask, "Moving a session")
        return await self._departures.commit(ask.move, ask.session, ask.generation)

    async def _release(self, ask: MoveAsk) -> dict[str, Any]:
        return await self._departures.release(ask.move)

    async def _reopen(self, ask: MoveAsk) -> dict[str, Any]:
        return await self._departures.reopen(ask.move, ask.session)

    async def _arrived(self, ask: MoveAsk) -> dict[str, Any]:
        return self._arrivals.status(ask.move)

    async def _activate(self, ask: MoveAsk) -> dict[str, Any]:
        return await self._arrivals.activate(ask.move, ask.session, ask.generation)

    async def _discard(self, ask: MoveAsk) -> dict[str, Any]:
        return await self._arrivals.discard(ask.move)

    async def _package(self, request: Request) -> Response:
        move = _check(request.path_params["move"])
        return StreamingResponse(self._departures.package(move))

    async def _receive(self, request: Request) -> Response:
        move = _check(request.path_params["move"])
        device = await self._devices.find(request.state.device)
        folder = request.query_params.get("folder", "")
        return json_answer(await self._arrivals.receive(move, device, request.stream(), folder))


def _check(move: str) -> str:
    try:
        return check_token(move)
    except ValueError as problem:
        raise Refusal("bad_message", str(problem)) from None
