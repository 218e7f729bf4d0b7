"""The routes behind the app's own pages: usage, the raw log, devices, and where a phone gets in.

Entries of the same table as all others (`routes`), with their least roles; `http` guards them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.bodies import json_answer, read_body
from fairlead.server.doors import Doors
from fairlead.server.raw_log import Asked, EventReader, read_log
from fairlead.server.reach import Reach
from fairlead.server.refusal import Refusal
from fairlead.server.routes import Parameter, Route
from fairlead.server.usage import Usage

__all__ = ["Names", "PageRoutes"]

NAME_BYTES = 1_024


class Names(Protocol):
    """Who shows what sessions and devices there are."""

    def has_session(self, session: str) -> bool:
        """Whether the server has a session, with a log of its own."""

    def renamed(self, device: str, name: str) -> None:
        """Show a device under another name."""


class PageRoutes:
    """The handlers."""

    def __init__(
        self,
        *,
        names: Names,
        doors: Doors,
        log: EventReader,
        usage: Usage,
        reach: Callable[[], Reach],
    ) -> None:
        self._names = names
        self._doors = doors
        self._log = log
        self._usage = usage
        self._reach = reach
        self.routes = self._table()

    def _table(self) -> tuple[Route, ...]:
        session = _parameter("session", "The session's id.", where="path")
        device = _parameter("device", "The device's id.", where="path")
        return (
            Route(
                method="GET", path="/api/usage", role="viewer", handler=self._read_usage,
                about="What was spent between moments, by project and model.",
                parameters=(_parameter("bounds", "Moments in order, as seconds, by commas."),),
            ),
            Route(
                method="GET", path="/api/sessions/{session}/log", role="operator",
                about="The stored lines of a session.", handler=self._read_lines,
                parameters=(session, *_LOG_PARAMETERS),
            ),
            Route(
                method="GET", path="/api/reach", role="viewer", handler=self._tell_reach,
                about="Where another device finds this server.",
            ),
            Route(
                method="POST", path="/api/devices/{device}/name", role="owner",
                about="Give a device a name.", handler=self._rename, parameters=(device,),
            ),
        )  # fmt: skip

    async def _read_usage(self, request: Request) -> Response:
        try:
            bounds = [float(one) for one in request.query_params.get("bounds", "").split(",")]
        except ValueError:
            raise Refusal("bad_message", "bounds are seconds since 1970, by commas") from None
        return json_answer(await self._usage.report(bounds))

    async def _read_lines(self, request: Request) -> Response:
        session = request.path_params["session"]
        if not self._names.has_session(session):
            raise Refusal(
                "not_found",
                "this server keeps no log of that session; the CLI's own sessions are in its files",
            )
        return json_answer(await read_log(self._log, session, _asked(request.query_params)))

    async def _tell_reach(self, request: Request) -> Response:
        return json_answer(self._reach())

    async def _rename(self, request: Request) -> Response:
        class Wanted(msgspec.Struct, forbid_unknown_fields=True):
            name: str

        wanted = msgspec.json.decode(await read_body(request, NAME_BYTES), type=Wanted)
        if not wanted.name.strip():
            raise Refusal("bad_message", "a device needs a name")
        device = request.path_params["device"]
        name = await self._doors.rename(device, wanted.name)
        if name is None:
            raise Refusal("not_found", "there is no such device")
        self._names.renamed(device, name)
        return json_answer({"name": name})


def _parameter(name: str, about: str, *, where: str = "query", needed: bool = True) -> Parameter:
    return Parameter(name=name, where=where, about=about, needed=needed)


_LOG_PARAMETERS = tuple(
    _parameter(name, about, needed=False)
    for name, about in (
        ("after", "Lines after this number, in order."),
        ("before", "The last lines before this number; without either, the last ones."),
        ("limit", "How many lines at most."),
        ("directions", "out, in, fact; by commas."),
        ("kinds", "Kinds of lines such as assistant or system/init; by commas."),
        ("text", "What a line must contain."),
        ("whole", "1 sends long lines whole."),
    )
)


def _asked(given: QueryParams) -> Asked:
    plain: dict[str, Any] = {
        name: given[name] for name in ("after", "before", "limit", "text", "whole") if name in given
    }
    lists = {
        name: [one for one in given.get(name, "").split(",") if one]
        for name in ("directions", "kinds")
    }
    try:
        return msgspec.convert({**plain, **lists}, Asked, strict=False)
    except msgspec.ValidationError as problem:
        raise Refusal("bad_message", f"this cannot be read: {problem}") from None
