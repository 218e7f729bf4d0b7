"""The protocols of every connection, with timeouts that uvicorn's own do not have.

A connection that does not send a whole request head in time is closed (abuse case T-30), and so is
one that reads its response too slowly (T-46). The number of connections without a valid token is
limited, whatever they do (`unauthenticated`), so that file handles are left for authenticated
clients. A message in very many fragments is refused (T-31). The content of requests is checked by
`access.middleware` and the layers behind it.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any, cast

import h11
from websockets.frames import Frame

from fairlead.server.access.requests.peer import KNOWN
from fairlead.server.access.throttle import peer_key
from fairlead.server.limits import Limits
from fairlead.server.sockets.counting_transport import CountingTransport
from fairlead.server.sockets.unauthenticated import UnauthenticatedConnections
from fairlead.server.sockets.uvicorn_parts import H11Protocol
from fairlead.server.sockets.websocket_limits import LimitedWebSocket

__all__ = ["limited_http_protocol", "limited_websocket_protocol", "unauthenticated_limit"]

TOO_LARGE = 1009


def limited_http_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A protocol for uvicorn with these limits, which all its connections share."""
    unauthenticated: UnauthenticatedConnections[_LimitedHttp] = UnauthenticatedConnections(
        unauthenticated_limit(limits)
    )

    class LimitedH11Protocol(_LimitedHttp):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.limits = limits
            self.unauthenticated = unauthenticated

    return LimitedH11Protocol


def unauthenticated_limit(limits: Limits) -> int:
    """Most connections without a valid token: at most a quarter of the file handles."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return limits.unauthenticated_connections
    return max(8, min(limits.unauthenticated_connections, files // 4))


class _LimitedHttp(H11Protocol):
    limits: Limits
    unauthenticated: UnauthenticatedConnections[_LimitedHttp]
    _counted: CountingTransport
    _head: asyncio.TimerHandle | None = None
    """Runs while the server waits for a request."""
    _unauthenticated_timer: asyncio.TimerHandle | None = None
    """Runs until a valid token arrives."""
    _progress: asyncio.TimerHandle | None = None
    """Runs while a response is written."""
    _accepted = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._counted = CountingTransport(transport)
        super().connection_made(cast(asyncio.Transport, self._counted))
        address = peer_key(self.client[0]) if self.client else ""
        victim = self.unauthenticated.add(self, address)
        if victim is not None:
            victim._abort()
        self._unauthenticated_timer = self.loop.call_later(
            self.limits.unauthenticated_s, self._abort
        )
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is None and self._between_requests() and not self.transport.is_closing():
            self._await_request()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and self.cycle is not None:
            # The application starts in the next iteration of the loop, so it finds this.
            cast(dict[str, Any], self.cycle.scope)[KNOWN] = self._authenticated
        if not self._upgraded and not self._between_requests():
            self.unauthenticated.requested(self)
            self._cancel("_head")
            self._watch_progress()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # Sockets that are not authenticated have their own limit (`handshake`).
        self._end_timers()
        self.transport = self._counted.inner
        super().handle_websocket_upgrade(event)

    @property
    def _upgraded(self) -> bool:
        """Whether the connection is a WebSocket now: then this object has nothing more to do, and a
        timer would keep it forever, because another one is notified of the end."""
        return self.transport.get_protocol() is not self

    def _between_requests(self) -> bool:
        return not self._upgraded and (self.cycle is None or self.cycle.response_complete)

    def _await_request(self) -> None:
        self._head = self.loop.call_later(self.limits.hello_s, self._abort)

    def _authenticated(self) -> None:
        """A valid token arrived: the connection no longer counts as unauthenticated."""
        self.unauthenticated.remove(self)
        self._cancel("_unauthenticated_timer")

    def _watch_progress(self) -> None:
        if self._progress is None:
            self._accepted = self._counted.accepted
            self._progress = self.loop.call_later(self.limits.progress_s, self._check_progress)

    def _check_progress(self) -> None:
        """Abort a connection that reads its response too slowly."""
        self._progress = None
        unsent = self._counted.get_write_buffer_size()
        wanted = self.limits.answer_bytes_per_s * self.limits.progress_s
        if unsent and self._counted.accepted - self._accepted < wanted:
            self._abort()
        elif unsent or not self._between_requests():
            self._watch_progress()

    def _end_timers(self) -> None:
        self.unauthenticated.remove(self)
        for name in ("_head", "_unauthenticated_timer", "_progress"):
            self._cancel(name)

    def _cancel(self, name: str) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, name)
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)

    def _abort(self) -> None:
        self._end_timers()
        self.transport.abort()


def limited_websocket_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A WebSocket protocol for uvicorn with a limit on the fragments of a message."""

    class LimitedWebSocketProtocol(LimitedWebSocket):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            self.limits = limits
            super().__init__(*arguments, **more)

        async def run_asgi(self) -> None:
            await super().run_asgi()
            # Closing waits until everything is written, which a client can prevent by not reading.
            self.loop.call_later(limits.hello_s, self.transport.abort)

        def handle_cont(self, event: Frame) -> None:
            if self.close_sent:
                return
            if len(self.frames) >= limits.fragments:
                self.conn.fail(TOO_LARGE, "too many fragments")
                self.handle_parser_exception()
                return
            super().handle_cont(event)

    return LimitedWebSocketProtocol
