"""Terminals of two machines through a gateway, with real shells and a bus that loses messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import Message
from tests.fleet.fleet_harness import Fleet, FleetNode, fleet
from tests.server.conftest import Client
from tests.server.terminal.screen import Screen, open_terminal
from tests.waiting import until


@pytest.fixture(autouse=True)
def plain_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ENV", raising=False)


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, gateways=1, terminal=True) as made:
        yield made


async def session_on(client: Client, node: FleetNode) -> str:
    made = await client.intend("new_session", cwd=str(node.project))
    assert made["ok"], made
    return str(made["result"]["session"])


async def test_N23_a_terminal_of_each_machine_works_through_a_gateway(team: Fleet) -> None:
    client = await team.gateways[0].client()
    other = await team.gateways[0].client()  # `hear` passes by what `client` gets of the screen.
    for node in team.nodes:
        session = await session_on(client, node)
        screen = await open_terminal(client, session)
        assert screen.terminal.startswith(f"{node.id}__")
        await screen.run("pwd; echo e$((40+2))d", "e42d")
        assert str(node.project) in screen.text
        await other.say(type="terminal_list", session=session)
        rows = (await other.hear("terminals", session=session))["terminals"]
        assert [row["id"] for row in rows] == [screen.terminal]
        await client.say(type="terminal_size", terminal=screen.terminal, cols=120, rows=50)
        await screen.run("stty size", "50 120")
        closed = await client.intend("close_terminal", terminal=screen.terminal)
        assert closed["ok"], closed
        listed = rows  # The shell ends first, and is removed from the list then.
        while listed:
            listed = (await other.hear("terminals", session=session))["terminals"]


async def test_N23_output_arrives_whole_and_typing_once_although_messages_are_lost(
    team: Fleet,
) -> None:
    client = await team.gateways[0].client()
    session = await session_on(client, team.nodes[0])
    screen = await open_terminal(client, session)
    await screen.run("echo r$((40+2))y", "r42y")
    count = 0

    def lose_every_third(message: Message) -> list[Message]:
        nonlocal count
        if "terminal" not in message.subject and not message.subject.startswith("_INBOX"):
            return [message]
        count += 1
        return [] if count % 3 == 0 else [message, message]

    team.broker.tamper = lose_every_third
    command = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line-$i.; done; echo t$((40+2))"
    for number in range(5):
        await screen.run(f"{command}-{number}", f"t42-{number}")
    team.broker.tamper = None
    assert screen.lost == 0
    lines = [line for line in screen.text.splitlines() if line.startswith("line-")]
    assert lines == [f"line-{number}." for number in range(1, 3001)] * 5
    assert count > 20


async def test_N23_a_client_of_another_gateway_gets_the_output_so_far(team: Fleet) -> None:
    other = await team.add_gateway("gate1")
    await team.known()
    first = await team.gateways[0].client()
    session = await session_on(first, team.nodes[1])
    screen = await open_terminal(first, session)
    await screen.run("echo s$((40+2))", "s42")
    await other.until(lambda: session in other.rows("sessions"))
    second = await other.client()
    await second.say(type="terminal_list", session=session)
    (row,) = (await second.hear("terminals", session=session))["terminals"]
    follower = await Screen(second, row["id"]).attach()
    await follower.until("s42")
    await follower.run("echo b$((40+2))", "b42")
    await screen.until("b42")


async def test_N23_without_terminal_the_machine_refuses_and_others_than_owners_are_refused(
    tmp_path: Path,
) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as made:
        node, gate = made.nodes[0], made.gateways[0]
        client = await gate.client()
        session = await session_on(client, node)
        refused = await client.intend("open_terminal", session=session)
        assert (refused["code"], "--terminal" in refused["message"]) == ("unavailable", True)
        await client.say(type="terminal_list", session=session)
        assert "--terminal" in (await client.hear("error"))["message"]
        viewer = await gate.client("operator")
        await viewer.say(type="terminal_list", session=session)
        assert (await viewer.hear("error"))["code"] == "forbidden"
        await client.say(type="terminal_input", terminal="nothing", data="x")
        assert (await client.hear("error"))["code"] == "not_found"


async def test_N23_revoking_a_device_ends_the_shells_that_it_opened(team: Fleet) -> None:
    gate, node = team.gateways[0], team.nodes[0]
    owner, lost = await gate.client(), await gate.client()
    device = (await lost.hear("welcome"))["device"]
    session = await session_on(lost, node)
    screen = await open_terminal(lost, session)
    await screen.run("echo r$((40+2))y", "r42y")
    terminals = node.service.terminals
    assert terminals is not None
    (row,) = terminals.rows(session)
    assert not row.ended
    assert (await owner.intend("revoke_device", device=device))["ok"]
    await until(lambda: terminals.rows(session)[0].ended)


async def test_N23_a_terminal_can_be_used_again_when_its_machine_is_back(team: Fleet) -> None:
    gate, node = team.gateways[0], team.nodes[0]
    client = await gate.client()
    session = await session_on(client, node)
    screen = await open_terminal(client, session)
    await screen.run("echo r$((40+2))y", "r42y")
    node.bus.cut()
    await gate.until(lambda: not gate.gateway.directory.is_here(node.id))
    await screen.type("echo never\n")
    assert "is away" in (await client.hear("error"))["message"]
    screen.end = None  # Output may have been passed by while the error was waited for.
    node.bus.heal()
    await gate.until(lambda: gate.gateway.directory.is_here(node.id))
    await screen.run("echo b$((40+2))k", "b42k")
