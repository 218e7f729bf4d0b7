"""Routes about devices: their names, their revocation, and the addresses for a phone.

They are entries of the same table as all others (`routes`), with their least roles; `guard` checks
them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.devices.reach import Reach
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.refusal import Refusal

__all__ = ["DeviceRoutes"]

NAME_BYTES = 1_024


class DeviceRoutes:
    """The handlers."""

    def __init__(
        self,
        *,
        devices: DeviceRegistry,
        renamed: Callable[[str, str], None],
        revoke: Callable[[str], Awaitable[dict[str, Any]]],
        reach: Reach,
    ) -> None:
        """`renamed` shows a device under another name; `revoke` revokes and disconnects one."""
        self._devices = devices
        self._renamed = renamed
        self._revoke_device = revoke
        self._reach = reach
        device = Parameter(name="device", where="path", about="The device's id.")
        self.routes = (
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

    async def _read_reach(self, request: Request) -> Response:
        return json_answer(self._reach)

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
        self._renamed(device, name)
        return json_answer({"name": name})

    async def _revoke(self, request: Request) -> Response:
        """Works when no socket does: at the limit of sockets, or when the store cannot write."""
        return json_answer(await self._revoke_device(request.path_params["device"]))
