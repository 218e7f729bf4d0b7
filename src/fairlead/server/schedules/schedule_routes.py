"""Routes for schedules: every device can read them, owners change them."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route
from fairlead.server.schedules.rules.schedule import Schedule
from fairlead.server.schedules.schedules import Schedules

__all__ = ["ScheduleRoutes"]

BODY_BYTES = 512 * 1_024


class _Removal(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class ScheduleRoutes:
    """The handlers."""

    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules
        self.routes = (
            Route(
                method="GET", path="/api/schedules", role="viewer", handler=self._read,
                about="All schedules, with the next run and the last result.",
            ),
            Route(
                method="POST", path="/api/schedules", role="owner", handler=self._put,
                about="Create a schedule, or change the one with this id.",
            ),
            Route(
                method="POST", path="/api/schedules/remove", role="owner", handler=self._remove,
                about="Delete a schedule.",
            ),
        )  # fmt: skip

    async def _answer(self) -> Response:
        return json_answer({"schedules": await self._schedules.states()})

    async def _read(self, request: Request) -> Response:
        return await self._answer()

    async def _put(self, request: Request) -> Response:
        schedule = msgspec.json.decode(await read_body(request, BODY_BYTES), type=Schedule)
        await self._schedules.put(schedule)
        return await self._answer()

    async def _remove(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Removal)
        await self._schedules.remove(wanted.id)
        return await self._answer()
