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
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from starlette.websockets import WebSocket

from fairlead.host.options.options import Options
from fairlead.host.options.private_files import private_base
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.app import GuardedRoutes, SocketHandler
from fairlead.server.background import run_until_closed
from fairlead.server.bridge.documents import BridgeDocuments, LocalDocuments
from fairlead.server.budgets.budget_routes import BudgetRoutes
from fairlead.server.budgets.budgets import Budgets
from fairlead.server.http.api import Api
from fairlead.server.http.devices.device_routes import DeviceRoutes
from fairlead.server.http.devices.pair_routes import PairRoutes
from fairlead.server.http.devices.probe_routes import ProbeRoutes
from fairlead.server.http.devices.reach import Reach
from fairlead.server.http.export.recording_routes import RecordingRoutes
from fairlead.server.http.folder_routes import FolderRoutes
from fairlead.server.http.library import ServerLibrary
from fairlead.server.http.limit_routes import LimitRoutes
from fairlead.server.http.mention_routes import MentionRoutes
from fairlead.server.http.page_routes import PageRoutes
from fairlead.server.http.profile_routes import ProfileRoutes
from fairlead.server.http.routes import Route
from fairlead.server.http.search.cli_index import CliIndex
from fairlead.server.http.uploads import Uploads
from fairlead.server.http.usage import Usage
from fairlead.server.http.whole_items import WholeItems
from fairlead.server.intents.registry import Registry
from fairlead.server.limit_book import FILE as LIMITS_FILE
from fairlead.server.limits import Limits
from fairlead.server.notices.notices import Notices
from fairlead.server.policy import Policy
from fairlead.server.profiles.profile import Profile
from fairlead.server.profiles.profiles import FILE as PROFILES_FILE
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.lobby_rows import Progress
from fairlead.server.schedules.schedule_routes import ScheduleRoutes
from fairlead.server.schedules.schedules import Schedules
from fairlead.server.sockets.connections import Presence, SocketConnections
from fairlead.server.sockets.sockets import DocumentServer, Sockets
from fairlead.server.store_opening import opened_store
from fairlead.server.terminal.channel import OpenChannel, TerminalChannel
from fairlead.server.web_server import (
    Address,
    WebServer,
    application,
    base_url_of,
    bind,
    server_of,
)
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
from fairlead.version import VERSION
from fairlead.wire.blocks import Block

if TYPE_CHECKING:
    from fairlead.server.terminal.terminals import TerminalRegistry

__all__ = ["Address", "Extend", "Extension", "Service", "open_service"]


class ServedDocuments(DocumentServer, Presence, Protocol):
    """What sockets follow, and who is connected."""


class Extension(Protocol):
    """Sessions of other processes, which a server serves in addition to its own."""

    @property
    def documents(self) -> ServedDocuments:
        """Serves the documents of both, and carries out intents."""

    def channels(self, own: OpenChannel | None) -> OpenChannel | None:
        """Opens channels to the terminals of both."""

    def api(self, own: Api) -> GuardedRoutes:
        """The routes for both."""

    def bridge(self, own: BridgeDocuments) -> BridgeDocuments:
        """What `/bridge` uses for both."""

    def disconnect(self, device: str) -> None:
        """End what a revoked device has in the other processes."""


Extend = Callable[[Registry, DeviceRegistry, Limits], Extension]
"""Adds the sessions of other processes to a server."""


