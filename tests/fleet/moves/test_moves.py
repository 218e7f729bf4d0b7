"""Moves between machines: what travels, who may, and where the session is when a step fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from fairlead.fleet.node.moving import departures
from fairlead.server.refusal import Refusal
from tests.fleet.fleet_harness import Fleet, FleetGateway, FleetNode, fleet, text_of
from tests.fleet.moving import begun, ended, git, moved, repository
from tests.server.conftest import Client

SAY = [{"say": "said before"}]


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as made:
        yield made


async def session_on_source(team: Fleet, script: Any = SAY) -> tuple[Client, str]:
    """A session of node0 in a repository, after its first turn."""
    repository(team.nodes[0].project)
    client = await team.gateways[0].client()
    session = await client.new_session(script)
    await text_of(client, session, "said before")
    await idle(team.nodes[0], session)
    return client, session


async def idle(node: FleetNode, session: str) -> None:
    live = node.service.registry.sessions.loaded(session)
    assert live is not None
    await FleetGateway.until(None, lambda: not live.busy)  # type: ignore[arg-type]


def row(node: FleetNode, session: str) -> Any:
    return node.service.registry.sessions.rows.get(session)


async def works_on(gate: FleetGateway, client: Client, session: str, node: FleetNode) -> None:
    """Send a prompt through the gateway, and see that this machine answers it."""
    text = json.dumps([{"say": f"said on {node.id}"}])
    await gate.until(lambda: gate.gateway.directory.owner(session) == (node.id, session))
    uuid = f"00000000-0000-4000-8000-{abs(hash((session, node.id))) % 10**12:012d}"
    result = await client.intend("send", session=session, text=text, uuid=uuid)
    if not result["ok"] and result["code"] in ("unavailable", "conflict"):
        raise AssertionError(result)
    await text_of(client, session, f"said on {node.id}")


async def test_N24_a_session_moves_with_its_log_its_results_and_its_uncommitted_files(
    team: Fleet,
) -> None:
    source, target = team.nodes
    gate, other = team.gateways
    client, session = await session_on_source(team)
    (source.project / ".gitignore").write_text("secret.env\n")
    (source.project / "secret.env").write_text("password")
    pinned = await client.intend("pin", session=session, pinned=True)
    watcher = await other.client()
    await text_of(watcher, session, "said before")
    before = await source.service.store.read(session, 0, 10_000)

    result = await moved(gate, client, session, target.id)

    assert result["state"] == "done", result
    folder = Path(result["cwd"])
    assert folder.is_relative_to(target.project.parent)
    assert (folder / "a.txt").read_text() == "changed\n"
    assert git(folder, "status", "--porcelain") == " M a.txt\n?? .gitignore\n?? new.txt\n"
    assert git(folder, "log", "--format=%s") == "first\n"
    assert not (folder / "secret.env").exists()
    after = await target.service.store.read(session, 0, 10_000)
    assert after[: len(before)] == before  # The same numbers, lines and times.
    assert row(target, session).generation == 1
    # An intent that is sent again through another gateway is not carried out again.
    again = Client(other, client.token)
    again.id = client.id
    await again.connect()
    await other.until(lambda: other.gateway.directory.owner(session) == (target.id, session))
    assert await again.intend("pin", n=client.n, session=session, pinned=False) == pinned
    assert row(target, session).pinned
    # Both gateways show what the new machine sends.
    await works_on(gate, client, session, target)
    await text_of(watcher, session, f"said on {target.id}")
    assert [each.action for each in await source.service.store.audit(session)][:1] == [
        "move_session"
    ]
    assert "receive_session" in [each.action for each in await target.service.store.audit(session)]


async def test_N27_a_gateway_that_completes_a_move_gets_the_answer_of_the_first(
    team: Fleet,
) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    _, move = await begun(gate, client, session, target.id)
    arrivals = target.node.arrivals
    await gate.until(lambda: row(source, session).moved is not None)
    both = await asyncio.gather(
        *(arrivals.activate(move["id"], session, 1) for _ in range(2)), ended(gate, move["id"])
    )
    assert both[2]["state"] == "done", both
    assert [answer["resume"] for answer in both] == [True, True, True]
    assert (await arrivals.activate(move["id"], session, 1))["resume"]


async def test_N24_the_former_machine_shows_the_session_as_moved_and_starts_nothing(
    team: Fleet,
) -> None:
    source, target = team.nodes
    client, session = await session_on_source(team)
    live = source.service.registry.sessions.loaded(session)
    assert live is not None
    assert (await moved(team.gateways[0], client, session, target.id))["state"] == "done"
    assert not live.live
    local = await source.served.client()
    listed = source.service.registry.lobby.session(session)
    assert listed is not None
    assert listed.moved is not None
    assert (listed.moved.node, listed.moved.name) == (target.id, f"{target.id}-name")
    assert listed.moved.link == f"{team.gateways[0].base}/s/{session}"
    await text_of(local, session, "said before")
    intents: list[tuple[str, dict[str, Any]]] = [
        ("send", {"text": "x", "uuid": "u"}), ("resume", {}), ("restart", {}),
    ]  # fmt: skip
    for kind, more in intents:
        refused = await local.intend(kind, session=session, **more)
        assert (refused["ok"], refused["code"]) == (False, "conflict"), kind
        assert "was moved to" in refused["message"]
    await local.socket.close()
    await source.stop()
    again = await team.add_node(source.id)  # Also after a restart.
    assert row(again, session).moved is not None


async def test_N24_a_session_moves_back_and_has_what_happened_meanwhile(team: Fleet) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    assert (await moved(gate, client, session, target.id))["state"] == "done"
    await works_on(gate, client, session, target)
    await idle(target, session)
    back = await moved(gate, client, session, source.id)
    assert back["state"] == "done", back
    assert row(source, session).generation == 2
    assert row(source, session).moved is None
    assert back["cwd"] != str(source.project)  # The former folder is not touched.
    await works_on(gate, client, session, source)
    assert row(target, session).moved.node == source.id


async def test_N24_a_turn_ends_before_the_session_moves_and_can_be_answered(team: Fleet) -> None:
    target = team.nodes[1]
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    script = [{"ask": {"id": "r1", "input": {"command": "x"}}}, {"wait": 1}, {"say": "allowed"}]
    uuid = "00000000-0000-4000-8000-00000000000a"
    assert (await client.intend("send", session=session, text=json.dumps(script), uuid=uuid))["ok"]
    pending = await client.pending(session)
    _, move = await begun(gate, client, session, target.id)
    found = gate.gateway.moves.find(move["id"])
    await gate.until(lambda: found.waiting == "answer")
    refused = await client.intend("send", session=session, text="later", uuid="u2")
    assert (refused["ok"], refused["code"]) == (False, "conflict")
    decided = await client.intend(
        "decide",
        session=session,
        request_id=pending["id"],
        input_sha256=pending["input_sha256"],
        decision="allow",
    )
    assert decided["ok"], decided
    result = await ended(gate, move["id"])
    assert result["state"] == "done", result
    events = await target.service.store.read(session, 0, 10_000)
    assert any(b"allowed" in each.line for each in events)


async def test_N25_only_an_owner_moves_on_both_machines(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as team:
        await team.add_node("node1", fleet_role="operator")
        await team.known()
        client, session = await session_on_source(team)
        gate = team.gateways[0]
        operator = await gate.client("operator")
        status, answer = await begun(gate, operator, session, "node1")
        assert (status, answer["code"]) == (403, "forbidden")
        refused = await moved(gate, client, session, "node1")
        assert refused["state"] == "failed"
        assert "requires the owner role" in refused["problem"]
        assert row(team.nodes[1], session) is None
        await works_on(gate, client, session, team.nodes[0])


async def test_N25_permissions_accounts_and_servers_do_not_travel(team: Fleet) -> None:
    source, target = team.nodes
    client, session = await session_on_source(team)
    sessions = source.service.registry.sessions
    hostile = {
        "allowed_tools": ["Bash(*)"],
        "mcp_servers": {"x": {"command": "evil"}},
        "plugin_dirs": ["/"],
        "add_dirs": ["/"],
        "profile": "other",
        "model": "sonnet",
    }
    sessions.rows[session] = structs.replace(
        sessions.row(session), mode="bypassPermissions", options=hostile
    )
    assert (await moved(team.gateways[0], client, session, target.id))["state"] == "done"
    arrived = row(target, session)
    assert arrived.options == {"model": "sonnet"}
    assert arrived.mode == "default"


async def test_N26_without_a_repository_a_session_stays_and_can_be_forked_there(
    team: Fleet,
) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client = await gate.client()
    session = await client.new_session(SAY)
    await text_of(client, session, "said before")
    await idle(source, session)
    headers = {"Authorization": f"Bearer {client.token}"}
    _, body, _ = await gate.http(f"/api/sessions/{session}/move", **headers)
    assert "not in a git repository" in json.loads(body)["problem"]
    refused = await moved(gate, client, session, target.id)
    assert refused["state"] == "failed"
    assert "fork the session on the other machine" in refused["problem"]

    forked = await moved(gate, client, session, target.id, kind="fork", folder=str(target.project))
    assert forked["state"] == "done", forked
    assert forked["session"] != session
    assert row(target, forked["session"]).parent == session
    await text_of(client, forked["session"], "said before")
    await works_on(gate, client, session, source)


async def test_N26_a_preview_tells_what_travels(team: Fleet) -> None:
    client, session = await session_on_source(team)
    (team.nodes[0].project / ".gitignore").write_text("cache/\n")
    (team.nodes[0].project / "cache").mkdir()
    (team.nodes[0].project / "cache" / "x").write_text("x")
    _, body, _ = await team.gateways[0].http(
        f"/api/sessions/{session}/move", Authorization=f"Bearer {client.token}"
    )
    seen = json.loads(body)
    assert (seen["away"], seen["busy"], seen["problem"]) == (False, False, None)
    assert (seen["git"]["branch"], seen["git"]["commits"]) == ("work", 1)
    assert set(seen["git"]["files"]) == {"a.txt", "new.txt", ".gitignore"}
    assert seen["git"]["ignored"] == ["cache/"]


STEPS = ("begin", "status", "package", "receive", "arrived", "commit", "activate")


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize("step", STEPS)
async def test_N27_a_gateway_that_dies_at_any_step_leaves_one_owner(
    team: Fleet, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(departures, "SILENT_S", 2.0)
    source, target = team.nodes
    gate, other = team.gateways
    client, session = await session_on_source(team)
    _die_at(gate, step)
    await begun(gate, client, session, target.id)
    await gate.until(lambda: gate.gateway.client._bus is None)
    observer = await other.client()
    if step == "activate":  # The source has given it up: the other gateway completes the move.
        await other.until(lambda: row(target, session) is not None)
        await works_on(other, observer, session, target)
        return
    moving = source.service.registry.sessions.catalog.moving
    await other.until(lambda: session not in moving)
    assert row(source, session).moved is None
    assert row(target, session) is None
    await works_on(other, observer, session, source)


def _die_at(gate: FleetGateway, step: str) -> None:
    """Let a gateway fall silent before a step: it sends nothing more, and cleans nothing up."""
    client = gate.gateway.client
    ask_step, ask_http = client.move, client.http

    def die() -> None:
        client._bus = None  # type: ignore[assignment]
        raise asyncio.CancelledError

    async def move(node: str, ask: Any) -> Any:
        if client._bus is None:
            raise Refusal("unavailable", "dead")
        if ask.step == step:
            die()
        return await ask_step(node, ask)

    async def http(node: str, ask: Any, body: Any) -> Any:
        if (step, ask.method) in (("package", "GET"), ("receive", "PUT")):
            die()
        return await ask_http(node, ask, body)

    client.move, client.http = move, http  # type: ignore[method-assign]


async def test_N27_a_target_that_dies_leaves_the_session_on_the_source(team: Fleet) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    (source.project / "large.bin").write_bytes(bytes(range(256)) * 20_000)
    _, move = await begun(gate, client, session, target.id)
    found = gate.gateway.moves.find(move["id"])
    await gate.until(lambda: found.state in ("sending", "unpacking"))
    await target.stop()
    result = await ended(gate, move["id"])
    assert result["state"] in ("failed", "done")
    assert result["state"] == "failed", result
    await works_on(gate, client, session, source)
    again = await team.add_node(target.id)
    assert row(again, session) is None
    assert await again.service.store.last_seq(session) == 0
    assert not list((again.project.parent / "moved").glob("*"))


async def test_N27_a_source_that_dies_has_the_session_when_it_is_back(team: Fleet) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    _, move = await begun(gate, client, session, target.id)
    found = gate.gateway.moves.find(move["id"])
    await gate.until(lambda: found.state != "draining")
    await source.stop()
    result = await ended(gate, move["id"])
    again = await team.add_node(source.id)
    await gate.until(lambda: gate.gateway.directory.is_here(source.id))
    holder = again if result["state"] == "failed" else target
    await works_on(gate, client, session, holder)


async def test_N27_a_source_takes_a_session_back_that_the_target_lost(team: Fleet) -> None:
    source, target = team.nodes
    gate, other = team.gateways
    client, session = await session_on_source(team)
    _die_at(gate, "activate")
    await begun(gate, client, session, target.id)
    await gate.until(lambda: row(source, session).moved is not None)
    await target.node.arrivals.discard(row(source, session).moved.move)
    await other.until(lambda: row(source, session).moved is None)
    assert row(source, session).generation == 2
    observer = await other.client()
    await works_on(other, observer, session, source)


async def test_N27_a_move_is_cancelled_while_the_turn_runs(team: Fleet) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await session_on_source(team)
    script = [{"ask": {"id": "r1", "input": {"command": "x"}}}, {"wait": 1}, {"say": "allowed"}]
    uuid = "00000000-0000-4000-8000-00000000000a"
    assert (await client.intend("send", session=session, text=json.dumps(script), uuid=uuid))["ok"]
    await client.pending(session)
    _, move = await begun(gate, client, session, target.id)
    found = gate.gateway.moves.find(move["id"])
    await gate.until(lambda: found.waiting == "answer")
    status, body, _ = await gate.http(
        f"/api/moves/{move['id']}", method="DELETE", Authorization=f"Bearer {client.token}"
    )
    assert (status, json.loads(body)["state"]) == (200, "cancelled")
    assert session not in source.service.registry.sessions.catalog.moving
    live = source.service.registry.sessions.loaded(session)
    assert live is not None
    assert live.live
