"""A fleet in one process: real servers as nodes, real gateways, and a bus that a test can cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.memory_bus import MemoryBroker, MemoryBus
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.gateway import Gateway, open_gateway
from fairlead.fleet.node.node import Node, open_node
from fairlead.server.limits import Limits
from fairlead.transcript.state.changes import apply
from tests.server.conftest import PATIENT, Client, Served, serving
from tests.waiting import until

__all__ = ["Fleet", "FleetGateway", "FleetNode", "fleet", "text_of"]

PATIENCE_S = 60.0


class FleetNode:
    """A machine of the fleet."""

    def __init__(self, served: Served, node: Node, bus: MemoryBus, stack: AsyncExitStack) -> None:
        self.served = served
        self.node = node
        self.bus = bus
        self.id = node.id
        self.project = served.project
        self.service = served.service
        self._stack = stack

    async def stop(self) -> None:
        """Stop the server and its connection."""
        await self._stack.aclose()

    def told(self, kind: str) -> list[dict[str, Any]]:
        """What the agents of this machine were told on stdin."""
        log = self.project.parent / "agent.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [each for each in map(json.loads, lines) if each.get("type") == kind]


class FleetGateway(Served):
    """A gateway as a test uses it."""

    def __init__(self, gateway: Gateway, bus: MemoryBus, project: Path) -> None:
        super().__init__(gateway, project)  # type: ignore[arg-type]
        self.gateway = gateway
        self.bus = bus

    async def until(self, what: Any) -> Any:
        """Wait for something to become true."""
        return await until(what, PATIENCE_S)

    def rows(self, section: str) -> dict[str, Any]:
        """The rows of the lobby."""
        return {row.id: row for row in self.gateway.lobby.section(section)}


class Fleet:
    """Two machines and two gateways, unless told otherwise."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.limits = limits
        self.broker = MemoryBroker()
        self.nodes: list[FleetNode] = []
        self.gateways: list[FleetGateway] = []
        self._stack = AsyncExitStack()

    async def add_node(self, node_id: str, **more: Any) -> FleetNode:
        """Start a machine; one of the same id before it must have been stopped.

        `serving` starts its server, which has the scripted agent unless this is given.
        """
        folder = self.folder / node_id
        folder.mkdir(exist_ok=True)
        role = more.pop("fleet_role", "owner")
        copied = more.pop("copied_folders", ())
        start = more.pop("serving", serving)
        stack = AsyncExitStack()
        served = await stack.enter_async_context(start(folder, self.limits, **more))
        bus = self.broker.connect()
        node = await stack.enter_async_context(
            open_node(
                served.service,
                bus,
                node_id=node_id,
                name=f"{node_id}-name",
                fleet_role=role,
                copied_folders=copied,
            )
        )
        made = FleetNode(served, node, bus, stack)
        self._stack.push_async_callback(stack.aclose)
        self.nodes.append(made)
        return made

    async def add_gateway(self, name: str, **more: Any) -> FleetGateway:
        """Start a gateway."""
        bus = self.broker.connect()
        folder = self.folder / f"gateway-{name}"
        gateway = await self._stack.enter_async_context(
            open_gateway(bus, data=folder, gateway_id=name, limits=self.limits, **more)
        )
        running = asyncio.create_task(gateway.run())

        async def stop() -> None:
            gateway.stop()
            await asyncio.wait_for(running, 30)

        self._stack.push_async_callback(stop)
        made = FleetGateway(gateway, bus, self.nodes[0].project)
        self.gateways.append(made)
        await until(lambda: gateway._server.started, PATIENCE_S)
        return made

    async def known(self) -> None:
        """Wait until every gateway has the lobby of every machine."""
        ids = {node.id for node in self.nodes}
        for each in self.gateways:
            directory = each.gateway.directory

            def knows_all(directory: Directory = directory) -> bool:
                nodes = directory.nodes()
                return {each.id for each in nodes if each.here and each.lobby.is_known} >= ids

            await until(knows_all, PATIENCE_S)

    async def close(self) -> None:
        """Stop all machines and gateways."""
        await self._stack.aclose()
        for gateway in self.gateways:
            await gateway.close_sockets()


@asynccontextmanager
async def fleet(
    folder: Path, nodes: int = 2, gateways: int = 2, limits: Limits = PATIENT, **more: Any
) -> AsyncIterator[Fleet]:
    """A fleet whose gateways know all machines."""
    made = Fleet(folder, limits)
    try:
        for number in range(nodes):
            await made.add_node(f"node{number}", **more)
        for number in range(gateways):
            await made.add_gateway(f"gate{number}")
        await made.known()
        yield made
    finally:
        await made.close()


async def text_of(client: Client, session: str, wanted: str) -> None:
    """Follow a session until a text appears in it, by applying what arrives."""
    await client.say(type="open", document=session)
    state: dict[str, Any] = {}
    seq = -1
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = await client.hear(document=session)
            if message["type"] == "snapshot":
                state, seq = message["state"], message["seq"]
            elif message["type"] == "changes" and seq >= 0:  # Earlier ones are of an earlier open.
                assert message["from_seq"] == seq
                state, seq = apply(state, message["changes"]), message["seq"]
            if any(wanted in str(item.get("text", "")) for item in state.get("items", ())):
                return
