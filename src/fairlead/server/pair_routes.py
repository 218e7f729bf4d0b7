"""The routes by which a new device comes in: a code becomes a token, or a place at the door.

The only ones that need no token are here, and they say nothing to whoever has no good code.
Entries of the same table as all others (`routes`); `http` guards them. The rules are `doors`'.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.bodies import json_answer, read_body
from fairlead.server.callers import address_of, local_user_of
from fairlead.server.doors import AtTheDoor, Doors
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.routes import Parameter, Route

__all__ = ["PairRoutes"]

BODY_BYTES = 4_096
WAITS = 202
"""The status of an answer to somebody who waits at the door."""


class _Pairing(msgspec.Struct, forbid_unknown_fields=True):
    code: str = ""
    name: str = ""
    token: str = ""
    """Of somebody who waits at the door, in place of a code."""


class _Invitation(msgspec.Struct, forbid_unknown_fields=True):
    role: str = "approver"


class _Word(msgspec.Struct, forbid_unknown_fields=True):
    allow: bool


class PairRoutes:
    """The handlers."""

    def __init__(self, doors: Doors, limits: Limits) -> None:
        self._doors = doors
        self._limits = limits
        device = Parameter(name="device", where="path", about="The id under which it waits.")
        self.routes = (
            Route(
                method="POST", path="/api/pair", role=None, handler=self._pair,
                about="Turn a one-time code into a token, or ask whether one is let in.",
            ),
            Route(
                method="POST", path="/api/codes", role="owner", handler=self._invite,
                about="A one-time code for another device.",
            ),
            Route(
                method="GET", path="/api/joining", role="owner", handler=self._list,
                about="Devices that ask to join.",
            ),
            Route(
                method="POST", path="/api/joining/{device}", role="owner", handler=self._answer,
                about="Let a device in that asks to join, or turn it away.", parameters=(device,),
            ),
        )  # fmt: skip

    async def _pair(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                body = await read_body(request, BODY_BYTES)
        except TimeoutError:
            raise Refusal("not_authenticated", "the code did not come in time") from None
        asked = msgspec.json.decode(body, type=_Pairing)
        source = address_of(request)
        if asked.token:
            found = await self._doors.joined(asked.token, source)
        else:
            found = await self._doors.pair(
                asked.code, asked.name, source, lambda: local_user_of(request)
            )
        if found is None:
            said = (
                "nobody let this device in"
                if asked.token
                else "this code was used, is too old, or never was"
            )
            raise Refusal("not_authenticated", said)
        return json_answer(found, WAITS if isinstance(found, AtTheDoor) else 200)

    async def _invite(self, request: Request) -> Response:
        wanted = msgspec.json.decode(
            await read_body(request, BODY_BYTES) or b"{}", type=_Invitation
        )
        code = self._doors.invite(wanted.role)
        return json_answer({"code": code, "seconds": self._limits.code_s})

    async def _list(self, request: Request) -> Response:
        waiting = await self._doors.joining.waiting()
        rows = [
            {
                "id": one.device.id,
                "name": one.device.name,
                "role": one.device.role,
                "address": one.address,
                "number": one.number,
            }
            for one in waiting
        ]
        return json_answer({"joining": rows})

    async def _answer(self, request: Request) -> Response:
        word = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Word)
        device = request.path_params["device"]
        if not await self._doors.let_in(device, request.state.device, allow=word.allow):
            raise Refusal("not_found", "no such device waits at the door any more")
        return json_answer({"allowed": word.allow})
