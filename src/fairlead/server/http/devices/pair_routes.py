"""The routes by which a new device pairs: its code becomes a token, or it waits for confirmation.

Only these routes need no token; without a valid code they reveal nothing. They are entries of the
same table as all others (`routes`); `api` guards them. The rules are in `access.devices`.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.devices import DeviceRegistry, PendingPairing
from fairlead.server.access.requests.peer import address_of, local_user_of
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal

__all__ = ["PairRoutes"]

BODY_BYTES = 4_096
PENDING = 202
"""The status of a response to a device that waits for confirmation."""


class _Pairing(msgspec.Struct, forbid_unknown_fields=True):
    code: str = ""
    name: str = ""
    token: str = ""
    """The token of a device that waits for confirmation, instead of a code."""
    keyed: bool = False
    """Asks for a key instead of a token, as the web app does."""


class _Invitation(msgspec.Struct, forbid_unknown_fields=True):
    role: str = "approver"


class _Confirmation(msgspec.Struct, forbid_unknown_fields=True):
    allow: bool


class PairRoutes:
    """The handlers."""

    def __init__(self, devices: DeviceRegistry, limits: Limits) -> None:
        self._devices = devices
        self._limits = limits
        device = Parameter(name="device", where="path", about="The id of the pending device.")
        self.routes = (
            Route(
                method="POST", path="/api/pair", role=None, handler=self._pair,
                about="Exchange a one-time code for a token, or check for confirmation.",
            ),
            Route(
                method="POST", path="/api/codes", role="owner", handler=self._invite,
                about="Create a one-time code for another device.",
            ),
            Route(
                method="GET", path="/api/joining", role="owner", handler=self._list,
                about="Devices that wait for confirmation.",
            ),
            Route(
                method="POST", path="/api/joining/{device}", role="owner", handler=self._answer,
                about="Confirm or reject a device that waits.", parameters=(device,),
            ),
        )  # fmt: skip

    async def _pair(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                body = await read_body(request, BODY_BYTES)
        except TimeoutError:
            raise Refusal(
                "not_authenticated",
                "The request was too slow: the code did not arrive in time. Try again.",
            ) from None
        pairing = msgspec.json.decode(body, type=_Pairing)
        source = address_of(request)
        if pairing.token:
            outcome = await self._devices.joined(pairing.token, source, keyed=pairing.keyed)
        else:
            outcome = await self._devices.pair(
                pairing.code,
                pairing.name,
                source,
                lambda: local_user_of(request),
                keyed=pairing.keyed,
            )
        if outcome is None:
            message = (
                "This device was not confirmed. Pair it again."
                if pairing.token
                else "This link is invalid, was already used, or has expired. Get a new one."
            )
            raise Refusal("not_authenticated", message)
        return json_answer(outcome, PENDING if isinstance(outcome, PendingPairing) else 200)

    async def _invite(self, request: Request) -> Response:
        wanted = msgspec.json.decode(
            await read_body(request, BODY_BYTES) or b"{}", type=_Invitation
        )
        code = await self._devices.share_invitation(wanted.role)
        return json_answer({"code": code, "seconds": self._limits.code_s})

    async def _list(self, request: Request) -> Response:
        joiners = await self._devices.joining.waiting()
        rows = [
            {
                "id": joiner.device.id,
                "name": joiner.device.name,
                "role": joiner.device.role,
                "address": joiner.address,
                "number": joiner.number,
            }
            for joiner in joiners
        ]
        return json_answer({"joining": rows})

    async def _answer(self, request: Request) -> Response:
        answer = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Confirmation)
        device = request.path_params["device"]
        if not await self._devices.confirm(device, request.state.device, allow=answer.allow):
            raise Refusal("not_found", "This request to join has expired.")
        return json_answer({"allowed": answer.allow})
