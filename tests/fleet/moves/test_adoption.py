"""Sessions of machines that are gone: another machine continues them, from a copy or an archive."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fairlead.fleet.gateway.gateway import open_gateway
from fairlead.fleet.node.moving import ownership
from fairlead.fleet.protocol import subjects
from fairlead.store.tables.search import Filters
from tests.fleet.fleet_harness import Fleet, FleetGateway, FleetNode, fleet, text_of
from tests.fleet.moving import begun, moved
from tests.server.conftest import Client


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    folders = (tmp_path / "node0", tmp_path / "node1")
    async with fleet(tmp_path, gateways=1, copied_folders=folders) as made:
        yield made


async def copied_session(team: Fleet) -> tuple[Client, str]:
    """A session of node0 whose whole log is on the bus."""
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "said before"}])
    await text_of(client, session, "said before")
    await copied(node, session)
    return client, session


async def copied(node: FleetNode, session: str) -> None:
    copies, live = node.node.copies, node.service.registry.sessions.loaded(session)
    assert copies is not None
    assert live is not None
    replicated = copies.replicator.replicated
    until = FleetGateway.until
    await until(None, lambda: not live.busy and replicated(session) >= live.seq > 0)  # type: ignore[arg-type]


async def away(gate: FleetGateway, node: FleetNode) -> None:
    await gate.until(lambda: not gate.gateway.directory.is_here(node.id))


async def answers(client: Client, session: str, node: FleetNode) -> None:
    text = json.dumps([{"say": f"said on {node.id}"}])
    uuid = "00000000-0000-4000-8000-0000000000bb"
    result = await client.intend("send", session=session, text=text, uuid=uuid)
    assert result["ok"], result
    await text_of(client, session, f"said on {node.id}")


async def test_N28_a_session_of_a_lost_machine_continues_on_another(team: Fleet) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await copied_session(team)
    status, answer = await begun(gate, client, session, target.id, kind="adopt")
    assert (status, answer["code"]) == (409, "conflict")  # Its machine is here.
    await source.stop()
    await away(gate, source)
    _, body, _ = await gate.http(
        f"/api/sessions/{session}/move", Authorization=f"Bearer {client.token}"
    )
    preview = json.loads(body)
    assert (preview["away"], preview["problem"]) == (True, None)
    result = await moved(gate, client, session, target.id, kind="adopt", folder=str(target.project))
    assert result["state"] == "done", result
    await gate.until(lambda: gate.gateway.directory.owner(session) == (target.id, session))
    await text_of(client, session, "said before")
    await answers(client, session, target)
    actions = [each.action for each in await target.service.store.audit(session)]
    assert "receive_session" in actions


async def test_N10_a_machine_that_comes_back_stops_a_session_that_was_adopted(
    team: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "READ_EVERY_S", 0.2)
    source, target = team.nodes
    gate = team.gateways[0]
    client, session = await copied_session(team)
    live = source.service.registry.sessions.loaded(session)
    assert live is not None
    source.bus.cut()  # It works on, and does not know what happens.
    await away(gate, source)
    assert live.live
    result = await moved(gate, client, session, target.id, kind="adopt", folder=str(target.project))
    assert result["state"] == "done", result
    source.bus.heal()
    await gate.until(lambda: not live.live)
    row = source.service.registry.sessions.row(session)
    assert row.moved is not None
    assert (row.moved.node, row.moved.generation) == (target.id, 1)
    local = await source.served.client()
    refused = await local.intend("resume", session=session)
    assert (refused["ok"], refused["code"]) == (False, "conflict")
    await gate.until(lambda: gate.gateway.directory.is_here(source.id))
    assert gate.gateway.directory.owner(session) == (target.id, session)
    await answers(client, session, target)


async def test_N28_without_a_copy_a_session_cannot_be_adopted(tmp_path: Path) -> None:
    async with fleet(tmp_path, gateways=1) as team:
        source, target = team.nodes
        gate = team.gateways[0]
        client = await gate.client()
        session = await client.new_session([{"say": "said before"}])
        await text_of(client, session, "said before")
        await source.stop()
        await away(gate, source)
        result = await moved(
            gate, client, session, target.id, kind="adopt", folder=str(target.project)
        )
        assert result["state"] == "failed"
        assert "There is no copy of this session" in result["problem"]


@asynccontextmanager
async def archiving(team: Fleet, name: str, archive: Path) -> AsyncIterator[Any]:
    """A gateway with an archive, of which only the parts without a web server are used."""
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(
            open_gateway(
                team.broker.connect(),
                data=team.folder / name,
                gateway_id=name,
                limits=team.limits,
                archive=archive,
            )
        )
        yield gateway


async def test_N29_an_archive_has_the_log_when_the_bus_and_the_machine_have_lost_it(
    team: Fleet, tmp_path: Path
) -> None:
    source, target = team.nodes
    archive = tmp_path / "archive"
    async with archiving(team, "keeper", archive) as keeper:
        _, session = await copied_session(team)
        reader = keeper.moves._adoption._readers[1]
        await reader.read()
        before = await source.service.store.read(session, 0, 10_000)
    await source.stop()
    # The bus discards its oldest records, and the machine is removed.
    stream = team.broker.connect().stream(subjects.LOG_STREAM)
    team.broker.stream(subjects.LOG_STREAM).records.clear()
    assert await stream.last(subjects.log(source.id, session)) is None

    async with archiving(team, "later", archive) as later:
        directory, reader = later.directory, later.moves._adoption._readers[1]
        until = FleetGateway.until
        await until(None, lambda: directory.is_here(target.id))  # type: ignore[arg-type]
        copy = await reader.copied(source.id, session)
        assert copy is not None
        assert copy.events == before
        assert directory.owner(session) == (source.id, session)
        assert await later.documents.open(session)
        found = await reader.search("said before", Filters(), {source.id})
        assert [hit["session"] for hit in found[source.id]["hits"]][:1] == [session]
        device = await later.devices.make_device("a test", "owner")
        move = later.moves.begin(
            device.device, session, target.id, kind="adopt", folder=str(target.project)
        )
        await until(None, lambda: move.state in ("done", "failed"))  # type: ignore[arg-type]
        assert move.state == "done", move
        assert (await target.service.store.read(session, 0, len(before))) == before


async def test_N29_a_session_that_is_deleted_on_its_machine_is_deleted_in_the_archive(
    team: Fleet, tmp_path: Path
) -> None:
    source = team.nodes[0]
    async with archiving(team, "keeper", tmp_path / "archive") as keeper:
        client, session = await copied_session(team)
        reader = keeper.moves._adoption._readers[1]
        await reader.read()
        assert await reader.copied(source.id, session) is not None
        copies = source.node.copies
        assert copies is not None
        copies.replicator.deleted(session)
        stream = team.broker.connect().stream(subjects.LOG_STREAM)
        last = await stream.last(subjects.log(source.id, session))
        assert last is not None

        async def gone() -> bool:
            await reader.read()
            return await reader.copied(source.id, session) is None

        for _ in range(200):
            if await gone():
                break
        assert await gone()
        await client.socket.close()
