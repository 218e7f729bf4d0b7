"""A fleet on a real nats-server, in which every machine has its own key and its own permissions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
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
    nats: NatsHarness,
    folder: Path,
    nodes: Sequence[str],
    gateways: Sequence[str],
    through: Mapping[str, Sequence[str]] | None = None,
) -> AsyncIterator[Fleet]:
    """A fleet without machines, whose connections are those of `nodes` and then of `gateways`.

    `through` has the addresses of the bus for those machines that use other ones.
    """
    through = through or {}
    keys = {name: NodeKey() for name in (*nodes, *gateways)}
    members = {name: Member(name, key.public) for name, key in keys.items()}
    allowed = Members(
        admin=nats.admin.public,
        gateways=tuple(members[name] for name in gateways),
        nodes=tuple(members[name] for name in nodes),
    )
    for server in nats.servers:
        await server.set_members(allowed)
    tls = tls_context(nats.certificates.authority)
    buses = [
        NatsBus(through.get(name, nats.addresses), key, tls, name=name, member=name)
        for name, key in keys.items()
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
