"""A device is revoked while a part of the bus is dead or a gateway is cut off from it.

The bar of a second needs an otherwise idle machine: FAIRLEAD_REVOKED_S=1 checks it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import websockets

from fairlead.fleet.bus.nats_bus import NatsBus
from fairlead.fleet.protocol.envelopes import DoAsk
from tests.fleet.bus.cuttable_line import CuttableLine, cuttable_line
from tests.fleet.bus.leaders import lead_from
from tests.fleet.bus.nats_harness import NatsHarness, running_bus
from tests.fleet.fleet_harness import Fleet, FleetGateway, text_of
from tests.fleet.nats_fleet import nats_fleet
from tests.server.conftest import Client
from tests.waiting import until, until_asked

REVOKED_S = float(os.environ.get("FAIRLEAD_REVOKED_S", "4"))
NODES, GATEWAYS = ("node0", "node1"), ("gate0", "gate1")
PATIENCE_S = 60.0
ROUNDS = int(os.environ.get("FAIRLEAD_REVOCATIONS", "1"))
LIST = "KV_people"
"""The stream of the bucket with the devices' list."""


class Guest:
    """A device that is connected to both gateways, and everything that it was sent."""

    def __init__(self, token: str, device: str) -> None:
        self.token = token
        self.id = device
        self.heard: dict[str, list[str]] = {}
        self.ended: dict[str, float] = {}
        """Gateway -> when its socket was closed."""
        self._tasks: list[asyncio.Task[None]] = []

    async def connect(self, gate: FleetGateway, session: str, words: str) -> Client:
        """Connect to a gateway and follow a session."""
        client = await Client(gate, self.token).connect()
        await text_of(client, session, words)
        self.heard[gate.gateway.id] = []
        self._tasks.append(asyncio.create_task(self._listen(client, gate.gateway.id)))
        return client

    async def _listen(self, client: Client, gate: str) -> None:
        try:
            while True:
                self.heard[gate].append(str(await client.socket.recv()))
        except websockets.ConnectionClosed:
            self.ended[gate] = time.monotonic()

    def results(self, gate: str) -> list[dict[str, Any]]:
        """The results of the intents that were sent through a gateway."""
        messages = map(json.loads, self.heard[gate])
        return [each for each in messages if each["type"] == "intent_result"]


async def guest_of(gate: FleetGateway) -> Guest:
    paired = await gate.gateway.devices.make_device("guest", "operator")
    return Guest(paired.token, paired.device)


@asynccontextmanager
async def team_on(
    nats: NatsHarness, folder: Path, through: dict[str, Sequence[str]] | None = None
) -> AsyncIterator[Fleet]:
    async with nats_fleet(nats, folder, NODES, GATEWAYS, through) as team:
        for name in NODES:
            await team.add_node(name)
        for name in GATEWAYS:
            await team.add_gateway(name)
        await team.known()
        yield team


def prompt(session: str, words: str) -> dict[str, Any]:
    text = json.dumps([{"say": words}])
    return {"kind": "send", "session": session, "text": text, "uuid": str(uuid.uuid4())}


async def is_refused_by_all(team: Fleet, guest: Guest, session: str) -> None:
    """No machine carries out an intent of the device, even if a gateway asks for it."""
    for gate in team.gateways:
        for node in team.nodes:
            intent = msgspec.Raw(json.dumps(prompt(session, "not any more")).encode())
            ask = DoAsk(device=guest.id, client=str(uuid.uuid4()), n=1, intent=intent)
            result = await gate.gateway.client.do(node.id, ask)
            assert (result.ok, result.code) == (False, "forbidden"), result


async def revoke(gate: FleetGateway, owner: str, device: str) -> dict[str, Any]:
    status, body, _ = await gate.http(
        f"/api/devices/{device}/revoke", method="POST", Authorization=f"Bearer {owner}"
    )
    assert status == 200, body
    return dict(json.loads(body))


# With a dead leader


def server_of(nats: NatsHarness, bus: NatsBus) -> int:
    """The place of the server that a machine's connection for small messages uses."""
    assert bus._main._connection is not None
    _, port = bus._main._connection._transport._address  # type: ignore[attr-defined]
    return [server.settings.port for server in nats.servers].index(port)


