"""The parts of a gateway, in three groups: its machines, its devices and its sessions.

`open_gateway` opens the groups in this order, because each one uses those before it. What a part
needs at the end is pushed on the stack where the part is created, so that it is closed in the
opposite order.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.gateway.devices.joining_devices import FleetCodes, FleetJoining
from fairlead.fleet.gateway.devices.people import FleetPeople, device_secret
from fairlead.fleet.gateway.devices.present_devices import PresentDevices
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.documents import FleetDocuments
from fairlead.fleet.gateway.highest_intents import HighestIntents
from fairlead.fleet.gateway.http.uploads import GatewayUploads
from fairlead.fleet.gateway.metrics import IntentMetrics
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.moving.adoption import Adoption
from fairlead.fleet.gateway.moving.archive import LogArchive
from fairlead.fleet.gateway.moving.moves import Moves
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.replica_documents import ReplicaDocuments
from fairlead.fleet.gateway.replica_log import CopyReader, StreamCopies
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.uploads import Uploads
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.sockets.connections import SocketConnections
from fairlead.server.view.lobby import Lobby
from fairlead.store.revocations import RevocationFile
from fairlead.version import VERSION

__all__ = [
    "DeviceParts",
    "Folders",
    "NodeParts",
    "SessionParts",
    "connect_devices",
    "open_devices",
    "open_nodes",
    "open_sessions",
]


NOT_STORED = (
    "The device is disconnected from all gateways and machines that are connected to the bus. The bus "
    "cannot store this now; the gateway tries again until it can."
)
NOT_SENT = (
    "The device is disconnected from this gateway, which has no connection to the bus now. The other "
    "gateways and machines are told when it is connected again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Where a gateway stores files."""

    data: Path
    """Uploads and notices."""
    archive: Path | None
    """Logs that are kept for longer than on the bus, if there is such a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParts:
    """What a gateway knows of its machines, and how it asks them."""

    hub: Hub
    lobby: Lobby
    directory: Directory
    intents: IntentMetrics
    client: NodeClient
    mirrors: Mirrors
    presence: PresentDevices


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceParts:
    """The devices of the fleet, which all gateways share."""

    people: FleetPeople
    keys: DeviceKeys
    registry: DeviceRegistry
    revoke: Callable[[str], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """The sessions of all machines: followed, read from copies, and moved."""

    uploads: GatewayUploads
    highest: HighestIntents
    documents: FleetDocuments
    archived: tuple[LogArchive, ...]
    """The archive of logs, if there is one."""
    replicas: ReplicaDocuments
    moves: Moves


def open_nodes(stack: AsyncExitStack, bus: Bus, gateway_id: str, limits: Limits) -> NodeParts:
    """What follows the machines of the fleet."""
    hub = Hub(limits)
    lobby = Lobby(hub, f"gateway.{uuid.uuid4().hex[:12]}", limits.lobby_every_s)
    directory = Directory(lobby, version=VERSION)
    intents = IntentMetrics()
    client = NodeClient(bus, directory.is_here, directory.away, intents.carried_out)
    mirrors = Mirrors(hub, bus, client, gateway_id)
    stack.push_async_callback(mirrors.close)
    presence = PresentDevices(lobby, bus, gateway_id)
    stack.push_async_callback(presence.close)
    return NodeParts(
        hub=hub,
        lobby=lobby,
        directory=directory,
        intents=intents,
        client=client,
        mirrors=mirrors,
        presence=presence,
    )


async def open_devices(
    stack: AsyncExitStack, bus: Bus, presence: PresentDevices, limits: Limits, data: Path
) -> DeviceParts:
    """What pairs, recognizes and revokes devices for the whole fleet."""
    people = FleetPeople(bus)
    stack.push_async_callback(people.close)
    keys = DeviceKeys(await device_secret(bus))
    registry = DeviceRegistry(
        people,
        limits,
        revocation_file=RevocationFile(data / "revoked-devices"),
        keys=keys,
        shared_codes=FleetCodes(bus),
        joining=FleetJoining(bus, people, limits),
    )
    stack.push_async_callback(registry.revocations.close)
    revoke = _revoking(bus, registry, presence)
    return DeviceParts(people=people, keys=keys, registry=registry, revoke=revoke)


async def open_sessions(
    stack: AsyncExitStack,
    bus: Bus,
    nodes: NodeParts,
    devices: DeviceParts,
    folders: Folders,
    limits: Limits,
    base_url: str,
) -> SessionParts:
    """What serves the sessions of all machines, those of machines that are away included."""
    directory, client = nodes.directory, nodes.client
    uploads = GatewayUploads(
        Uploads(folders.data / "uploads", limits),
        client,
        bus.bucket("uploads"),
        nodes.presence.gateways,
    )
    highest = HighestIntents(bus.bucket("clients"))
    documents = FleetDocuments(
        nodes.hub,
        directory=directory,
        mirrors=nodes.mirrors,
        client=client,
        presence=nodes.presence,
        uploads=uploads,
        placements=bus.bucket("clients"),
        highest=highest,
        revoke=devices.revoke,
    )
    archived = await _open_archive(stack, folders.archive, bus, directory)
    readers: tuple[CopyReader, ...] = (StreamCopies(bus), *archived)
    replicas = ReplicaDocuments(
        nodes.hub, readers, limits, is_here=directory.is_here, follow=nodes.mirrors.follow
    )
    documents.replica = replicas.offer
    directory.on_moved = _handing_over(nodes.mirrors, replicas)
    adoption = Adoption(readers, directory.session_of)
    moves = Moves(bus, client, directory, adoption, lambda name: f"{base_url}/s/{name}")
    stack.push_async_callback(moves.close)
    return SessionParts(
        uploads=uploads,
        highest=highest,
        documents=documents,
        archived=archived,
        replicas=replicas,
        moves=moves,
    )


def connect_devices(
    devices: DeviceParts, presence: PresentDevices, connections: SocketConnections
) -> None:
    """What one gateway does with a device, all of them show."""
    registry = devices.registry

    def revoked(device: str) -> None:
        registry.cut(device)
        presence.revoked(device)

    registry.announce = presence.known
    registry.disconnect = connections.disconnect
    devices.people.on_known = presence.known
    devices.people.on_revoked = revoked


async def _open_archive(
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


def _revoking(
    bus: Bus, devices: DeviceRegistry, presence: PresentDevices
) -> Callable[[str], Awaitable[dict[str, Any]]]:
    """Revokes a device for the whole fleet; works without the bus, and says if it is stored yet."""

    async def revoke(device: str) -> dict[str, Any]:
        revocation = await devices.revoke(device)
        presence.revoked(device)
        if revocation.stored and not revocation.found:
            raise Refusal("not_found", f"Device {device!r:.200} not found.")
        if revocation.stored:
            return {"stored": True}
        return {"stored": False, "message": NOT_STORED if bus.connected else NOT_SENT}

    return revoke
