"""Two machines and two gateways: real servers, sockets and agents, and a bus that can be cut."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from tests.fleet.fleet_harness import Fleet, FleetGateway, fleet, text_of
from tests.server.conftest import Client


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as made:
        yield made


async def test_a_prompt_through_a_gateway_streams_back(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "good morning"}])
    await text_of(client, session, "good morning")
    row = gate.rows("sessions")[session]
    assert row.node in {each.id for each in team.nodes}
    assert session in node.service.registry.sessions.rows


async def on_node(client: Client, node: str, cwd: str) -> dict[str, Any]:
    """Start a session on a machine."""
    client.n += 1
    intent = {"kind": "new_session", "cwd": cwd}
    await client.say(type="intent", n=client.n, node=node, intent=intent)
    return await client.hear("intent_result", n=client.n)


async def test_every_row_names_its_machine(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    sessions = {}
    for node in team.nodes:
        made = await on_node(client, node.id, str(node.project))
        assert made["ok"], made
        sessions[made["result"]["session"]] = node.id
    for other in team.gateways:
        await other.until(lambda other=other: sessions.keys() <= other.rows("sessions").keys())
        assert {name: other.rows("sessions")[name].node for name in sessions} == sessions
        await other.until(lambda other=other: _machines(other) == BOTH)


BOTH = {("node0-name", "here", 1), ("node1-name", "here", 1)}


def _machines(gate: FleetGateway) -> set[tuple[str, str, int]]:
    rows = gate.rows("nodes").values()
    return {(row.name, row.state, row.running) for row in rows}


async def test_a_new_session_goes_to_a_machine_that_has_the_folder(team: Fleet) -> None:
    client = await team.gateways[1].client()
    for node in team.nodes:
        made = await client.intend("new_session", cwd=str(node.project))
        assert made["ok"], made
        assert made["result"]["session"] in node.service.registry.sessions.rows


def ask(name: str) -> list[dict[str, Any]]:
    return [{"ask": {"id": name, "input": {"command": f"echo {name}"}}}, {"wait": 1}, {"say": "ok"}]


def decision(session: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "session": session,
        "request_id": row["id"],
        "input_sha256": row["input_sha256"],
        "decision": "allow",
    }


async def test_N18_a_decision_is_carried_out_once_while_the_bus_is_cut_and_healed(
    team: Fleet,
) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    for turn in range(4):
        session = await client.new_session(ask(f"r{turn}"))
        pending = await client.pending(session)
        lost = {"left": 2}

        def lose_answers(message: Any, lost: dict[str, int] = lost) -> list[Any]:
            if message.subject.startswith("_INBOX") and lost["left"]:
                lost["left"] -= 1
                return []
            return [message, message]

        team.broker.tamper = lose_answers
        n = client.n = client.n + 1
        wanted = {"kind": "decide", **decision(session, pending)}
        await client.say(type="intent", n=n, intent=wanted)
        if turn % 2:
            node.bus.cut()
            await asyncio.sleep(0)
            node.bus.heal()
        result = await client.hear("intent_result", n=n)
        team.broker.tamper = None
        assert result["ok"], result
        await text_of(client, session, "ok")
    answers = [each["response"]["request_id"] for each in node.told("control_response")]
    assert sorted(each for each in answers if each.startswith("r")) == [f"r{n}" for n in range(4)]


async def test_N18_an_intent_that_is_sent_through_two_gateways_is_carried_out_once(
    team: Fleet,
) -> None:
    first = await team.gateways[0].client()
    second = await team.gateways[1].client()
    await second.socket.close()
    second.token, second.id = first.token, first.id
    await second.connect()
    folder = str(team.nodes[1].project)
    for n in range(1, 6):
        intent = {"kind": "new_session", "cwd": folder}
        for client in (first, second):
            await client.say(type="intent", n=n, intent=intent)
        results = [await client.hear("intent_result", n=n) for client in (first, second)]
        assert results[0] == results[1]
        assert results[0]["ok"], results
    made = [len(node.service.registry.sessions.rows) for node in team.nodes]
    assert sum(made) == 5


async def test_N18_an_intent_whose_answer_was_lost_is_not_said_to_have_failed(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session(ask("r1"))
    pending = await client.pending(session)

    def lose_answers_and_beats(message: Any) -> list[Any]:
        is_lost = message.subject.startswith("_INBOX") or message.subject == f"fl.beat.{node.id}"
        return [] if is_lost else [message]

    team.broker.tamper = lose_answers_and_beats
    result = await client.intend("decide", **decision(session, pending))
    team.broker.tamper = None
    assert (result["ok"], result["code"]) == (False, "unavailable")
    assert "may have been" in result["message"]
    assert [each["response"]["request_id"] for each in node.told("control_response")] == ["r1"]
    # The same intent again: its result, without a second decision.
    await gate.until(lambda: gate.gateway.directory.is_here(node.id))
    again = await client.intend("decide", n=client.n, **decision(session, pending))
    assert again["ok"], again


async def test_lost_frames_are_noticed_by_the_next_beat(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "first"}])
    await text_of(client, session, "first")
    lost: list[str] = []

    def lose_frames(message: Any) -> list[Any]:
        if message.subject.startswith("fl.live."):
            lost.append(message.subject)
            return []
        return [message]

    team.broker.tamper = lose_frames
    sent = await client.intend(
        "send", session=session, text=json.dumps([{"say": "second"}]), uuid=str(uuid.uuid4())
    )
    assert sent["ok"], sent
    await text_of(client, session, "second")
    assert lost


async def test_a_machine_that_is_away_is_shown_and_comes_back(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session(ask("r1"))
    pending = await client.pending(session)
    await gate.until(lambda: gate.rows("inbox"))
    loop = asyncio.get_running_loop()
    cut_at = loop.time()
    node.bus.cut()
    await gate.until(lambda: gate.rows("nodes")[node.id].state == "away")
    assert loop.time() - cut_at < 10.0  # Three seconds, if the machine is not overloaded.
    assert gate.rows("sessions")[session].node == node.id
    (row,) = gate.rows("inbox").values()
    assert (row.session, row.node) == (session, node.id)
    refused = await client.intend("decide", **decision(session, pending))
    assert (refused["ok"], refused["code"]) == (False, "unavailable")
    assert "node0-name is away" in refused["message"]
    # The machine works on: its own door answers the request.
    local = await node.served.client()
    done = await local.intend("decide", **decision(session, pending))
    assert done["ok"], done
    node.bus.heal()
    await gate.until(lambda: gate.rows("nodes")[node.id].state == "here")
    await text_of(client, session, "ok")
    await gate.until(lambda: not gate.rows("inbox"))


async def test_a_restarted_machine_is_opened_again(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "before"}])
    await text_of(client, session, "before")
    await node.stop()
    again = await team.add_node(node.id)
    assert again.node.incarnation != node.node.incarnation
    await gate.until(lambda: gate.gateway.directory.is_here(node.id))
    resumed = await client.intend("resume", session=session)
    assert resumed["ok"], resumed
    words = json.dumps([{"say": "after"}])
    await client.intend("send", session=session, text=words, uuid=str(uuid.uuid4()))
    await text_of(client, session, "after")


async def test_older_pages_come_from_the_machine(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": f"line {n}"} for n in range(300)])
    await client.ending(session)
    await client.say(type="close", document=session)
    await client.say(type="open", document=session, window=50)
    snapshot = await client.hear("snapshot", document=session)
    items, first = snapshot["state"]["items"], snapshot["window"]["first"]
    total = snapshot["window"]["total"]
    assert first > 0
    while first:
        await client.say(type="fetch", document=session, before=items[0]["id"], count=90)
        page = await client.hear("page", document=session)
        items, first = [*page["items"], *items], page["window"]["first"]
    assert len(items) == total == len({item["id"] for item in items})
    texts = [item["text"] for item in items if str(item.get("text", "")).startswith("line ")]
    assert texts == [f"line {n}" for n in range(300)]


async def test_N19_a_revoked_device_is_disconnected_from_every_gateway(team: Fleet) -> None:
    owner = await team.gateways[0].client()
    victim = await team.gateways[1].client("operator")
    device = (await team.gateways[1].service.devices.device_of(victim.token, "")).id  # type: ignore[union-attr]
    team.broker.tamper = lambda message: [message]
    done = await owner.intend("revoke_device", device=device)
    assert done["ok"], done
    bye = json.loads(await asyncio.wait_for(_last(victim), 30))
    assert bye["type"] == "bye"
    refused = await victim.connect()
    assert json.loads(await refused.socket.recv())["type"] == "bye"
    await team.gateways[0].until(lambda: device not in team.gateways[0].rows("devices"))
    node = team.nodes[0]
    with pytest.raises(Exception, match="revoked"):
        await node.node.devices.find(device)


async def _last(client: Any) -> str:
    text = "{}"
    try:
        while True:
            text = await client.socket.recv()
    except websockets.ConnectionClosed:
        return str(text)


async def test_N20_the_machine_decides_which_role_a_device_has(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as made:
        capped = await made.add_node("capped", fleet_role="viewer")
        await made.known()
        gate = made.gateways[0]
        owner = await gate.client()
        refused = await on_node(owner, "capped", str(capped.project))
        assert (refused["ok"], refused["code"]) == (False, "forbidden")
        viewer = await gate.client("viewer")
        refused = await viewer.intend("new_session", cwd=str(made.nodes[0].project))
        assert (refused["ok"], refused["code"]) == (False, "forbidden")
        assert not capped.service.registry.sessions.rows


async def test_a_device_that_paired_at_one_gateway_can_use_the_other(team: Fleet) -> None:
    first, second = team.gateways
    code = await first.gateway.devices.share_code("owner")
    outcomes = await asyncio.gather(
        *(
            gate.http(
                "/api/pair", method="POST", body={"code": code, "name": "phone"}, Origin=gate.base
            )
            for gate in (first, second)
        )
    )
    assert sorted(status for status, _, _ in outcomes) == [200, 401]
    paired = next(json.loads(body) for status, body, _ in outcomes if status == 200)
    for gate in (first, second):
        status, _, _ = await gate.http("/api/sessions", Authorization=f"Bearer {paired['token']}")
        assert status == 200


async def test_an_invited_device_is_confirmed_at_another_gateway(team: Fleet) -> None:
    first, second = team.gateways
    owner = f"Bearer {await first.token()}"
    _, body, _ = await first.http(
        "/api/codes", method="POST", body={"role": "viewer"}, Authorization=owner
    )
    invited = {"code": json.loads(body)["code"], "name": "tablet"}
    status, body, _ = await second.http(
        "/api/pair", method="POST", body=invited, Origin=second.base
    )
    assert status == 202
    token = json.loads(body)["token"]
    _, body, _ = await first.http("/api/joining", Authorization=owner)
    (waiting,) = json.loads(body)["joining"]
    assert waiting["number"]
    path = f"/api/joining/{waiting['id']}"
    answers = [
        (await first.http(path, method="POST", body={"allow": True}, Authorization=owner))[0]
        for _ in range(2)
    ]
    assert answers == [200, 404]
    status, _, _ = await second.http("/api/sessions", Authorization=f"Bearer {token}")
    assert status == 200


async def test_a_client_that_lost_its_count_continues_after_the_highest_number(team: Fleet) -> None:
    node, (first, second) = team.nodes[0], team.gateways
    client = await first.client()
    done = await client.intend("new_session", n=41, cwd=str(node.project))
    assert done["ok"], done
    highest = first.gateway.documents._highest
    await highest.write()
    for each in team.nodes:
        each.bus.cut()
    await second.until(lambda: not second.gateway.directory.here())
    again = Client(second, client.token)
    again.id = client.id
    await again.connect()
    assert (await again.hear("welcome"))["last_intent"] == 41
