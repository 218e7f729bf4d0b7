"""A fleet on a real nats-server, in which every machine has its own key and its own permissions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.protocol.permissions import Member
from tests.fleet.bus.nats_harness import NatsHarness
from tests.fleet.fleet_harness import Fleet
from tests.server.conftest import PATIENT

__all__ = ["Connections", "nats_fleet"]


class Connections:
    """Hands out connections that were made before."""

    def __init__(self, buses: Iterator[NatsBus]) -> None:
        self._buses = buses

    def connect(self) -> NatsBus:
        """The next connection."""
        return next(self._buses)


@asynccontextmanager
async def nats_fleet(
    nats: NatsHarness, folder: Path, nodes: Sequence[str], gateways: Sequence[str]
) -> AsyncIterator[Fleet]:
    """A fleet without machines, whose connections are those of `nodes` and then of `gateways`."""
    keys = {name: NodeKey() for name in (*nodes, *gateways)}
    members = {name: Member(name, key.public) for name, key in keys.items()}
    await nats.servers[0].set_members(
        Members(
            admin=nats.admin.public,
            gateways=tuple(members[name] for name in gateways),
            nodes=tuple(members[name] for name in nodes),
        )
    )
    tls = tls_context(nats.certificates.authority)
    buses = [
        NatsBus(nats.addresses, key, tls, name=name, member=name) for name, key in keys.items()
    ]
    made = Fleet(folder, PATIENT)
    made.broker = Connections(iter(buses))  # type: ignore[assignment]
    try:
        for bus in buses:
            bus.start()
            assert await bus.wait_connected(60), bus.problem
        yield made
    finally:
        await made.close()
        for bus in buses:
            await bus.close()
