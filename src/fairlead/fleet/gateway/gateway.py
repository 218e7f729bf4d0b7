"""Assembles a gateway: a web server for browsers, whose sessions run on other machines.

    async with open_gateway(bus, data=folder) as gateway:
        print(await gateway.launch_link())
        await gateway.run()

All parts are connected here; this module makes no decisions itself.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.gateway.bridge_documents import RemoteBridgeDocuments
from fairlead.fleet.gateway.devices.present_devices import PresentDevices
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.documents import FleetDocuments
from fairlead.fleet.gateway.http.http_routes import FleetApi
from fairlead.fleet.gateway.metrics import FleetMetrics
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.moving.move_routes import MoveRoutes
from fairlead.fleet.gateway.moving.moves import Moves
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.nodes_watch import NodesWatch
from fairlead.fleet.gateway.notices.assembly import open_notices
from fairlead.fleet.gateway.parts import (
    DeviceParts,
    Folders,
    NodeParts,
    SessionParts,
    connect_devices,
    open_devices,
    open_nodes,
    open_sessions,
)
from fairlead.fleet.gateway.terminals import FleetTerminals
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.background import run_until_closed
from fairlead.server.bridge.bridge import Bridge
from fairlead.server.http.devices.device_routes import DeviceRoutes
from fairlead.server.http.devices.pair_routes import PairRoutes
from fairlead.server.http.devices.probe_routes import ProbeRoutes
from fairlead.server.http.devices.reach import Reach
from fairlead.server.http.routes import Route
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.sockets.connections import SocketConnections
from fairlead.server.sockets.sockets import Sockets
from fairlead.server.view.lobby import Lobby
from fairlead.server.web_server import (
    Address,
    WebServer,
    application,
    base_url_of,
    bind,
    server_of,
)
from fairlead.version import VERSION

__all__ = ["Gateway", "open_gateway"]

log = logging.getLogger("fairlead.fleet")


@dataclass(slots=True, kw_only=True)
class Gateway(WebServer):
    """A web server for a fleet."""

    id: str
    hub: Hub
    lobby: Lobby
    directory: Directory
    mirrors: Mirrors
    documents: FleetDocuments
    client: NodeClient
    devices: DeviceRegistry
    moves: Moves
    presence: PresentDevices

    async def launch_link(self, role: str = "owner") -> str:
        """The address with a one-time code in its fragment, which any gateway accepts."""
        return f"{self.base_url}/#code={await self.devices.share_code(role)}"


@asynccontextmanager
async def open_gateway(
    bus: Bus,
    *,
    data: Path,
    gateway_id: str | None = None,
    address: Address | None = None,
    limits: Limits | None = None,
    routes: tuple[Route, ...] = (),
    archive: Path | None = None,
    push_to_loopback: bool = False,
) -> AsyncIterator[Gateway]:
    """Assemble a gateway; `data` is a folder for uploads and notices. Without an id it gets a random one.

    `archive` is a folder for logs that are kept for longer than on the bus.
    `routes` are further routes of the HTTP API, which this gateway handles by itself.
    `push_to_loopback` is for tests: it allows a push service on this machine.
    """
    address, limits = address or Address(), limits or Limits()
    gateway_id = gateway_id or uuid.uuid4().hex[:12]
    listeners, port = bind(address)
    async with AsyncExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        nodes = open_nodes(stack, bus, gateway_id, limits)
        devices = await open_devices(stack, bus, nodes.presence, limits, data)
        folders = Folders(data=data, archive=archive)
        base_url = base_url_of(address, port)
        sessions = await open_sessions(stack, bus, nodes, devices, folders, limits, base_url)
        connections = SocketConnections(sessions.documents, devices.registry, limits)
        connect_devices(devices, nodes.presence, connections)
        sockets = _open_sockets(stack, bus, nodes, devices, sessions, connections, limits)
        notice_routes = await stack.enter_async_context(
            open_notices(
                bus,
                data,
                gateway=gateway_id,
                devices=devices.registry,
                documents=sessions.documents,
                client=nodes.client,
                directory=nodes.directory,
                hub=nodes.hub,
                limits=limits,
                base_url=base_url,
                loopback=push_to_loopback,
            )
        )
        own_routes = _device_routes(devices, nodes.presence, limits, address.reach(port))
        more = (*own_routes, *MoveRoutes(sessions.moves).routes, *notice_routes, *routes)
        api = _api(bus, nodes, devices, sessions, limits, more)
        await _start(stack, bus, nodes, devices, sessions)
        app = application(
            address,
            port,
            limits,
            api=api,
            sockets=sockets,
            bridge=_bridge(nodes, devices, sessions, connections, limits).serve,
            access=devices.registry.access,
        )
        yield Gateway(
            address=address,
            port=port,
            sockets=sockets,
            _server=server_of(app, address, limits),
            _listeners=listeners,
            id=gateway_id,
            hub=nodes.hub,
            lobby=nodes.lobby,
            directory=nodes.directory,
            mirrors=nodes.mirrors,
            documents=sessions.documents,
            client=nodes.client,
            devices=devices.registry,
            moves=sessions.moves,
            presence=nodes.presence,
        )


def _open_sockets(
    stack: AsyncExitStack,
    bus: Bus,
    nodes: NodeParts,
    devices: DeviceParts,
    sessions: SessionParts,
    connections: SocketConnections,
    limits: Limits,
) -> Sockets:
    """The sockets of browsers, with the terminals of all machines."""
    terminals = FleetTerminals(bus, nodes.client, nodes.directory.owner)
    stack.push_async_callback(terminals.close)
    return Sockets(
        sessions.documents,
        devices.registry,
        connections,
        limits,
        version=VERSION,
        agent="fleet",
        terminals=terminals.open,
    )


def _device_routes(
    devices: DeviceParts, presence: PresentDevices, limits: Limits, reach: Reach
) -> tuple[Route, ...]:
    """The routes about devices, which every gateway answers by itself."""
    return (
        *PairRoutes(devices.registry, limits).routes,
        *DeviceRoutes(
            devices=devices.registry,
            renamed=presence.renamed,
            revoke=devices.revoke,
            reach=reach,
        ).routes,
        *ProbeRoutes(devices.keys, limits).routes,
    )


def _api(
    bus: Bus,
    nodes: NodeParts,
    devices: DeviceParts,
    sessions: SessionParts,
    limits: Limits,
    more: tuple[Route, ...],
) -> FleetApi:
    """The HTTP API: requests about a session go to its machine, `more` are answered here."""
    metrics = FleetMetrics(bus, nodes.directory, nodes.lobby, nodes.mirrors, nodes.intents)
    archived = sessions.archived
    return FleetApi(
        devices.registry,
        directory=nodes.directory,
        lobby=nodes.lobby,
        client=nodes.client,
        uploads=sessions.uploads,
        limits=limits,
        version=VERSION,
        archive=archived[0].search if archived else None,
        metrics=metrics.text,
        more=more,
    )


def _bridge(
    nodes: NodeParts,
    devices: DeviceParts,
    sessions: SessionParts,
    connections: SocketConnections,
    limits: Limits,
) -> Bridge:
    """The legacy socket protocol for the sessions of all machines."""
    documents = RemoteBridgeDocuments(
        sessions.documents, nodes.lobby, nodes.directory, nodes.client
    )
    return Bridge(documents, devices.registry, connections, limits)


async def _start(
    stack: AsyncExitStack,
    bus: Bus,
    nodes: NodeParts,
    devices: DeviceParts,
    sessions: SessionParts,
) -> None:
    """Read what the bus has, then keep it up to date until the gateway is closed."""
    watch = NodesWatch(bus, nodes.directory, nodes.mirrors)
    stack.push_async_callback(watch.close)
    await devices.people.start()
    await devices.registry.revocations.start()
    await nodes.presence.start()
    await watch.start()
    for work in (
        devices.people.run(),
        nodes.presence.run(),
        watch.run(),
        nodes.mirrors.run(),
        sessions.replicas.run(),
        sessions.highest.run(),
        sessions.moves.run(),
        *(archive.run() for archive in sessions.archived),
    ):
        run_until_closed(stack, work)
