"""Assembles a server: store, registry, devices, sockets, API, and uvicorn around them.

    options = Options(agent="claude")
    async with open_service(data=folder, options=options, agent="claude") as service:
        print(service.launch_link())
        await service.run()

All parts are connected here; this module makes no decisions itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn

from fairlead.errors import OptionError
from fairlead.host.options.options import Options
from fairlead.host.options.private_files import private_base
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.proxies import TrustedProxies
from fairlead.server.access.public_url import PublicUrl
from fairlead.server.access.request_checks import allowed_authorities
from fairlead.server.app import build
from fairlead.server.bridge.bridge import Bridge
from fairlead.server.budgets.budget_routes import BudgetRoutes
from fairlead.server.budgets.budgets import Budgets
from fairlead.server.http.api import Api
from fairlead.server.http.export.recording_routes import RecordingRoutes
from fairlead.server.http.folder_routes import FolderRoutes
from fairlead.server.http.library import ServerLibrary
from fairlead.server.http.limit_routes import LimitRoutes
from fairlead.server.http.mention_routes import MentionRoutes
from fairlead.server.http.page_routes import PageRoutes
from fairlead.server.http.pair_routes import PairRoutes
from fairlead.server.http.probe_routes import ProbeRoutes
from fairlead.server.http.profile_routes import ProfileRoutes
from fairlead.server.http.reach import reach_of
from fairlead.server.http.routes import Route
from fairlead.server.http.search.cli_index import CliIndex
from fairlead.server.http.static import StaticFiles
from fairlead.server.http.uploads import Uploads
from fairlead.server.http.usage import Usage
from fairlead.server.http.whole_items import WholeItems
from fairlead.server.intents.registry import Registry
from fairlead.server.limit_book import FILE as LIMITS_FILE
from fairlead.server.limits import Limits
from fairlead.server.listeners import LOOPBACK, listen
from fairlead.server.notices.notices import Notices
from fairlead.server.policy import Policy
from fairlead.server.profiles.profile import Profile
from fairlead.server.profiles.profiles import FILE as PROFILES_FILE
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.lobby_rows import Progress
from fairlead.server.schedules.schedule_routes import ScheduleRoutes
from fairlead.server.schedules.schedules import Schedules
from fairlead.server.sockets.connections import SocketConnections
from fairlead.server.sockets.sockets import Sockets
from fairlead.server.sockets.uvicorn_limits import limited_http_protocol, limited_websocket_protocol
from fairlead.server.store_opening import opened_store
from fairlead.server.terminal.terminals import TerminalRegistry
from fairlead.server.workbench.change_routes import ChangeRoutes
from fairlead.server.workbench.content_routes import ContentRoutes
from fairlead.server.workbench.file_routes import FileRoutes
from fairlead.server.workbench.git_routes import GitRoutes
from fairlead.server.workbench.playback import PlaybackRoutes
from fairlead.server.workbench.review_routes import ReviewRoutes
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.revocations import RevocationFile
from fairlead.store.sqlite import SqliteStore
from fairlead.wire.blocks import Block

__all__ = ["Address", "Service", "open_service"]

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


@dataclass(slots=True, kw_only=True)
class Service:
    """An assembled server that listens."""

    address: Address
    port: int
    registry: Registry
    store: SqliteStore
    devices: DeviceRegistry
    sockets: Sockets
    notices: Notices
    budgets: Budgets
    schedules: Schedules
    _server: uvicorn.Server
    _listeners: list[socket]
    _stopping: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        """The address for a browser, under a name that the server accepts."""
        return _base_url(self.address, self.port)

    def launch_link(self, role: str = "owner", user: int | None = None) -> str:
        """The address with a one-time code in its fragment, which browsers send to no server.

        With `user`, only that local user can use it.
        """
        return f"{self.base_url}/#code={self.devices.issue_code(role, user)}"

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


def _base_url(address: Address, port: int) -> str:
    if address.public_url is not None:
        return PublicUrl.parse(address.public_url).base
    host = address.host
    if host in ("0.0.0.0", "::"):
        host = address.names[0] if address.names else "127.0.0.1"
    scheme = "https" if address.secure else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


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
    profiles: Sequence[Profile] = (),
    new_database: bool = False,
    terminal: bool = False,
    push_to_loopback: bool = False,
) -> AsyncIterator[Service]:
    """Assemble a server; `projects` is the folder of the CLI's own sessions.

    `profiles` are those that the user defined; those of the app are read from the data folder.

    `new_database` moves a database that cannot be used aside and creates an empty one.
    `terminal` lets owners open a shell in the folder of a session.
    `push_to_loopback` is for tests: it allows a push service on this machine.
    """
    address, limits = address or Address(), limits or Limits()
    proxies = TrustedProxies(address.trusted_proxies)
    public = PublicUrl.parse(address.public_url) if address.public_url is not None else None
    listeners = listen(address.host, address.port, QUEUE)
    port = int(listeners[0].getsockname()[1])
    async with AsyncExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        store = await stack.enter_async_context(opened_store(data, new_database=new_database))
        keys = DeviceKeys.stored_in(data / "device-secret")
        devices = DeviceRegistry(
            store, limits, revocation_file=RevocationFile(data / "revoked-devices"), keys=keys
        )
        stack.push_async_callback(devices.revocations.close)
        await devices.revocations.start()
        uploads = Uploads(data / "uploads", limits)

        async def upload(upload_id: str, name: str) -> Block:
            return await asyncio.to_thread(uploads.block, upload_id, name)

        cli = CliSessions(projects, store) if projects is not None else None
        terminals = TerminalRegistry(store, limits) if terminal else None
        known_profiles = Profiles(profiles, "" if projects is None else str(projects.parent))
        known_profiles.load(data / PROFILES_FILE)
        registry = Registry(
            store,
            limits=limits,
            policy=_loaded(policy or Policy(), data),
            options=options,
            profiles=known_profiles,
            cli=cli,
            upload=upload,
            revoke=devices.revoke,
            terminals=terminals,
            version=version("fairlead"),
        )
        notices = Notices(
            data,
            store,
            registry,
            devices,
            limits,
            base_url=_base_url(address, port),
            loopback=push_to_loopback,
        )
        await notices.load()
        budgets = Budgets(store, registry.sessions, notices.outbox)
        await budgets.load()
        registry.limit_book.load(data / LIMITS_FILE)
        await stack.enter_async_context(registry)
        if terminals is not None:
            stack.push_async_callback(terminals.close)
        await stack.enter_async_context(notices)
        stack.push_async_callback(_end, asyncio.create_task(budgets.run()))
        schedules = Schedules(store, registry.sessions, registry)
        with contextlib.suppress(StoreUnavailable):  # The server says that it cannot store.
            await schedules.start()
        stack.push_async_callback(_end, asyncio.create_task(schedules.run()))
        devices.announce = registry.paired
        for device in devices.revocations.unstored:
            registry.revoked(device)
        connections = SocketConnections(registry, devices, limits)
        devices.disconnect = _disconnect(connections, terminals)
        sockets = Sockets(
            registry,
            devices,
            connections,
            limits,
            version=version("fairlead"),
            agent=agent,
            terminals=terminals,
        )
        bridge = Bridge(registry, devices, connections, limits)
        library = ServerLibrary(registry, store, lambda: sockets.count)
        reach = reach_of(
            address.host,
            port,
            address.names,
            secure=address.secure,
            public=public.base if public is not None else None,
        )
        pages = PageRoutes(
            names=library,
            devices=devices,
            revoke=registry.revoke,
            log=store,
            usage=Usage(data, lambda: f"{store.epoch}.{store.erased}"),
            reach=lambda: reach,
        )
        if registry.sessions.cli is not None:
            files = registry.sessions.cli
            index = CliIndex(
                files, store, data, own=library.own_cli_sessions, progress=_show_indexing(registry)
            )
            stack.push_async_callback(_end, asyncio.create_task(index.run()))
        more = (
            *PairRoutes(devices, limits).routes,
            *pages.routes,
            *ProbeRoutes(keys, limits).routes,
            *WholeItems(registry).routes,
            *MentionRoutes(registry, library).routes,
            *FolderRoutes(registry.policy, library.opening).routes,
            *_workbench_routes(registry, library, store),
            *notices.routes,
            *BudgetRoutes(budgets).routes,
            *ProfileRoutes(registry.sessions).routes,
            *LimitRoutes(registry.limit_book, registry.lobby.sessions).routes,
            *ScheduleRoutes(schedules).routes,
        )
        app = build(
            api=Api(library, devices, uploads, limits, version("fairlead"), more),
            sockets=sockets,
            bridge=bridge.serve,
            static=StaticFiles(),
            authorities=allowed_authorities(address.host, port, address.names)
            | ({public.authority} if public is not None else set()),
            limits=limits,
            proxies=proxies,
            public=public,
            access=devices.access,
        )
        yield Service(
            address=address,
            port=port,
            registry=registry,
            store=store,
            devices=devices,
            sockets=sockets,
            notices=notices,
            budgets=budgets,
            schedules=schedules,
            _server=_Server(_config(app, address, limits)),
            _listeners=listeners,
        )


def _loaded(policy: Policy, data: Path) -> Policy:
    """A policy with what owners chose before; clients never see the server's own files."""
    policy.opening.hide(data)
    policy.opening.hide(private_base())
    policy.trust.load(data / "trusted-projects.json")
    policy.worktrees.load(data / "worktree-settings.json")
    return policy


