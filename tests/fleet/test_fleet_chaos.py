"""A fleet on a bus that loses, repeats, delays and cuts: afterwards every mirror is right."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from fairlead.fleet.bus.bus import Message
from fairlead.fleet.gateway.mirror import Mirror
from fairlead.fleet.gateway.mirrored_document import MirroredDocument
from tests.fleet.fleet_harness import Fleet, FleetGateway, FleetNode, fleet
from tests.server.conftest import Client
from tests.waiting import until

TURNS = 8
PATIENCE_S = 60.0


class Chaos:
    """Decides what happens to each message."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.late: list[Message] = []
        self.lost = 0

    def __call__(self, message: Message) -> list[Message]:
        fate = self.rng.random()
        if fate < 0.15:
            self.lost += 1
            return []
        if fate < 0.3:
            return [message, message]
        if fate < 0.45:
            self.late.append(message)
            return []
        late, self.late = self.late, []
        self.rng.shuffle(late)
        return [message, *late]


async def test_N12_after_losses_and_cuts_every_mirror_equals_its_document(tmp_path: Path) -> None:
    async with fleet(tmp_path) as team:
        chaos = Chaos(seed=7)
        clients = [await gate.client() for gate in team.gateways]
        sessions = []
        for node in team.nodes:
            for _ in range(2):
                made = await clients[0].intend("new_session", cwd=str(node.project))
                sessions.append((node, made["result"]["session"]))
        for gate in team.gateways:
            await gate.until(lambda gate=gate: len(gate.rows("sessions")) == len(sessions))
        for client in clients:
            for _, session in sessions:
                await client.say(type="open", document=session, window=20)
                await client.hear("snapshot", document=session)
        team.broker.tamper = chaos
        prompts = await _talk(team, clients, sessions, chaos)
        team.broker.tamper = None
        for bus in (*(node.bus for node in team.nodes), *(gate.bus for gate in team.gateways)):
            bus.heal()
        await until(lambda: {*prompts} <= {*_told(team)}, PATIENCE_S)
        for node, session in sessions:
            await until(partial(_is_idle, node, session), PATIENCE_S)
            for gate in team.gateways:
                await until(partial(_is_equal, gate, node, session), PATIENCE_S)
        assert chaos.lost  # How many depends on how much was merged into one frame.
        assert sorted(_told(team)) == sorted(prompts)  # Once each, although answers were lost.


async def _talk(
    team: Fleet, clients: list[Client], sessions: list[tuple[FleetNode, str]], chaos: Chaos
) -> list[str]:
    """Send prompts through both gateways while buses are cut; the prompts that were accepted."""
    accepted = []
    buses = [node.bus for node in team.nodes] + [gate.bus for gate in team.gateways]
    for turn in range(TURNS):
        client = clients[turn % 2]
        _, session = chaos.rng.choice(sessions)
        prompt = str(uuid.uuid4())
        text = json.dumps([{"flood": 30}, {"say": f"turn {turn}"}])
        client.n += 1
        intent = {"kind": "send", "session": session, "text": text, "uuid": prompt}
        await client.say(type="intent", n=client.n, intent=intent)
        bus = chaos.rng.choice(buses)
        bus.cut()
        await asyncio.sleep(chaos.rng.random() / 10)
        bus.heal()
        while True:
            result = await client.hear("intent_result", n=client.n)
            if result["ok"]:
                accepted.append(prompt)
                break
            assert result["code"] == "unavailable", result
            await asyncio.sleep(0.2)
            await client.say(type="intent", n=client.n, intent=intent)
    return accepted


def _told(team: Fleet) -> list[str]:
    """The prompts that the CLIs have received."""
    return [each["uuid"] for node in team.nodes for each in node.told("user")]


def _is_idle(node: FleetNode, session: str) -> bool:
    """Whether a session has nothing left to do.

    No turn runs before a queued prompt reaches the CLI, which can still be starting, so `in_turn`
    alone says too little.
    """
    live = node.service.registry.sessions.loaded(session)
    if live is None or live.lifecycle.starting or live.transcript.in_turn:
        return False
    return live.client is None or not live.client.busy


def _is_equal(gate: FleetGateway, node: FleetNode, session: str) -> bool:
    """Whether the mirror of a gateway has what the node's own clients would see."""
    following = gate.gateway.mirrors._followed.get((node.id, session))
    copy = following.copy if following is not None else None
    assert isinstance(copy, MirroredDocument)
    mirror, source = copy.mirror, node.service.registry.source(session)
    place = node.service.registry.hub.position(session)
    if mirror is None or source is None or (mirror.epoch, mirror.seq) != place:
        return False
    for name in source.sections:
        assert mirror.section(name) == _plain(source.section(name)), name
    _compare_items(mirror, source)
    return True


def _compare_items(mirror: Mirror, source: Any) -> None:
    ids = list(source.transcript.item_ids)
    assert mirror.item_ids == ids[mirror.offset :]
    for item_id in ids[mirror.offset :]:
        assert mirror.item(item_id) == _plain(source.item(item_id))


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
