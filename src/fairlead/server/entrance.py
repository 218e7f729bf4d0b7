"""The way in for a socket: a bounded number of strangers, a bounded time to say who one is.

Nothing is answered before a good token came in `hello` (rule R2). Who says nothing goes before
who may be about to: a crowd of silent sockets keeps nobody out (T-30).
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from fairlead.server.frames import receive, say_goodbye
from fairlead.server.limits import Limits
from fairlead.server.messages import PROTOCOL, Bye, FromClient, Hello
from fairlead.store.devices import Device

__all__ = ["TOO_MANY", "UNAUTHENTICATED", "Doorkeeper", "Entrance"]

UNAUTHENTICATED, PROTOCOL_MISMATCH, TOO_MANY = 4401, 4426, 4429

Entered = tuple[Device, Hello]

_decode = msgspec.json.Decoder(FromClient)


class Doorkeeper(Protocol):
    """Who a token belongs to."""

    async def device_of(self, token: str, source: str) -> Device | None:
        """The device with this token, unless it is unknown, revoked or too long idle."""


class _Refused(Exception):
    """A socket may not come in."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class Entrance:
    """Where sockets wait until they have said who they are."""

    def __init__(self, doorkeeper: Doorkeeper, limits: Limits) -> None:
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._strangers: dict[asyncio.Task[Entered | None], None] = {}
        """Sockets that have not said who they are, the oldest first."""

    @property
    def strangers(self) -> int:
        """How many sockets have not said yet who they are."""
        return len(self._strangers)

    async def let_in(self, websocket: WebSocket) -> Entered | None:
        """Whose socket this is, and what it wants first; None if it was sent away."""
        entering = asyncio.create_task(self._enter(websocket))
        self._make_room_for(entering)
        try:
            await asyncio.wait([entering])
        finally:
            self._strangers.pop(entering, None)
            entering.cancel()
        if entering.cancelled():
            await say_goodbye(websocket, Bye(reason="too many sockets", again=True), TOO_MANY)
            return None
        return entering.result()

    def _make_room_for(self, newest: asyncio.Task[Entered | None]) -> None:
        while len(self._strangers) >= self._limits.unauthenticated_sockets:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
        self._strangers[newest] = None

    async def _enter(self, websocket: WebSocket) -> Entered | None:
        try:
            hello = await self._first_message(websocket)
            source = websocket.client.host if websocket.client else ""
            device = await self._doorkeeper.device_of(hello.token, source)
            if device is None:
                raise _Refused("this token is not good", UNAUTHENTICATED)
            if hello.protocol != PROTOCOL:
                said = f"this server speaks protocol {PROTOCOL}; reload the page"
                raise _Refused(said, PROTOCOL_MISMATCH)
        except WebSocketDisconnect:
            return None
        except _Refused as refusal:
            await say_goodbye(websocket, Bye(reason=refusal.reason, again=False), refusal.code)
            return None
        return device, hello

    async def _first_message(self, websocket: WebSocket) -> Hello:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                hello = _decode.decode(await receive(websocket))
        except TimeoutError:
            raise _Refused("no hello came in time", UNAUTHENTICATED) from None
        except (msgspec.DecodeError, RecursionError):
            raise _Refused("the first message is hello", UNAUTHENTICATED) from None
        if not isinstance(hello, Hello):
            raise _Refused("the first message is hello", UNAUTHENTICATED)
        return hello
