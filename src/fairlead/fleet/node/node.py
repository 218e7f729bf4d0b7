"""Assembles a node: a server, and the tasks that speak for its sessions on the bus.

    async with open_service(…) as service, open_node(service, bus, node_id=id, name="desk"):
        await service.run()

The server works as it does without a bus; its own sockets and its own devices stay.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
from fairlead.server.service import Service

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
    speaker = Speaker(service.registry.hub, bus, node_id)
    devices = KnownDevices(bus, fleet_role)
    sessions = service.registry.sessions
    departures = Departures(sessions, service.store.folder / "departures", node_id, name)
    arrivals = Arrivals(sessions, service.store.folder / "arrivals")
    ownership = Ownership(sessions, bus, node_id)
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
    copies = None
    if copied_folders:
        copies = LogCopies(
            service.registry.sessions,
            service.registry.lobby,
            service.store,
            bus,
            node_id,
            copied_folders,
            on_fenced=_log_fenced,
        )
    beats = Beats(
        bus,
        node_id,
        incarnation,
        name=name,
        version=version("fairlead"),
        store=service.store,
        speaker=speaker,
        cli_version=lambda: sessions.starter.version,
        replicated=None if copies is None else copies.replicator.replicated,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(devices.close)
        sessions.device_elsewhere = devices.known
        devices.on_revoked.append(service.registry.revoked)
        await devices.start()
        stack.push_async_callback(departures.close)
        stack.push_async_callback(arrivals.close)
        await arrivals.start()
        stack.push_async_callback(ownership.close)
        await ownership.start()
        stack.push_async_callback(requests.close)
        await requests.start()
        for task in (devices, speaker, beats, departures, arrivals, ownership):
            work = task.run()
            stack.push_async_callback(_end, _started(work))
        stack.push_async_callback(_end, _started(sessions.starter.look_up_version()))
        if copies is not None:
            stack.push_async_callback(_end, _started(copies.run()))
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

        async def drain(payload: bytes) -> bytes:
            await node.drain(decode(payload, DrainAsk).draining)
            return encode(Answer())

        requests.add("drain", drain)
        channels = TerminalChannels(bus, node_id, service.terminals, devices)
        requests.add("terminal", channels.answer)
        stack.callback(channels.close)
        relay = NoticeRelay(bus, node_id)
        requests.add("notice", relay.answer)
        await service.notices.relay_to(relay.send)
        yield node


def _log_fenced(session: str, generation: int) -> None:
    log.warning(
        "session %s was adopted by another machine (generation %d); its log is no longer copied",
        session,
        generation,
    )


def _started(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.create_task(work)
    task.add_done_callback(_report)
    return task


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _report(task: asyncio.Task[None]) -> None:
    """A task that ends by itself is an error of Fairlead."""
    if not task.cancelled() and (problem := task.exception()) is not None:
        log.error("a task of the fleet ended", exc_info=problem)
