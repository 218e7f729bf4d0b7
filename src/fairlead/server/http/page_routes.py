"""Routes for the app's own pages: usage, the raw log, devices, and the addresses for a phone.

They are entries of the same table as all others (`routes`), with their least roles; `api` guards
them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.raw_log import EventReader, LogQuery, read_log
from fairlead.server.http.reach import Reach
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.http.usage import Usage
from fairlead.server.refusal import Refusal

__all__ = ["Names", "PageRoutes"]

NAME_BYTES = 1_024


class Names(Protocol):
    """Looks up sessions and shows the names of devices."""

    def has_session(self, session: str) -> bool:
        """Whether this is a session of the server, with a log in the store."""

    def renamed(self, device: str, name: str) -> None:
        """Show a device under another name."""

    async def drafts(self, session: str, reader: str) -> list[dict[str, Any]]:
        """Drafts of a session from other devices that may send prompts."""


class PageRoutes:
    """The handlers."""

    def __init__(
        self,
        *,
        names: Names,
        devices: DeviceRegistry,
        revoke: Callable[[str], Awaitable[dict[str, Any]]],
        log: EventReader,
        usage: Usage,
        reach: Callable[[], Reach],
    ) -> None:
        self._names = names
        self._devices = devices
        self._revoke_device = revoke
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
                about="Usage between timestamps, by project and model.",
                parameters=(_parameter("bounds", "Comma-separated Unix timestamps, ascending."),),
            ),
            Route(
                method="GET", path="/api/sessions/{session}/log", role="operator",
                about="The stored lines of a session.", handler=self._read_lines,
                parameters=(session, *_LOG_PARAMETERS),
            ),
            Route(
                method="GET", path="/api/sessions/{session}/drafts", role="operator",
                about="Drafts of a session from other devices.", handler=self._drafts,
                parameters=(session,),
            ),
            Route(
                method="GET", path="/api/reach", role="viewer", handler=self._read_reach,
                about="Addresses at which another device reaches this server.",
            ),
            Route(
                method="POST", path="/api/devices/{device}/name", role="owner",
                about="Rename a device.", handler=self._rename, parameters=(device,),
            ),
            Route(
                method="POST", path="/api/devices/{device}/revoke", role="owner",
                about="Revoke a device.", handler=self._revoke, parameters=(device,),
            ),
        )  # fmt: skip

    async def _read_usage(self, request: Request) -> Response:
        try:
            bounds = [float(bound) for bound in request.query_params.get("bounds", "").split(",")]
        except ValueError:
            raise Refusal(
                "bad_message", "The bounds must be comma-separated Unix timestamps."
            ) from None
        return json_answer(await self._usage.report(bounds))

    async def _read_lines(self, request: Request) -> Response:
        session = request.path_params["session"]
        if not self._names.has_session(session):
            raise Refusal(
                "not_found",
                "The server has no log of this session: the CLI keeps its own sessions in files.",
            )
        return json_answer(await read_log(self._log, session, _log_query(request.query_params)))

    async def _drafts(self, request: Request) -> Response:
        session = request.path_params["session"]
        if not self._names.has_session(session):
            raise Refusal("not_found", "Session not found.")
        return json_answer({"drafts": await self._names.drafts(session, request.state.device)})

    async def _read_reach(self, request: Request) -> Response:
        return json_answer(self._reach())

    async def _rename(self, request: Request) -> Response:
        class Wanted(msgspec.Struct, forbid_unknown_fields=True):
            name: str

        wanted = msgspec.json.decode(await read_body(request, NAME_BYTES), type=Wanted)
        if not wanted.name.strip():
            raise Refusal("bad_message", "The name of a device cannot be empty.")
        device = request.path_params["device"]
        name = await self._devices.rename(device, wanted.name)
        if name is None:
            raise Refusal("not_found", "Device not found.")
        self._names.renamed(device, name)
        return json_answer({"name": name})

    async def _revoke(self, request: Request) -> Response:
        """Works when no socket does: at the limit of sockets, or when the store cannot write."""
        return json_answer(await self._revoke_device(request.path_params["device"]))


def _parameter(name: str, about: str, *, where: str = "query", needed: bool = True) -> Parameter:
    return Parameter(name=name, where=where, about=about, needed=needed)


_LOG_PARAMETERS = tuple(
    _parameter(name, about, needed=False)
    for name, about in (
        ("after", "Lines after this number, in order."),
        ("before", "The last lines before this number; without either, the last lines."),
        ("limit", "Most lines to return."),
        ("directions", "Comma-separated: out, in, fact."),
        ("kinds", "Comma-separated kinds of lines, such as assistant or system/init."),
        ("text", "Text that a line must contain."),
        ("whole", "1 returns long lines in full."),
    )
)


def _log_query(parameters: QueryParams) -> LogQuery:
    plain: dict[str, Any] = {
        name: parameters[name]
        for name in ("after", "before", "limit", "text", "whole")
        if name in parameters
    }
    lists = {
        name: [value for value in parameters.get(name, "").split(",") if value]
        for name in ("directions", "kinds")
    }
    try:
        return msgspec.convert({**plain, **lists}, LogQuery, strict=False)
    except msgspec.ValidationError as problem:
        raise Refusal("bad_message", f"The query cannot be read: {problem}.") from None