@dataclass(slots=True, kw_only=True)
class Service(WebServer):
    """A server with its sessions."""

    registry: Registry
    store: SqliteStore
    devices: DeviceRegistry
    api: Api
    notices: Notices
    budgets: Budgets
    schedules: Schedules
    terminals: TerminalRegistry | None
    """Set if owners may open terminals."""

    def launch_link(self, role: str = "owner", user: int | None = None) -> str:
        """The address with a one-time code in its fragment, which browsers send to no server.

        With `user`, only that local user can use it.
        """
        return f"{self.base_url}/#code={self.devices.issue_code(role, user)}"


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
    shared: Path | None = None,
    listening: bool = True,
    extend: Extend | None = None,
) -> AsyncIterator[Service]:
    """Assemble a server; `projects` is the folder of the CLI's own sessions.

    `profiles` are those that the user defined; those of the app are read from the data folder.

    `new_database` moves a database that cannot be used aside and creates an empty one.
    `terminal` lets owners open a shell in the folder of a session.
    `push_to_loopback` is for tests: it allows a push service on this machine.

    The others are for the processes of one server: `shared` is the data folder of the process that
    clients connect to, which has the settings and the uploads; `listening` is False for the others,
    which also do not list the CLI's own sessions; `extend` adds their sessions to the first.
    """
    address, limits = address or Address(), limits or Limits()
    listeners, port = bind(address) if listening else ([], 0)
    settings = shared or data
    async with AsyncExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        store = await stack.enter_async_context(opened_store(data, new_database=new_database))
        keys = DeviceKeys.stored_in(data / "device-secret")
        devices = await _open_devices(stack, store, data, limits, keys)
        uploads = Uploads(settings / "uploads", limits)
        terminals = _terminals(store, limits) if terminal else None
        registry = Registry(
            store,
            limits=limits,
            policy=_loaded(policy or Policy(), settings),
            options=options,
            profiles=_profiles(profiles, projects, settings),
            cli=CliSessions(projects, store) if projects is not None else None,
            upload=_reading(uploads),
            revoke=devices.revoke,
            terminals=terminals,
            version=VERSION,
            lists_files=listening,
        )
        extension = None if extend is None else extend(registry, devices, limits)
        documents: ServedDocuments = registry if extension is None else extension.documents
        notices = Notices(
            data,
            store,
            registry,
            devices,
            limits,
            acting=documents,
            base_url=base_url_of(address, port),
            loopback=push_to_loopback,
        )
        budgets = Budgets(store, registry.sessions, notices.outbox)
        schedules = Schedules(store, registry.sessions, registry)
        await _start(stack, data, registry, terminals, notices, budgets, schedules)
        connections = SocketConnections(documents, devices, limits)
        _connect_devices(devices, registry, connections, terminals, extension)
        sockets = Sockets(
            documents,
            devices,
            connections,
            limits,
            version=VERSION,
            agent=agent,
            terminals=_channels(terminals, extension),
        )
        library = ServerLibrary(registry, store, lambda: sockets.count)
        if listening:
            _keep_index(stack, registry, store, library, data)
        routes = (
            *_device_routes(devices, keys, limits, address.reach(port), registry, library),
            *_session_routes(registry, library, store, data),
            *_workbench_routes(registry, library, store),
            *notices.routes,
            *BudgetRoutes(budgets).routes,
            *ScheduleRoutes(schedules).routes,
        )
        api = Api(library, devices, uploads, limits, VERSION, routes)
        app = application(
            address,
            port,
            limits,
            api=api if extension is None else extension.api(api),
            sockets=sockets,
            bridge=_bridge(_bridged(registry, extension), devices, connections, limits),
            access=devices.access,
        )
        yield Service(
            address=address,
            port=port,
            registry=registry,
            store=store,
            devices=devices,
            sockets=sockets,
            api=api,
            notices=notices,
            budgets=budgets,
            schedules=schedules,
            terminals=terminals,
            _server=server_of(app, address, limits),
            _listeners=listeners,
        )


async def _open_devices(
    stack: AsyncExitStack, store: SqliteStore, data: Path, limits: Limits, keys: DeviceKeys
) -> DeviceRegistry:
    """The paired devices, with revocations that the database does not have yet."""
    file = RevocationFile(data / "revoked-devices")
    devices = DeviceRegistry(store, limits, revocation_file=file, keys=keys)
    stack.push_async_callback(devices.revocations.close)
    await devices.revocations.start()
    return devices


def _reading(uploads: Uploads) -> Callable[[str, str], Awaitable[Block]]:
    """Reads an uploaded file for a prompt, in another thread."""

    async def read(upload_id: str, name: str) -> Block:
        return await asyncio.to_thread(uploads.block, upload_id, name)

    return read


def _profiles(defined: Sequence[Profile], projects: Path | None, settings: Path) -> Profiles:
    """The profiles that the user defined, and those of the app."""
    profiles = Profiles(defined, "" if projects is None else str(projects.parent))
    profiles.load(settings / PROFILES_FILE)
    return profiles


