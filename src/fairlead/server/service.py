"""A whole server: store, registry, doors, sockets, API, and uvicorn around them.

    async with Service(data=folder, options=Options(agent="claude")) as service:
        print(service.launch_link())
        await service.run()

The one place where everything is put together; it decides nothing itself.
"""

from __future__ import annotations

import asyncio
import logging
import socket as sockets_of_the_system
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvicorn

from fairlead.errors import OptionError, UsageError
from fairlead.host.options import Options
from fairlead.server.app import build
from fairlead.server.bridge import Bridge
from fairlead.server.cli_index import CliIndex
from fairlead.server.connections import impatient, impatient_websocket
from fairlead.server.doors import Doors
from fairlead.server.gatekeeper import allowed_authorities
from fairlead.server.http import Api
from fairlead.server.library import ServerLibrary
from fairlead.server.limits import Limits
from fairlead.server.lobby_rows import Progress
from fairlead.server.page_routes import PageRoutes
from fairlead.server.pair_routes import PairRoutes
from fairlead.server.policy import Policy
from fairlead.server.reach import reach_of
from fairlead.server.registry import Registry
from fairlead.server.sockets import Sockets
from fairlead.server.static import StaticFiles
from fairlead.server.uploads import Uploads
from fairlead.server.usage import Usage
from fairlead.server.whole_items import WholeItems
from fairlead.store.imports import CliSessions
from fairlead.store.sqlite import SqliteStore
from fairlead.wire.blocks import Block

__all__ = ["Address", "Service", "open_service"]

BACKLOG = 128
"""Connections that wait to be accepted. asyncio tries as many times in a row, and when there is no
file left it complains as often, so that more would make a bad moment worse (F-48)."""

COMPLAIN_EVERY_S = 10.0

log = logging.getLogger("fairlead")

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens, and how it may be called."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    names: tuple[str, ...] = ()
    """More names that clients may call it by."""
    certificate: Path | None = None
    key: Path | None = None
    plain_http: bool = False
    """The operator understands that anybody on the network can read everything."""

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and self.certificate is None and not self.plain_http:
            raise OptionError(
                "host",
                f"{self.host} can be reached from other machines, and without TLS anybody on the "
                "way can read and take over your sessions.",
                "Give --certificate and --key, or --i-understand-plain-http.",
            )

    @property
    def secure(self) -> bool:
        """Whether it speaks TLS."""
        return self.certificate is not None


@dataclass(slots=True, kw_only=True)
class Service:
    """A server that is put together and listens."""

    address: Address
    port: int
    registry: Registry
    store: SqliteStore
    doors: Doors
    sockets: Sockets
    _server: uvicorn.Server
    _listener: sockets_of_the_system.socket
    _stopping: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        """Where a browser finds it: under a name that it answers to."""
        scheme = "https" if self.address.secure else "http"
        host = self.address.host
        if host in ("0.0.0.0", "::"):
            host = self.address.names[0] if self.address.names else "127.0.0.1"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def launch_link(self, role: str = "owner", user: int | None = None) -> str:
        """The address with a one-time code in its fragment, which no server ever sees.

        With `user`, only that user of this machine can use it.
        """
        return f"{self.base_url}/#code={self.doors.issue_code(role, user)}"

    async def run(self) -> None:
        """Serve until `stop`."""
        asyncio.get_running_loop().set_exception_handler(_Complaints())
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        """End, cleanly; a second call ends at once."""
        if self._stopping is not None:
            self._server.should_exit = self._server.force_exit = True
            return
        self._stopping = asyncio.get_running_loop().create_task(self._say_goodbye())

    async def _say_goodbye(self) -> None:
        """Before uvicorn closes the sockets, whose clients would take it for a lost network."""
        await self.sockets.stop()
        self._server.should_exit = True


