"""The route that tells `fairlead doctor` how a request arrived here through a proxy (B130)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.probe import PROBE_PATH, Probe, ProbeAnswer, is_genuine, prove
from fairlead.server.access.requests.peer import PEER, address_of
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal

__all__ = ["ProbeRoutes"]

BODY_BYTES = 1_024


class ProbeRoutes:
    """The handler."""

    def __init__(
        self, keys: DeviceKeys, limits: Limits, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._limits = limits
        self._clock = clock
        self.routes = (
            Route(
                method="POST",
                path=PROBE_PATH,
                role=None,
                about="How this request arrived, for `fairlead doctor`; needs a signed ticket.",
                handler=self._answer,
            ),
        )

    async def _answer(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                body = await read_body(request, BODY_BYTES)
        except TimeoutError:
            raise Refusal("not_authenticated", "The request was too slow. Try again.") from None
        probe = msgspec.json.decode(body, type=Probe)
        if not is_genuine(self._keys, probe, self._clock()):
            raise Refusal("not_authenticated", "This ticket was not issued by this server.")
        address = address_of(request)
        peer = request.scope.get(PEER)
        sent = "x-forwarded-for" in request.headers
        return json_answer(
            ProbeAnswer(
                proof=prove(self._keys, probe.nonce),
                address=address,
                peer=str(peer[0]) if peer is not None else address,
                forwarded="trusted" if peer is not None else "ignored" if sent else "none",
            )
        )
