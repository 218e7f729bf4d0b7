"""Two machines and two gateways on a real nats-server, each with its own key and permissions."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.protocol.permissions import Member
from tests.fleet.bus.server import Ground, running_bus
from tests.fleet.ground import Fleet, text_of
from tests.server.conftest import PATIENT, Client

NODES, GATEWAYS = ("node0", "node1"), ("gate0", "gate1")


class Connections:
    """Hands out connections that were made before."""

    def __init__(self, buses: Iterator[NatsBus]) -> None:
        self._buses = buses

    def connect(self) -> NatsBus:
        return next(self._buses)


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with running_bus(tmp_path / "bus") as ground:
        yield ground


@pytest.fixture
async def team(ground: Ground, tmp_path: Path) -> AsyncIterator[Fleet]:
    keys = {name: NodeKey() for name in (*NODES, *GATEWAYS)}
    members = {name: Member(name, key.public) for name, key in keys.items()}
    await ground.servers[0].set_members(
        Members(
            admin=ground.admin.public,
            gateways=tuple(members[name] for name in GATEWAYS),
            nodes=tuple(members[name] for name in NODES),
        )
    )
    tls = tls_context(ground.certificates.authority)
    buses = [
        NatsBus(ground.addresses, key, tls, name=name, member=name) for name, key in keys.items()
    ]
    made = Fleet(tmp_path, PATIENT)
    made.broker = Connections(iter(buses))  # type: ignore[assignment]
    try:
        for bus in buses:
            bus.start()
            assert await bus.wait_connected(20), bus.problem
        for name in NODES:
            await made.add_node(name)
        for name in GATEWAYS:
            await made.add_gateway(name)
        await made.known()
        yield made
    finally:
        await made.close()
        for bus in buses:
            await bus.close()


def decision(session: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "session": session,
        "request_id": row["id"],
        "input_sha256": row["input_sha256"],
        "decision": "allow",
    }


@pytest.mark.timeout(240)
async def test_a_fleet_on_nats_does_its_work_with_its_permissions(
    team: Fleet, ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fairlead")
    node, gate, other = team.nodes[0], team.gateways[0], team.gateways[1]
    client = await gate.client()
    session = await client.new_session(
        [{"ask": {"id": "r1", "input": {"command": "echo hi"}}}, {"wait": 1}, {"say": "done"}]
    )
    pending = await client.pending(session)
    result = await client.intend("decide", **decision(session, pending))
    assert result["ok"], result
    await text_of(client, session, "done")

    content = bytes(range(256)) * 4_000
    (node.project / "large.bin").write_bytes(content)
    path = f"/api/files?path={node.project}/large.bin&session={session}"
    status, body, _ = await gate.http(path, Authorization=f"Bearer {client.token}")
    assert (status, body) == (200, content)

    victim = await other.client("operator")
    device = (await other.service.devices.device_of(victim.token, "")).id  # type: ignore[union-attr]
    started = time.monotonic()
    assert (await client.intend("revoke_device", device=device))["ok"]
    assert json.loads(await _last(victim))["type"] == "bye"
    assert time.monotonic() - started < 5  # A second on a machine with nothing else to do.

    os.kill(ground.servers[0].pid, signal.SIGKILL)
    await gate.until(lambda: ground.servers[0].restarts == 1 and gate.bus.connected)
    await team.known()
    again = await client.new_session([{"say": "after the crash"}])
    await text_of(client, again, "after the crash")
    assert "ermissions" not in caplog.text


async def _last(client: Client) -> str:
    text = "{}"
    try:
        async with asyncio.timeout(30):
            while True:
                text = str(await client.socket.recv())
    except websockets.ConnectionClosed:
        return text
