"""Assembles a node: a server, and the tasks that speak for its sessions on the bus.

    async with open_service(…) as service, open_node(service, bus, node_id=id, name="desk"):
        await service.run()

The server works as it does without a bus; its own sockets and its own devices stay.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.node.beats import Beats
from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.node.log_copies import LogCopies
from fairlead.fleet.node.moving.arrivals import Arrivals
from fairlead.fleet.node.moving.departures import Departures
from fairlead.fleet.node.moving.move_requests import MoveRequests
from fairlead.fleet.node.moving.ownership import Ownership
from fairlead.fleet.node.notice_relay import NoticeRelay
from fairlead.fleet.node.requests import NodeRequests
from fairlead.fleet.node.speaker import Speaker
from fairlead.fleet.node.terminal_channels import TerminalChannels
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Answer, DrainAsk, decode, encode
from fairlead.server.background import run_until_closed
from fairlead.server.service import Service
from fairlead.version import VERSION

__all__ = ["Node", "open_node"]

log = logging.getLogger("fairlead.fleet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node that is connected to a bus."""

    id: str
    incarnation: str
    """Another one after each start."""
    speaker: Speaker
    beats: Beats
    copies: LogCopies | None
    """Set if logs may leave the machine."""
    requests: NodeRequests
    devices: KnownDevices
    departures: Departures
    arrivals: Arrivals

    async def drain(self, draining: bool = True) -> None:
        """Accept no new sessions of the fleet from now on, or accept them again."""
        self.beats.draining = draining
        await self.beats.send()


@asynccontextmanager
async def open_node(
    service: Service,
    bus: Bus,
    *,
    node_id: str,
    name: str,
    fleet_role: str = "owner",
    copied_folders: Sequence[Path] = (),
) -> AsyncIterator[Node]:
    """Connect a server to a fleet.

    `node_id` identifies the machine in subjects, `name` is what people call it. `fleet_role` is the
    highest role that devices of the fleet get on this machine. The logs of sessions below
    `copied_folders` are copied to the bus, so that they can be read while this machine is away.
    """
    subjects.check_token(node_id)
    incarnation = uuid.uuid4().hex[:12]
    sessions, folder = service.registry.sessions, service.store.folder
    speaker = Speaker(service.registry.hub, bus, node_id)
    devices = KnownDevices(bus, fleet_role)
    departures = Departures(sessions, folder / "departures", node_id, name)
    arrivals = Arrivals(sessions, folder / "arrivals")
    moves = MoveRequests(departures, arrivals, devices)
    requests = NodeRequests(
        bus,
        node_id,
        incarnation,
        registry=service.registry,
        api=service.api,
        speaker=speaker,
        devices=devices,
        routes=moves.routes,
    )
    requests.add("move", moves.answer)
    copies = _log_copies(service, bus, node_id, copied_folders)
    beats = Beats(
        bus,
        node_id,
        incarnation,
        name=name,
        version=VERSION,
        store=service.store,
        speaker=speaker,
        cli_version=lambda: sessions.starter.version,
        replicated=None if copies is None else copies.replicator.replicated,
    )
    node = Node(
        id=node_id,
        incarnation=incarnation,
        speaker=speaker,
        beats=beats,
        copies=copies,
        requests=requests,
        devices=devices,
        departures=departures,
        arrivals=arrivals,
    )
    async with AsyncExitStack() as stack:
        await _start(stack, node, service, Ownership(sessions, bus, node_id))
        await _answer_requests(stack, node, service, bus)
        yield node


def _log_copies(
    service: Service, bus: Bus, node_id: str, folders: Sequence[Path]
) -> LogCopies | None:
    """Copies the logs of sessions below some folders to the bus, if there are such folders."""
    if not folders:
        return None
    return LogCopies(
        service.registry.sessions,
        service.registry.lobby,
        service.store,
        bus,
        node_id,
        folders,
        on_fenced=_log_fenced,
    )


async def _start(stack: AsyncExitStack, node: Node, service: Service, ownership: Ownership) -> None:
    """Read what the bus has, then speak for the sessions until the node is closed."""
    sessions, devices = service.registry.sessions, node.devices
    stack.push_async_callback(devices.close)
    sessions.device_elsewhere = devices.known
    devices.on_revoked.append(service.registry.revoked)
    await devices.start()
    stack.push_async_callback(node.departures.close)
    stack.push_async_callback(node.arrivals.close)
    await node.arrivals.start()
    stack.push_async_callback(ownership.close)
    await ownership.start()
    stack.push_async_callback(node.requests.close)
    await node.requests.start()
    for work in (
        devices.run(),
        node.speaker.run(),
        node.beats.run(),
        node.departures.run(),
        node.arrivals.run(),
        ownership.run(),
        sessions.starter.look_up_version(),
    ):
        run_until_closed(stack, work)
    if node.copies is not None:
        run_until_closed(stack, node.copies.run())


async def _answer_requests(stack: AsyncExitStack, node: Node, service: Service, bus: Bus) -> None:
    """Answer the requests of gateways that are not about one session: drains, terminals, notices."""

    async def drain(payload: bytes) -> bytes:
        await node.drain(decode(payload, DrainAsk).draining)
        return encode(Answer())

    node.requests.add("drain", drain)
    channels = TerminalChannels(bus, node.id, service.terminals, node.devices)
    node.requests.add("terminal", channels.answer)
    stack.callback(channels.close)
    relay = NoticeRelay(bus, node.id)
    node.requests.add("notice", relay.answer)
    await service.notices.relay_to(relay.send)


def _log_fenced(session: str, generation: int) -> None:
    log.warning(
        "session %s was adopted by another machine (generation %d); its log is no longer copied",
        session,
        generation,
    )
