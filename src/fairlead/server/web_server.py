"""A web server: where it listens, and uvicorn with the limits of the server around an application.

`service` and the gateway of a fleet assemble what it serves.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any

from starlette.types import ASGIApp

from fairlead.errors import OptionError
from fairlead.server.access.access_tokens import AccessTokens
from fairlead.server.access.requests.proxies import TrustedProxies
from fairlead.server.access.requests.public_url import PublicUrl
from fairlead.server.access.requests.request_checks import allowed_authorities
from fairlead.server.app import GuardedRoutes, SocketHandler, build
from fairlead.server.http.devices.reach import Reach, reach_of
from fairlead.server.http.static import StaticFiles
from fairlead.server.limits import Limits
from fairlead.server.listeners import LOOPBACK, listen
from fairlead.server.sockets.sockets import Sockets
from fairlead.server.sockets.uvicorn_limits import limited_http_protocol, limited_websocket_protocol
from fairlead.server.sockets.uvicorn_parts import Config, Server

__all__ = ["Address", "WebServer", "application", "base_url_of", "bind", "server_of"]

ACCEPTED_AT_ONCE = 32
"""How often asyncio accepts in a row before it reads. When there are no file handles left, it logs
as often, so a higher number would make an overload worse (F-48)."""

QUEUE = 512
"""Connections that wait in the system's queue to be accepted."""

ACCEPT_WARNING_EVERY_S = 10.0

log = logging.getLogger("fairlead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens, and the names that it accepts."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 selects a free port."""
    names: tuple[str, ...] = ()
    """Additional names that clients may use for it."""
    certificate: Path | None = None
    key: Path | None = None
    plain_http: bool = False
    """The operator accepts that everyone on the network can read everything."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks whose forwarded headers are trusted."""
    public_url: str | None = None
    """Where clients connect, if that is a proxy's address: `https://name[:port][/path]`."""

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and self.certificate is None and not self.plain_http:
            raise OptionError(
                "host",
                f"{self.host} can be reached from other machines, and without TLS anyone on the "
                "network path can read and take over your sessions.",
                "Give --certificate and --key, or --i-understand-plain-http.",
            )
        TrustedProxies(self.trusted_proxies)
        if self.public_url is not None:
            PublicUrl.parse(self.public_url)

    @property
    def secure(self) -> bool:
        """Whether it uses TLS."""
        return self.certificate is not None

    def reach(self, port: int) -> Reach:
        """The addresses at which other devices reach it."""
        public = PublicUrl.parse(self.public_url).base if self.public_url is not None else None
        return reach_of(self.host, port, self.names, secure=self.secure, public=public)


@dataclass(slots=True, kw_only=True)
class WebServer:
    """An assembled server that listens."""

    address: Address
    port: int
    sockets: Sockets
    _server: Server
    _listeners: list[socket]
    _stopping: asyncio.Task[None] | None = None

    @property
    def started(self) -> bool:
        """Whether it accepts connections."""
        return bool(self._server.started)

    @property
    def base_url(self) -> str:
        """The address for a browser, under a name that the server accepts."""
        return base_url_of(self.address, self.port)

    async def run(self) -> None:
        """Serve until `stop`."""
        asyncio.get_running_loop().set_exception_handler(_LoopErrors())
        await self._server.serve(sockets=self._listeners)

    def stop(self) -> None:
        """Stop cleanly; a second call stops at once."""
        if self._stopping is not None:
            self._server.should_exit = self._server.force_exit = True
            return
        self._stopping = asyncio.get_running_loop().create_task(self._stop_sockets())

    async def _stop_sockets(self) -> None:
        """Close the sockets before uvicorn does, which clients would treat as a network failure."""
        await self.sockets.stop()
        self._server.should_exit = True


def bind(address: Address) -> tuple[list[socket], int]:
    """The sockets that listen, and their port."""
    listeners = listen(address.host, address.port, QUEUE)
    return listeners, int(listeners[0].getsockname()[1])


def application(
    address: Address,
    port: int,
    limits: Limits,
    *,
    api: GuardedRoutes,
    sockets: Sockets,
    bridge: SocketHandler,
    access: AccessTokens,
) -> ASGIApp:
    """The application behind the checks of every request."""
    public = PublicUrl.parse(address.public_url) if address.public_url is not None else None
    return build(
        api=api,
        sockets=sockets,
        bridge=bridge,
        static=StaticFiles(),
        authorities=allowed_authorities(address.host, port, address.names)
        | ({public.authority} if public is not None else set()),
        limits=limits,
        proxies=TrustedProxies(address.trusted_proxies),
        public=public,
        access=access,
    )


def base_url_of(address: Address, port: int) -> str:
    """The address for a browser, under a name that the server accepts."""
    if address.public_url is not None:
        return PublicUrl.parse(address.public_url).base
    host = address.host
    if host in ("0.0.0.0", "::"):
        host = address.names[0] if address.names else "127.0.0.1"
    scheme = "https" if address.secure else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def server_of(app: ASGIApp, address: Address, limits: Limits) -> Server:
    """uvicorn around an application."""
    return _Server(_config(app, address, limits))


class _LoopErrors:
    """Logs errors of the event loop; that no file handles are left is logged only now and then."""

    def __init__(self) -> None:
        self._warned_at = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), OSError) or "accept" not in context["message"]:
            loop.default_exception_handler(context)
        elif loop.time() - self._warned_at >= ACCEPT_WARNING_EVERY_S:
            self._warned_at = loop.time()
            log.warning("new connections are delayed: %s", context["exception"])


class _Server(Server):
    """uvicorn with a longer listen queue than it accepts at once."""

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)


def _config(app: ASGIApp, address: Address, limits: Limits) -> Config:
    return Config(
        app,
        http=limited_http_protocol(limits),
        ws=limited_websocket_protocol(limits),
        backlog=ACCEPTED_AT_ONCE,
        ws_max_size=limits.message_bytes,
        ws_ping_interval=limits.ping_s,
        ws_ping_timeout=limits.dead_s - limits.ping_s,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=limits.header_bytes,
        # Any client can write these headers; `proxies` reads only those of trusted peers.
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        ssl_certfile=address.certificate,
        ssl_keyfile=str(address.key) if address.key else None,
        timeout_graceful_shutdown=5,
    )
