"""The routes by which machines join a fleet, and owners let them in."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.errors import UsageError
from fairlead.fleet.enrollment.enrolling import INVITATION_S, Enrollment
from fairlead.server.access.requests.peer import address_of
from fairlead.server.access.throttle import Throttle
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.ticks import ticks

__all__ = ["EnrollmentRoutes"]

BODY_BYTES = 4_096
PENDING = 202


class _Join(msgspec.Struct, forbid_unknown_fields=True):
    code: str = ""
    public: str = ""
    name: str = ""
    signer: str = ""
    """Of a gateway: the public half of the key with which it will sign the list of machines."""
    ticket: str = ""
    """The ticket of a machine that waits, instead of a code."""


class _Confirmation(msgspec.Struct, forbid_unknown_fields=True):
    allow: bool


class EnrollmentRoutes:
    """The handlers."""

    def __init__(self, enrollment: Enrollment, limits: Limits) -> None:
        self._enrollment = enrollment
        self._throttle = Throttle(limits)
        node = Parameter(name="node", where="path", about="The id of the machine.")
        self.routes = (
            Route(
                method="POST", path="/api/fleet/join", role=None, handler=self._join,
                about="Ask to join with a one-time code, or ask for the answer with a ticket.",
            ),
            Route(
                method="POST", path="/api/fleet/invitations", role="owner", handler=self._invite,
                about="Create a one-time code for a machine.",
            ),
            Route(
                method="GET", path="/api/fleet/joining", role="owner", handler=self._list,
                about="Machines that wait for confirmation.",
            ),
            Route(
                method="POST", path="/api/fleet/joining/{node}", role="owner",
                handler=self._answer, parameters=(node,),
                about="Confirm or reject a machine that waits.",
            ),
            Route(
                method="DELETE", path="/api/fleet/nodes/{node}", role="owner",
                handler=self._remove, parameters=(node,),
                about="Remove a machine from the fleet; it is cut off at once.",
            ),
        )  # fmt: skip

    async def _join(self, request: Request) -> Response:
        source = address_of(request)
        if self._throttle.too_many(source, ticks()):
            raise Refusal("too_many", "Too many failed attempts. Wait a minute.")
        join = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Join)
        try:
            if join.ticket:
                admission = await self._enrollment.admission(join.ticket)
                return json_answer(admission, PENDING if admission.state == "waiting" else 200)
            waiting, ticket = await self._enrollment.ask(
                join.code, join.public, join.name, source, join.signer
            )
        except Refusal as refusal:
            if refusal.code == "not_authenticated":
                self._throttle.failed(source, ticks())
            raise
        return json_answer({"node": waiting.id, "ticket": ticket}, PENDING)

    async def _invite(self, request: Request) -> Response:
        return json_answer({"code": await self._enrollment.invite(), "seconds": INVITATION_S})

    async def _list(self, request: Request) -> Response:
        rows = [
            {"id": each.id, "name": each.name, "address": each.address, "number": each.number}
            for each in await self._enrollment.waiting()
        ]
        return json_answer({"joining": rows})

    async def _answer(self, request: Request) -> Response:
        answer = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Confirmation)
        await self._enrollment.answer(
            request.path_params["node"], request.state.device, allow=answer.allow
        )
        return json_answer({"allowed": answer.allow})

    async def _remove(self, request: Request) -> Response:
        try:
            node = await self._enrollment.remove(request.path_params["node"], request.state.device)
        except UsageError as problem:
            raise Refusal("not_found", str(problem)) from None
        return json_answer({"removed": node.id})
