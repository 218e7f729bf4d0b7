"""The protocols of every connection, with the impatience that uvicorn's own do not have.

A connection that does not send a whole request head in time is closed, and of those that are
still at it only so many are kept: the oldest makes room for the newest, so that a crowd of idle
ones locks nobody out who knows what to say (abuse case T-30). A message in very many fragments
is cut off (T-31). What is said is the business of `doorway` and of everything behind it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from fairlead.server.limits import Limits

__all__ = ["impatient", "impatient_websocket"]

TOO_LARGE = 1009


def impatient(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol for uvicorn that keeps to these limits; all its connections are one crowd."""
    crowd: dict[_Impatient, None] = {}

    class Impatient(_Impatient):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.limits = limits
            self.crowd = crowd

    return Impatient


class _Impatient(H11Protocol):
    limits: Limits
    crowd: dict[_Impatient, None]
    """Connections without a whole request, the oldest first."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_to_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer is None and self._between_requests() and not self.transport.is_closing():
            self._begin_to_wait()

    def handle_events(self) -> None:
        super().handle_events()
        if not self._between_requests():
            self._wait_no_more()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_no_more()
        super().handle_websocket_upgrade(event)

    def _between_requests(self) -> bool:
        upgraded = self.transport.get_protocol() is not self
        return not upgraded and (self.cycle is None or self.cycle.response_complete)

    def _begin_to_wait(self) -> None:
        while len(self.crowd) >= self.limits.unauthenticated_sockets:
            next(iter(self.crowd))._give_up()
        self.crowd[self] = None
        self._timer = self.loop.call_later(self.limits.hello_s, self._give_up)

    def _wait_no_more(self) -> None:
        self.crowd.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._wait_no_more()
        self.transport.abort()


def impatient_websocket(limits: Limits) -> type[asyncio.Protocol]:
    """A WebSocket for uvicorn that takes a message in so many pieces and no more."""

    class Impatient(WebSocketsSansIOProtocol):
        async def run_asgi(self) -> None:
            await super().run_asgi()
            # Closing waits until all is written, which somebody who does not read can prevent.
            self.loop.call_later(limits.hello_s, self.transport.abort)

        def handle_cont(self, event: Frame) -> None:
            if self.close_sent:
                return
            if len(self.frames) >= limits.fragments:
                self.conn.fail(TOO_LARGE, "too many fragments")
                self.handle_parser_exception()
                return
            super().handle_cont(event)

    return Impatient
