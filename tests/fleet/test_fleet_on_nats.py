"""Two machines and two gateways on a real nats-server, each with its own key and permissions."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from tests.fleet.bus.nats_harness import NatsHarness, running_bus
from tests.fleet.fleet_harness import Fleet, text_of
from tests.fleet.nats_fleet import nats_fleet
from tests.server.conftest import Client
from tests.server.notices.conftest import Phone
from tests.server.notices.push_service import PushService

NODES, GATEWAYS = ("node0", "node1"), ("gate0", "gate1")


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsHarness]:
    async with running_bus(tmp_path / "bus") as nats:
        yield nats


@pytest.fixture
async def push() -> AsyncIterator[PushService]:
    async with PushService() as service:
        yield service


@pytest.fixture
async def team(nats: NatsHarness, tmp_path: Path) -> AsyncIterator[Fleet]:
    async with nats_fleet(nats, tmp_path, NODES, GATEWAYS) as made:
        for name in NODES:
            await made.add_node(name)
        for name in GATEWAYS:
            await made.add_gateway(name, push_to_loopback=True)
        await made.known()
        yield made


def decision(session: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "session": session,
        "request_id": row["id"],
        "input_sha256": row["input_sha256"],
        "decision": "allow",
    }


@pytest.mark.timeout(240)
async def test_a_fleet_on_nats_does_its_work_with_its_permissions(
    team: Fleet, nats: NatsHarness, push: PushService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fairlead")
    node, gate, other = team.nodes[0], team.gateways[0], team.gateways[1]
    client = await gate.client()
    phone = Phone(gate, push, client)
    await phone.subscribe(kinds=["approval"])
    session = await client.new_session(
        [{"ask": {"id": "r1", "input": {"command": "echo hi"}}}, {"wait": 1}, {"say": "done"}]
    )
    pending = await client.pending(session)
    assert (await phone.message())["session"] == session
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

    os.kill(nats.servers[0].pid, signal.SIGKILL)
    await gate.until(lambda: nats.servers[0].restarts == 1 and gate.bus.connected)
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
