"""The HTTP routes of a gateway about moves: preview, begin, progress, cancel."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.fleet.gateway.moving.moves import Moves
from fairlead.fleet.protocol.subjects import check_token
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.refusal import Refusal

__all__ = ["MoveRoutes"]

BODY_BYTES = 16 * 1024

KINDS = ("move", "fork", "adopt")


class _Begin(msgspec.Struct, forbid_unknown_fields=True):
    node: str
    """The id of the machine that gets the session."""
    kind: str = "move"
    folder: str = ""
    """An existing folder there: for a move the parent of the new repository, else the session's own."""
    id: str = ""
    """Chosen by the client, so that a repeated request begins one move."""


class MoveRoutes:
    """The handlers."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        session = Parameter(name="session", where="path", about="The id of the session.")
        move = Parameter(name="move", where="path", about="The id of the move.")
        self.routes = (
            Route(
                method="GET", path="/api/sessions/{session}/move", role="owner",
                handler=self._preview, parameters=(session,),
                about="What would travel to another machine with a session, and what would not.",
            ),
            Route(
                method="POST", path="/api/sessions/{session}/move", role="owner",
                handler=self._begin, parameters=(session,),
                about="Move a session to another machine, fork it there, or adopt it.",
            ),
            Route(
                method="GET", path="/api/moves/{move}", role="owner", handler=self._look,
                parameters=(move,), about="How far a move is.",
            ),
            Route(
                method="DELETE", path="/api/moves/{move}", role="owner", handler=self._cancel,
                parameters=(move,), about="Cancel a move; the session stays where it is.",
            ),
        )  # fmt: skip

    async def _preview(self, request: Request) -> Response:
        name = request.path_params["session"]
        return json_answer(await self._moves.preview(request.state.device, name))

    async def _begin(self, request: Request) -> Response:
        begin = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Begin)
        if begin.kind not in KINDS:
            raise Refusal(
                "bad_message", f"Unknown kind {begin.kind!r:.40}. Send {', '.join(KINDS)}."
            )
        if begin.id:
            try:
                check_token(begin.id)
            except ValueError as problem:
                raise Refusal("bad_message", str(problem)) from None
        move = self._moves.begin(
            request.state.device,
            request.path_params["session"],
            begin.node,
            kind=begin.kind,
            folder=begin.folder,
            move=begin.id,
        )
        return json_answer(move)

    async def _look(self, request: Request) -> Response:
        return json_answer(self._moves.find(request.path_params["move"]))

    async def _cancel(self, request: Request) -> Response:
        return json_answer(await self._moves.cancel(request.path_params["move"]))
