"""A fleet of real processes that can be killed: nats-servers, nodes and two gateways.

The data folders are written as joining writes them, so that the processes are those of the commands.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fairlead.commands.fleet.given_bus import BusMembership, store_membership
from fairlead.fleet.bus.nats_server import free_port
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.enrollment.enrolling import BusAccess
from fairlead.fleet.enrollment.membership import Membership, store
from fairlead.fleet.enrollment.roster import (
    EnrolledGateway,
    EnrolledNode,
    Roster,
    SignedList,
    admission_text,
)
from fairlead.fleet.protocol.permissions import Member
from fairlead.store.database.folder import DataFolder
from tests.faults.fault_harness import scripted_agent
from tests.faults.kill_harness import pair
from tests.faults.server_forker import Server, ServerForker
from tests.fleet.bus.nats_harness import NatsHarness, running_bus
from tests.waiting import until

__all__ = ["FleetProcesses", "fleet_processes"]

PATIENCE_S = 120.0
ASK_S = 0.2
ASKED_AT_ONCE = 3
"""Questions to each gateway. More of them are a load of their own, which slows a busy machine down."""


class FleetProcesses:
    """The processes, by name: `node0`, `node1` …, `gate0`, `gate1`, and the nats-servers."""

    def __init__(
        self, folder: Path, nats: NatsHarness, forker: ServerForker, agent: Path | None = None
    ) -> None:
        """`agent` is the CLI of all nodes, instead of a scripted one for each."""
        self.folder = folder
        self.nats = nats
        self._forker = forker
        self._agent = agent
        self.running: dict[str, Server] = {}
        self.nodes: dict[str, str] = {}
        """Name -> id."""
        self.ports = {"gate0": free_port(), "gate1": free_port()}
        self.token = ""
        self._replicas = len(nats.servers)
        self._asking = ThreadPoolExecutor(4 * ASKED_AT_ONCE)

    async def write_folders(self, nodes_wanted: int = 2) -> None:
        """What joining leaves in the data folders, and who may connect to the bus."""
        authority = self.nats.certificates.authority.read_text("ascii")
        access = BusAccess(servers=tuple(self.nats.addresses), authority=authority)
        nodes = [self._write_node(f"node{n}", access) for n in range(nodes_wanted)]
        bus = self._data("gate0") / "bus"
        bus.mkdir(mode=0o700)
        root, key = NodeKey.stored_in(bus / "admin.key"), NodeKey.stored_in(bus / "gateway.key")
        second = self._write_gateway(root, access)
        content = SignedList(nodes=tuple(nodes), gateways=(second,), number=1)
        Roster(bus / "nodes.json").store(content.signed_by(root))
        members = Members(
            admin=root.public,
            gateways=(Member(key.id, key.public), Member(second.id, second.public)),
            nodes=tuple(Member(node.id, node.public) for node in nodes),
        )
        for server in self.nats.servers:
            await server.set_members(members)

    def _write_node(self, name: str, access: BusAccess) -> EnrolledNode:
        data = self._data(name)
        key = NodeKey.stored_in(data / "node.key")
        store(
            data,
            Membership(node=key.id, name=name, servers=access.servers, authority=access.authority),
        )
        (self.folder / name / "project").mkdir()
        self.nodes[name] = key.id
        return EnrolledNode(id=key.id, public=key.public, name=name)

    def _write_gateway(self, root: NodeKey, access: BusAccess) -> EnrolledGateway:
        bus = self._data("gate1") / "bus"
        bus.mkdir(mode=0o700)
        key, signer = NodeKey.stored_in(bus / "gateway.key"), NodeKey.stored_in(bus / "admin.key")
        membership = BusMembership(name="gate1", access=replace(access, root=root.public))
        store_membership(bus, membership)
        entry = EnrolledGateway(
            id=key.id, public=key.public, name="gate1", signer=signer.public,
            admitted_by=root.public,
        )  # fmt: skip
        return replace(entry, admission=root.sign(admission_text(entry)).decode())

    def _data(self, name: str) -> Path:
        data = self.folder / name / "data"
        data.parent.mkdir(parents=True, exist_ok=True)
        folder = DataFolder(data)
        folder.claim()
        folder.release()
        return data

    def log(self, node: str) -> Path:
        """What the CLIs of a node received."""
        return self.folder / node / "agent.log"

    async def start(self, name: str) -> float:
        """Start a process again; how long it took until it was ready."""
        began = time.monotonic()
        self.running[name] = await self._forker.start(*self.arguments(name))
        return time.monotonic() - began

    def arguments(self, name: str) -> list[str]:
        """The command of a process."""
        data = ["--data", str(self.folder / name / "data")]
        if name.startswith("node"):
            files = self._forker.home / ".claude" / "projects"
            agent = self._agent or scripted_agent(self.folder / name, self.log(name), files)
            root = self.folder if self._agent else self.folder / name
            more = ["--agent", str(agent), "--root", str(root)]
            return ["node", "--no-browser", "--port", "0", *data, *more]
        if name != "gate0":
            return ["gateway", "--port", str(self.ports[name]), *data]
        bus = [word for address in self.nats.addresses for word in ("--bus", address)]
        return [
            "gateway", "--port", str(self.ports[name]), *data, *bus,
            "--bus-ca", str(self.nats.certificates.authority),
            "--bus-replicas", str(self._replicas),
        ]  # fmt: skip

    async def pair(self) -> str:
        """A token of a new owner."""
        return await asyncio.to_thread(pair, self.running["gate0"])

    async def kill(self, name: str) -> None:
        """Kill a process of a command, and wait until it is gone."""
        self.running[name].kill()
        await self.ended(name)

    async def ended(self, name: str) -> None:
        """Wait until a process is gone."""
        await self._forker.ended(self.running[name])

    async def kill_bus(self, place: int) -> float:
        """Kill a nats-server, wait until it listens again; how long that took."""
        server = self.nats.servers[place]
        began, restarts = time.monotonic(), server.restarts
        offset = server._log_size()
        os.kill(server.pid, signal.SIGKILL)
        await until(lambda: server.restarts > restarts, PATIENCE_S)
        assert await server._logged(offset, ("Server is ready",), PATIENCE_S), "it did not start"
        return time.monotonic() - began

    async def healed(self) -> float:
        """Wait until both gateways reach both nodes; how long that took.

        A request that was sent into the gap may wait for its timeout, so there is always a new one.
        """
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        asking: dict[asyncio.Future[bool], str] = {}
        missing = set(self.ports)
        while missing:
            assert time.monotonic() - began < PATIENCE_S, f"{missing} do not reach all machines"
            waiting = list(asking.values())
            for name in (each for each in missing if waiting.count(each) < ASKED_AT_ONCE):
                asking[loop.run_in_executor(self._asking, self._reaches_all, name)] = name
            await asyncio.wait(asking, timeout=ASK_S, return_when=asyncio.FIRST_COMPLETED)
            for task in [each for each in asking if each.done()]:
                name = asking.pop(task)
                if task.result():
                    missing.discard(name)
            await asyncio.sleep(ASK_S / 4)
        took = time.monotonic() - began
        await asyncio.gather(*asking)
        return took

    def _reaches_all(self, name: str) -> bool:
        health = self.get(name, "/api/health")
        machines = (health or {}).get("machines", {})
        missing = set(machines.get("missing", ())) & set(self.nodes)
        return machines.get("answered", 0) >= len(self.nodes) and not missing

    def get(self, name: str, path: str) -> Any:
        """The JSON of a route of a gateway; None if there is no answer."""
        url = f"http://127.0.0.1:{self.ports[name]}{path}"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None


@asynccontextmanager
async def fleet_processes(
    folder: Path, servers: int = 1, nodes: int = 2, agent: Path | None = None
) -> AsyncIterator[FleetProcesses]:
    """A running fleet on one nats-server or a cluster of three."""
    async with AsyncExitStack() as stack:
        nats = await stack.enter_async_context(running_bus(folder / "bus", count=servers))
        forker = await stack.enter_async_context(ServerForker(folder))
        made = FleetProcesses(folder, nats, forker, agent)
        await made.write_folders(nodes)
        for name in ("gate0", "gate1", *made.nodes):
            await made.start(name)
        made.token = await made.pair()
        await made.healed()
        yield made
