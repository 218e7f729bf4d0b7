"""Real nats-servers for tests: single, or three in a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_admin import LEASE_S, prepare_store
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nats_server import NatsServer, free_port
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_binary import find_server
from fairlead.fleet.bus.server_config import ClusterSettings, Members, ServerSettings
from fairlead.fleet.protocol.permissions import Member

SOON_S = 60.0
"""Other tests may run at the same time."""


def member(key: NodeKey) -> Member:
    return Member(key.id, key.public)


class NatsHarness:
    """Running servers, and the keys that may use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.admin = NodeKey()
        self.gateways = [NodeKey(), NodeKey()]
        self.nodes = [NodeKey(), NodeKey()]
        self.servers: list[NatsServer] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.certificates = ensure_certificates(folder, ["127.0.0.1", "localhost"])
        self._open: list[NatsBus] = []

    @property
    def members(self) -> Members:
        return Members(
            admin=self.admin.public,
            gateways=tuple(member(each) for each in self.gateways),
            nodes=tuple(member(each) for each in self.nodes),
        )

    @property
    def addresses(self) -> list[str]:
        return [f"tls://127.0.0.1:{server.settings.port}" for server in self.servers]

    async def bus(self, key: NodeKey, addresses: list[str] | None = None) -> NatsBus:
        """A connection with this key."""
        bus = NatsBus(addresses or self.addresses, key, tls_context(self.certificates.authority))
        self._open.append(bus)
        bus.start()
        assert await bus.wait_connected(SOON_S), bus.problem
        return bus

    async def kill_for_good(self, place: int) -> None:
        """Kill a server that is not started again, as a machine that has failed."""
        server = self.servers[place]
        assert server._watching is not None
        server._watching.cancel()
        await asyncio.wait([server._watching])
        os.kill(server.pid, signal.SIGKILL)

    async def close(self) -> None:
        await asyncio.gather(*(bus.close() for bus in self._open))

    def settings(self, place: int = 0, cluster: ClusterSettings | None = None) -> ServerSettings:
        return ServerSettings(
            host="127.0.0.1",
            port=free_port(),
            certificate=self.certificates.certificate,
            key=self.certificates.key,
            store=self.folder / f"store{place}",
            name=f"server{place}",
            websocket_port=free_port() if cluster is None else None,
            cluster=cluster,
            # A test kills processes, not the machine.
            sync_always=False,
        )


@contextlib.asynccontextmanager
async def running_bus(
    folder: Path, *, count: int = 1, lease_s: int = LEASE_S
) -> AsyncIterator[NatsHarness]:
    """One server, or a cluster of `count`, with all buckets and streams."""
    nats = NatsHarness(folder)
    program = await find_server()
    ports = [free_port() for _ in range(count)]
    routes = tuple(f"127.0.0.1:{port}" for port in ports)
    async with contextlib.AsyncExitStack() as stack:
        for place, port in enumerate(ports):
            cluster = ClusterSettings(name="test", port=port, routes=routes) if count > 1 else None
            server = NatsServer(
                program,
                folder / f"server{place}",
                nats.settings(place, cluster),
                nats.members,
            )
            nats.servers.append(await stack.enter_async_context(server))
        stack.push_async_callback(nats.close)
        tls = tls_context(nats.certificates.authority)
        await prepare_store(nats.addresses, nats.admin, tls, replicas=count, lease_s=lease_s)
        yield nats
