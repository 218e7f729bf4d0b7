"""Assembles a gateway: a web server for browsers, whose sessions run on other machines.

    async with open_gateway(bus, data=folder) as gateway:
        print(await gateway.launch_link())
        await gateway.run()

All parts are connected here; this module makes no decisions itself.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.gateway.bridge_documents import RemoteBridgeDocuments
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.documents import FleetDocuments
from fairlead.fleet.gateway.highest_intents import HighestIntents
from fairlead.fleet.gateway.http.http_routes import FleetApi
from fairlead.fleet.gateway.http.uploads import GatewayUploads
from fairlead.fleet.gateway.joining_devices import FleetCodes, FleetJoining
from fairlead.fleet.gateway.metrics import FleetMetrics, IntentMetrics
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.moving.adoption import Adoption
from fairlead.fleet.gateway.moving.archive import LogArchive
from fairlead.fleet.gateway.moving.move_routes import MoveRoutes
from fairlead.fleet.gateway.moving.moves import Moves
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.nodes_watch import NodesWatch
from fairlead.fleet.gateway.notices.assembly import open_notices
from fairlead.fleet.gateway.people import FleetPeople, device_secret
from fairlead.fleet.gateway.present_devices import PresentDevices
from fairlead.fleet.gateway.replica_documents import ReplicaDocuments
from fairlead.fleet.gateway.replica_log import CopyReader, StreamCopies
from fairlead.fleet.gateway.terminals import FleetTerminals
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.bridge.bridge import Bridge
from fairlead.server.http.device_routes import DeviceRoutes
from fairlead.server.http.pair_routes import PairRoutes
from fairlead.server.http.probe_routes import ProbeRoutes
from fairlead.server.http.routes import Route
from fairlead.server.http.uploads import Uploads
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
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
        hub = Hub(limits)
        lobby = Lobby(hub, f"gateway.{uuid.uuid4().hex[:12]}", limits.lobby_every_s)
        directory = Directory(lobby, version=version("fairlead"))
        intents = IntentMetrics()
        client = NodeClient(bus, directory.is_here, directory.away, intents.carried_out)
        mirrors = Mirrors(hub, bus, client, gateway_id)
        stack.push_async_callback(mirrors.close)
        presence = PresentDevices(lobby, bus, gateway_id)
        stack.push_async_callback(presence.close)
        people = FleetPeople(bus)
        stack.push_async_callback(people.close)
        keys = DeviceKeys(await device_secret(bus))
        devices = DeviceRegistry(
            people,
            limits,
            keys=keys,
            shared_codes=FleetCodes(bus),
            joining=FleetJoining(bus, people, limits),
        )
        stack.push_async_callback(devices.revocations.close)
        uploads = GatewayUploads(
            Uploads(data / "uploads", limits), client, bus.bucket("uploads"), presence.gateways
        )
        revoke = _revoking(devices, presence)
        highest = HighestIntents(bus.bucket("clients"))
        documents = FleetDocuments(
            hub,
            directory=directory,
            mirrors=mirrors,
            client=client,
            presence=presence,
            uploads=uploads,
            placements=bus.bucket("clients"),
            highest=highest,
            revoke=revoke,
        )
        archived = await _archive(stack, archive, bus, directory)
        readers: tuple[CopyReader, ...] = (StreamCopies(bus), *archived)
        replicas = ReplicaDocuments(
            hub, readers, limits, is_here=directory.is_here, follow=mirrors.follow
        )
        documents.replica = replicas.offer
        directory.on_moved = _handing_over(mirrors, replicas)
        moves = Moves(
            bus,
            client,
            directory,
            Adoption(readers, directory.session_of),
            lambda name: f"{base_url_of(address, port)}/s/{name}",
        )
        stack.push_async_callback(moves.close)
        connections = SocketConnections(documents, devices, limits)
        _connect_devices(devices, people, presence, connections)
        terminals = FleetTerminals(bus, client, directory.owner)
        stack.push_async_callback(terminals.close)
        sockets = Sockets(
            documents,
            devices,
            connections,
            limits,
            version=version("fairlead"),
            agent="fleet",
            terminals=terminals.open,
        )
        notice_routes = await stack.enter_async_context(
            open_notices(
                bus,
                data,
                gateway=gateway_id,
                devices=devices,
                documents=documents,
                client=client,
                directory=directory,
                hub=hub,
                limits=limits,
                base_url=base_url_of(address, port),
                loopback=push_to_loopback,
            )
        )
        metrics = FleetMetrics(bus, directory, lobby, mirrors, intents)
        api = FleetApi(
            devices,
            directory=directory,
            lobby=lobby,
            client=client,
            uploads=uploads,
            limits=limits,
            version=version("fairlead"),
            archive=archived[0].search if archived else None,
            metrics=metrics.text,
            more=(
                *PairRoutes(devices, limits).routes,
                *DeviceRoutes(
                    devices=devices,
                    renamed=presence.renamed,
                    revoke=revoke,
                    reach=address.reach(port),
                ).routes,
                *ProbeRoutes(keys, limits).routes,
                *MoveRoutes(moves).routes,
                *notice_routes,
                *routes,
            ),
        )
        watch = NodesWatch(bus, directory, mirrors)
        stack.push_async_callback(watch.close)
        await people.start()
        await presence.start()
        await watch.start()
        tasks: list[Any] = [people, presence, watch, mirrors, replicas, highest, moves, *archived]
        for work in (each.run() for each in tasks):
            task = asyncio.create_task(work)
            task.add_done_callback(_report)
            stack.push_async_callback(_end, task)
        app = application(
            address,
            port,
            limits,
            api=api,
            sockets=sockets,
            bridge=Bridge(
                RemoteBridgeDocuments(documents, lobby, directory, client),
                devices,
                connections,
                limits,
            ).serve,
            access=devices.access,
        )
        yield Gateway(
            address=address,
            port=port,
            sockets=sockets,
            _server=server_of(app, address, limits),
            _listeners=listeners,
            id=gateway_id,
            hub=hub,
            lobby=lobby,
            directory=directory,
            mirrors=mirrors,
            documents=documents,
            client=client,
            devices=devices,
            moves=moves,
            presence=presence,
        )


async def _archive(
    stack: AsyncExitStack, folder: Path | None, bus: Bus, directory: Directory
) -> tuple[LogArchive, ...]:
    """The archive in a folder, if there is one."""
    if folder is None:
        return ()
    archive = LogArchive(folder, bus, directory)
    stack.push_async_callback(archive.close)
    await archive.start()
    return (archive,)


def _handing_over(mirrors: Mirrors, replicas: ReplicaDocuments) -> Callable[[str, str, str], None]:
    """Shows the clients of a moved session what its new machine sends."""
    tasks: set[asyncio.Task[None]] = set()

    def moved(name: str, node: str, session: str) -> None:
        replicas.forget(name)
        task = asyncio.create_task(mirrors.hand_over(name, node, session))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return moved


def _connect_devices(
    devices: DeviceRegistry,
    people: FleetPeople,
    presence: PresentDevices,
    connections: SocketConnections,
) -> None:
    """What one gateway does with a device, all of them show."""

    def revoked(device: str) -> None:
        devices.cut(device)
        presence.revoked(device)

    devices.announce = presence.known
    devices.disconnect = connections.disconnect
    people.on_known = presence.known
    people.on_revoked = revoked


def _revoking(devices: DeviceRegistry, presence: PresentDevices) -> Any:
    """Revokes a device for the whole fleet; works without the bus, and says if it is stored yet."""

    async def revoke(device: str) -> dict[str, Any]:
        revocation = await devices.revoke(device)
        presence.revoked(device)
        if revocation.stored and not revocation.found:
            raise Refusal("not_found", f"Device {device!r:.200} not found.")
        if revocation.stored:
            return {"stored": True}
        return {
            "stored": False,
            "message": "The device is disconnected from this gateway. The other machines are told "
            "when the gateway is connected again.",
        }

    return revoke


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _report(task: asyncio.Task[None]) -> None:
    """A task that ends by itself is an error of Fairlead."""
    if not task.cancelled() and (problem := task.exception()) is not None:
        log.error("a task of the fleet ended", exc_info=problem)