@asynccontextmanager
async def open_service(
    *,
    data: Path,
    options: Options,
    agent: str,
    address: Address | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    projects: Path | None = None,
) -> AsyncIterator[Service]:
    """Put a server together; `projects` is where the CLI keeps its own sessions."""
    address, limits = address or Address(), limits or Limits()
    listener = _listen(address)
    port = int(listener.getsockname()[1])
    async with AsyncExitStack() as stack:
        stack.callback(listener.close)
        store = await stack.enter_async_context(SqliteStore(data))
        doors = Doors(store, limits)
        uploads = Uploads(data / "uploads", limits)

        async def upload(upload_id: str, name: str) -> Block:
            return await asyncio.to_thread(uploads.block, upload_id, name)

        async def revoke(device: str) -> bool:
            revoked = await doors.revoke(device)
            await sockets.cut_off(device)
            await bridge.cut_off(device)
            return revoked

        cli = CliSessions(projects, store) if projects is not None else None
        registry = Registry(
            store,
            limits=limits,
            policy=policy,
            options=options,
            cli=cli,
            upload=upload,
            revoke=revoke,
            version=version("fairlead"),
        )
        await stack.enter_async_context(registry)
        doors.announce = registry.paired
        sockets = Sockets(
            registry, doors, limits, version=version("fairlead"), agent=agent, epoch=store.epoch
        )
        bridge = Bridge(registry, doors, limits)
        library = ServerLibrary(registry, store, lambda: sockets.count)
        reach = reach_of(address.host, port, address.names, secure=address.secure)
        pages = PageRoutes(
            names=library,
            doors=doors,
            log=store,
            usage=Usage(data, lambda: store.epoch),
            reach=lambda: reach,
        )
        if cli is not None:
            index = CliIndex(
                cli, store, data, own=library.own_cli_sessions, progress=_told(registry)
            )
            indexing = asyncio.create_task(index.run())
            stack.push_async_callback(_end, indexing)
        pairing = PairRoutes(doors, limits)
        more = (*pairing.routes, *pages.routes, *WholeItems(registry).routes)
        app = build(
            api=Api(library, doors, uploads, limits, version("fairlead"), more),
            sockets=sockets,
            bridge=bridge.serve,
            static=StaticFiles(),
            authorities=allowed_authorities(address.host, port, address.names),
            limits=limits,
        )
        yield Service(
            address=address,
            port=port,
            registry=registry,
            store=store,
            doors=doors,
            sockets=sockets,
            _server=uvicorn.Server(_config(app, address, limits)),
            _listener=listener,
        )


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _told(registry: Registry) -> Callable[[int, int], None]:
    """Shows in the lobby how far the search index has come; nothing when it is done."""

    def tell(done: int, total: int) -> None:
        told = None if done >= total else Progress(done, total)
        registry.lobby.set_server(indexing=told)

    return tell


class _Complaints:
    """What the event loop complains of; that files are short is said now and then, not always."""

    def __init__(self) -> None:
        self._said = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), OSError) or "accept" not in context["message"]:
            loop.default_exception_handler(context)
        elif loop.time() - self._said >= COMPLAIN_EVERY_S:
            self._said = loop.time()
            log.warning("new connections have to wait: %s", context["exception"])


def _config(app: object, address: Address, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=impatient(limits),
        ws=impatient_websocket(limits),
        backlog=BACKLOG,
        ws_max_size=limits.message_bytes,
        ws_ping_interval=limits.ping_s,
        ws_ping_timeout=limits.dead_s - limits.ping_s,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=limits.header_bytes,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        ssl_certfile=address.certificate,
        ssl_keyfile=str(address.key) if address.key else None,
        timeout_graceful_shutdown=5,
    )


def _listen(address: Address) -> sockets_of_the_system.socket:
    family = (
        sockets_of_the_system.AF_INET6 if ":" in address.host else sockets_of_the_system.AF_INET
    )
    listener = sockets_of_the_system.socket(family, sockets_of_the_system.SOCK_STREAM)
    listener.setsockopt(sockets_of_the_system.SOL_SOCKET, sockets_of_the_system.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
        listener.listen(BACKLOG)  # Whoever follows the printed link at once waits, not fails.
    except OSError as problem:
        listener.close()
        raise UsageError(
            f"cannot listen on {address.host}:{address.port}: {problem.strerror}. "
            "Another server may run there; stop it, or choose another --port."
        ) from None
    return listener