def _workbench_routes(
    registry: Registry, library: ServerLibrary, store: SqliteStore
) -> tuple[Route, ...]:
    """The routes about the files that sessions change, and about sessions as files."""
    return (
        *ChangeRoutes(library).routes,
        *ContentRoutes(registry).routes,
        *ReviewRoutes(registry, store).routes,
        *GitRoutes(registry).routes,
        *FileRoutes(registry).routes,
        *RecordingRoutes(registry).routes,
        *PlaybackRoutes(registry, store).routes,
    )


def _disconnect(
    connections: SocketConnections, terminals: TerminalRegistry | None
) -> Callable[[str], None]:
    """Ends what a revoked device has: its sockets, and the shells that it opened."""

    def disconnect(device: str) -> None:
        connections.disconnect(device)
        if terminals is not None:
            terminals.revoked(device)

    return disconnect


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _show_indexing(registry: Registry) -> Callable[[int, int], None]:
    """Shows the progress of the search index in the lobby; nothing when it is complete."""

    def show(done: int, total: int) -> None:
        progress = None if done >= total else Progress(done, total)
        registry.lobby.set_server(indexing=progress)

    return show


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


class _Server(uvicorn.Server):
    """uvicorn with a longer listen queue than it accepts at once."""

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)


def _config(app: object, address: Address, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
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