@pytest.mark.timeout(300)
@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("round_number", range(ROUNDS))
@pytest.mark.parametrize("whose", ["revoking", "other", "node"])
async def test_N54_a_revocation_takes_effect_although_the_leader_of_the_list_is_dead(
    whose: str, round_number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The killed server is that of the gateway that revokes, of the other one, or of a machine."""
    async with running_bus(tmp_path / "bus", count=3) as nats, team_on(nats, tmp_path) as team:
        admin = await nats.bus(nats.admin)
        first, second = team.gateways
        owner = await first.token()
        client = await first.client()
        session = await client.new_session([{"say": "before"}])
        guest = await guest_of(first)
        for gate in team.gateways:
            await guest.connect(gate, session, "before")
        machines: dict[str, Any] = {"revoking": first, "other": second, "node": team.nodes[0]}
        place = server_of(nats, machines[whose].bus)
        await lead_from(admin, LIST, place)

        await nats.kill_for_good(place)
        began = time.monotonic()
        revoking = asyncio.create_task(revoke(first, owner, guest.id))
        devices = [node.node.devices for node in team.nodes]
        await until(lambda: not any(each.known(guest.id) for each in devices), PATIENCE_S)
        refused = time.monotonic() - began
        await until(lambda: guest.ended.keys() == {*GATEWAYS}, PATIENCE_S)
        closed = {gate: at - began for gate, at in guest.ended.items()}
        outcome = await revoking
        answered = time.monotonic() - began
        await is_refused_by_all(team, guest, session)
        load = os.getloadavg()[0]
        with capsys.disabled():
            times = ", ".join(f"{gate} {took:.2f} s" for gate, took in sorted(closed.items()))
            sys.stdout.write(
                f"\nrevoked with a dead leader ({whose}): answered after {answered:.2f} s "
                f"{outcome}; sockets closed: {times}; refused by all machines after "
                f"{refused:.2f} s; load {load:.1f}\n"
            )
        assert max(*closed.values(), refused) < REVOKED_S
        for gate in team.gateways:  # Nobody lets it in again before the list has a leader.
            again = await Client(gate, guest.token).connect()
            assert json.loads(await again.socket.recv())["type"] == "bye"
        people = admin.bucket("people")

        async def is_stored() -> bool:
            entry = await people.get(guest.id)
            return entry is not None and json.loads(entry.value or b"{}")["revoked"] is not None

        await until_asked(is_stored, PATIENCE_S)


# With a gateway that is cut off


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[tuple[Fleet, CuttableLine]]:
    """A fleet whose second gateway reaches the bus by a line that can be cut."""
    async with AsyncExitStack() as stack:
        nats = await stack.enter_async_context(running_bus(tmp_path / "bus"))
        line = await stack.enter_async_context(cuttable_line(nats.servers[0].settings.port))
        through: dict[str, Sequence[str]] = {"gate1": [line.address]}
        yield await stack.enter_async_context(team_on(nats, tmp_path, through)), line


@pytest.mark.timeout(240)
@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("how", ["hang", "cut"])
async def test_N54_a_gateway_that_is_cut_off_acts_for_nobody_and_shows_nothing_new(
    how: str, line: tuple[Fleet, CuttableLine], capsys: pytest.CaptureFixture[str]
) -> None:
    team, cuttable = line
    first, second = team.gateways
    owner = await first.client()
    session = await owner.new_session([{"say": "before"}])
    guest, stranger = await guest_of(first), await guest_of(first)
    clients = [await each.connect(second, session, "before") for each in (guest, stranger)]
    getattr(cuttable, how)()
    if how == "cut":
        await until(lambda: not second.bus.connected)
    await revoke(first, owner.token, guest.id)
    said = await owner.intend(**prompt(session, "said meanwhile"))
    assert said["ok"], said
    await text_of(owner, session, "said meanwhile")
    for client, words in zip(clients, ("from the guest", "from the stranger"), strict=True):
        await client.say(type="intent", n=1, intent=prompt(session, words))
    refusals = [
        (await until(lambda each=each: each.results("gate1"), PATIENCE_S))[0]  # type: ignore[misc]
        for each in (guest, stranger)
    ]
    assert [(each["ok"], each["code"]) for each in refusals] == [(False, "unavailable")] * 2
    if how == "hang":  # They were sent, and may arrive when the line works again.
        assert all("may have been" in each["message"] for each in refusals), refusals
    for each in (guest, stranger):
        assert not _is_told(each.heard["gate1"], "said meanwhile")
    if how == "hang":
        await until(lambda: not second.bus.connected)

    cuttable.restore()
    await until(lambda: second.bus.connected)
    began = time.monotonic()
    await until(lambda: "gate1" in guest.ended, PATIENCE_S)
    took = guest.ended["gate1"] - began
    with capsys.disabled():
        sys.stdout.write(
            f"\ngateway {how}: closed the revoked device's socket {took:.2f} s after it was "
            f"connected again; load {os.getloadavg()[0]:.1f}\n"
        )
    assert took < REVOKED_S
    await until(lambda: _is_told(stranger.heard["gate1"], "said meanwhile"), PATIENCE_S)
    await is_refused_by_all(team, guest, session)
    assert "gate1" not in stranger.ended
    told = [node.told("user") for node in team.nodes]
    assert not _is_told([json.dumps(told)], "from the guest")
    for client in clients:
        await client.socket.close()


def _is_told(messages: list[str], words: str) -> bool:
    return any(words in each for each in messages)