async def _start(
    stack: AsyncExitStack,
    data: Path,
    registry: Registry,
    terminals: TerminalRegistry | None,
    notices: Notices,
    budgets: Budgets,
    schedules: Schedules,
) -> None:
    """Load what is stored, then start what runs beside the sessions.

    Notices and budgets are loaded before the registry recovers sessions, which they observe. At
    the end, all of them are closed in the opposite order.
    """
    await notices.load()
    await budgets.load()
    registry.limit_book.load(data / LIMITS_FILE)
    await stack.enter_async_context(registry)
    if terminals is not None:
        stack.push_async_callback(terminals.close)
    await stack.enter_async_context(notices)
    run_until_closed(stack, budgets.run())
    with contextlib.suppress(StoreUnavailable):  # The server says that it cannot store.
        await schedules.start()
    run_until_closed(stack, schedules.run())


def _keep_index(
    stack: AsyncExitStack,
    registry: Registry,
    store: SqliteStore,
    library: ServerLibrary,
    data: Path,
) -> None:
    """Keep the search index of the CLI's own sessions up to date, if there is a folder of them."""
    files = registry.sessions.cli
    if files is not None:
        index = CliIndex(
            files, store, data, own=library.own_cli_sessions, progress=_show_indexing(registry)
        )
        run_until_closed(stack, index.run())


def _device_routes(
    devices: DeviceRegistry,
    keys: DeviceKeys,
    limits: Limits,
    reach: Reach,
    registry: Registry,
    library: ServerLibrary,
) -> tuple[Route, ...]:
    """The routes that pair, list, rename and revoke devices."""
    own = DeviceRoutes(
        devices=devices, renamed=library.renamed, revoke=registry.revoke, reach=reach
    )
    return (*PairRoutes(devices, limits).routes, *own.routes, *ProbeRoutes(keys, limits).routes)


def _session_routes(
    registry: Registry, library: ServerLibrary, store: SqliteStore, data: Path
) -> tuple[Route, ...]:
    """The routes about sessions: their pages, items, folders, profiles and limits."""
    usage = Usage(data, lambda: f"{store.epoch}.{store.erased}")
    return (
        *PageRoutes(names=library, log=store, usage=usage).routes,
        *WholeItems(registry).routes,
        *MentionRoutes(registry, library).routes,
        *FolderRoutes(registry.policy, library.opening).routes,
        *ProfileRoutes(registry.sessions).routes,
        *LimitRoutes(registry.limit_book, registry.lobby.sessions).routes,
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


def _terminals(store: SqliteStore, limits: Limits) -> TerminalRegistry:
    from fairlead.server.terminal.terminals import TerminalRegistry  # Few servers offer shells.

    return TerminalRegistry(store, limits)


def _channels(
    terminals: TerminalRegistry | None, extension: Extension | None
) -> OpenChannel | None:
    own = None if terminals is None else partial(TerminalChannel, terminals)
    return own if extension is None else extension.channels(own)


def _bridge(
    documents: BridgeDocuments,
    devices: DeviceRegistry,
    connections: SocketConnections,
    limits: Limits,
) -> SocketHandler:
    async def serve(websocket: WebSocket) -> None:
        from fairlead.server.bridge.bridge import Bridge  # Few servers have a client that uses it.

        await Bridge(documents, devices, connections, limits).serve(websocket)

    return serve


def _bridged(registry: Registry, extension: Extension | None) -> BridgeDocuments:
    own = LocalDocuments(registry)
    return own if extension is None else extension.bridge(own)


def _connect_devices(
    devices: DeviceRegistry,
    registry: Registry,
    connections: SocketConnections,
    terminals: TerminalRegistry | None,
    extension: Extension | None,
) -> None:
    """Show each paired device in the lobby, and end what a revoked device has.

    That is its sockets and the shells that it opened, here and in the other processes.
    """

    def disconnect(device: str) -> None:
        connections.disconnect(device)
        if terminals is not None:
            terminals.revoked(device)
        if extension is not None:
            extension.disconnect(device)

    devices.announce = registry.paired
    devices.disconnect = disconnect
    # The database does not have these revocations yet, so the registry listed the devices.
    for device in devices.revocations.unstored:
        registry.revoked(device)


def _show_indexing(registry: Registry) -> Callable[[int, int], None]:
    """Shows the progress of the search index in the lobby; nothing when it is complete."""

    def show(done: int, total: int) -> None:
        progress = None if done >= total else Progress(done, total)
        registry.lobby.set_server(indexing=progress)

    return show
