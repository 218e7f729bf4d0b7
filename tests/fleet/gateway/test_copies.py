"""Machines that are away: their sessions are read from copies, if their owner agreed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fleet.fleet_harness import Fleet, fleet, text_of


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, nodes=1, gateways=1, copied_folders=(tmp_path / "node0",)) as made:
        yield made


async def copied(team: Fleet, session: str) -> None:
    """Wait until the whole log of a session is on the bus."""
    node = team.nodes[0]
    live = node.service.registry.sessions.loaded(session)
    assert live is not None
    copies = node.node.copies
    assert copies is not None
    replicated = copies.replicator.replicated
    await team.gateways[0].until(lambda: live.seq > 0 and replicated(session) >= live.seq)


async def away(team: Fleet) -> None:
    """Stop the machine, and wait until the gateway shows that."""
    await team.nodes[0].stop()
    gate = team.gateways[0]
    await gate.until(lambda: {row.state for row in gate.rows("nodes").values()} == {"away"})


async def test_N21_a_session_is_read_from_its_copy_while_its_machine_is_away(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "kept for later"}])
    await text_of(client, session, "kept for later")
    await copied(team, session)
    await client.socket.close()
    await away(team)
    gate.gateway.hub.detach(session)  # As after a restart of the gateway: nothing is in memory.
    reader = await gate.client()
    await text_of(reader, session, "kept for later")
    refused = await reader.intend("send", session=session, text="hello", uuid="u1")
    assert (refused["ok"], refused["code"]) == (False, "unavailable")
    again = await team.add_node(node.id, copied_folders=(node.project.parent,))
    await gate.until(lambda: gate.gateway.directory.is_here(again.id))
    await gate.until(lambda: _epoch(team, session).startswith(again.service.store.epoch))
    await text_of(reader, session, "kept for later")


def _epoch(team: Fleet, document: str) -> str:
    position = team.gateways[0].gateway.hub.position(document)
    return "" if position is None else position[0]


async def test_N21_open_requests_of_a_copy_have_no_choices(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    session = await client.new_session(
        [{"ask": {"id": "t1", "input": {"command": "echo hi"}}}, {"wait": 1}]
    )
    await gate.until(lambda: gate.rows("inbox"))
    await copied(team, session)
    await client.socket.close()
    await away(team)
    gate.gateway.hub.detach(session)
    reader = await gate.client()
    await reader.say(type="open", document=session)
    snapshot = await reader.hear("snapshot", document=session)
    [row] = snapshot["state"]["pending"]
    assert row["choices"] == []
    assert "away" in row["choices_note"]


async def test_N21_a_gateway_that_starts_later_lists_and_shows_the_sessions(team: Fleet) -> None:
    client = await team.gateways[0].client()
    session = await client.new_session([{"say": "from before"}])
    await text_of(client, session, "from before")
    await copied(team, session)
    node = team.nodes[0].id
    rows = team.broker.bucket("rows").entries
    await team.gateways[0].until(lambda: f"{node}.{session}" in rows)
    await team.broker.connect().bucket("nodes").put(node, b'{"name": "laptop"}')
    await away(team)
    later = await team.add_gateway("later")
    await later.until(lambda: session in later.rows("sessions"))
    assert later.rows("nodes")[node].state != "here"
    reader = await later.client()
    await text_of(reader, session, "from before")


async def test_N21_without_consent_there_is_no_copy(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as team:
        gate = team.gateways[0]
        client = await gate.client()
        session = await client.new_session([{"say": "private"}])
        await text_of(client, session, "private")
        await client.socket.close()
        await away(team)
        gate.gateway.hub.detach(session)
        reader = await gate.client()
        await reader.say(type="open", document=session)
        problem = await reader.hear("error", document=session)
        assert problem["code"] == "unavailable"
        assert "is away, and there is no copy" in problem["message"]
