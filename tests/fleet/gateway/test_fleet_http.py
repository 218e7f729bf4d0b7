"""Every route of the HTTP API through a gateway, with bodies of all sizes."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.access.roles import ROLES
from fairlead.server.http.routes import Route
from fairlead.server.intents.review import rank_of
from tests.fleet.fleet_harness import Fleet, fleet
from tests.server.conftest import Client
from tests.waiting import until_asked

QUERIES = {
    "/api/search": "q=hello",
    "/api/usage": "bounds=0,1,9999999999",
    "/api/sessions/{session}/names": "q=a",
    "/api/sessions/{session}/grep": "q=a",
    "/api/sessions/{session}/content": "path=notes.txt",
    "/api/sessions/{session}/patch": "path=notes.txt",
    "/api/sessions/{session}/image": "path=notes.txt",
    "/api/sessions/{session}/item": "id=nothing",
    "/api/sessions/{session}/frames": "after=0",
}
MERGED = {"/api/health", "/api/metrics", "/api/openapi.json", "/api/sessions", "/api/search"}
OWN = ("/api/pair", "/api/codes", "/api/joining", "/api/devices/", "/api/reach", "/api/uploads")


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, gateways=1) as made:
        yield made


async def test_every_route_answers_through_a_gateway_as_at_its_machine(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    (node.project / "notes.txt").write_text("hello notes\n")
    client = await gate.client()
    session = await client.new_session([{"say": "hello"}])
    await client.ending(session)
    direct, through = f"Bearer {await node.served.token()}", f"Bearer {client.token}"
    different = {}
    routes = [
        route
        for route in node.service.api.routes
        if route.role is not None and not route.path.startswith(OWN)
    ]
    assert len(routes) > 40
    for route in routes:
        path = _path(route, session, str(node.project))
        body: dict[str, Any] | None = None if route.method == "GET" else {}
        wanted = await node.served.http(path, method=route.method, body=body, Authorization=direct)
        separator = "&" if "?" in path else "?"
        target = path if route.path in MERGED else f"{path}{separator}node={node.id}"
        got = await gate.http(target, method=route.method, body=body, Authorization=through)
        if wanted[0] != got[0] or not _same(route, wanted, got):
            different[f"{route.method} {route.path}"] = wanted[:2], got[:2]
    assert different == {}


def _path(route: Route, session: str, folder: str) -> str:
    path = route.path.replace("{session}", session)
    query = QUERIES.get(route.path, f"path={folder}/notes.txt&cwd={folder}&q=a")
    return f"{path}?{query}"


def _same(route: Route, wanted: Any, got: Any) -> bool:
    if route.path in MERGED or route.method != "GET" or wanted[0] != 200:
        return True
    if wanted[2].get("content-type") != got[2].get("content-type"):
        return False
    if route.path in ("/api/usage", "/api/limits", "/api/push"):
        return True  # With the machine in its rows, or with what belongs to one device.
    return bool(wanted[1] == got[1])


async def test_a_route_that_the_role_does_not_allow_is_refused_by_the_machine(team: Fleet) -> None:
    gate = team.gateways[0]
    viewer = f"Bearer {await gate.token('viewer')}"
    path = f"/api/files?path=/etc/passwd&node={team.nodes[0].id}"
    status, body, _ = await gate.http(path, Authorization=viewer)
    assert (status, json.loads(body)["code"]) == (403, "forbidden")
    status, _, _ = await gate.http(path)
    assert status == 401


async def test_N22_large_answers_arrive_whole_and_cannot_run_scripts(team: Fleet) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"pile": [40, 20_000]}])
    await client.ending(session)
    content = bytes(range(256)) * 8_000
    (node.project / "large.bin").write_bytes(content)
    through = f"Bearer {client.token}"
    path = f"/api/files?path={node.project}/large.bin"
    status, body, _ = await gate.http(f"{path}&session={session}", Authorization=through)
    assert (status, body) == (200, content)
    direct = f"Bearer {await node.served.token()}"
    path = f"/api/sessions/{session}/export?form=html"
    _, _, headers = await gate.http(path, Authorization=through)
    assert headers["content-security-policy"].startswith("sandbox;")
    path = f"/api/sessions/{session}/export?form=markdown"
    wanted = await node.served.http(path, Authorization=direct)
    got = await gate.http(path, Authorization=through)
    assert wanted[:2] == got[:2]
    assert len(got[1]) > 500_000
    assert len(node.node.requests.transfers) < 8


async def test_an_upload_arrives_where_the_prompt_is_carried_out(team: Fleet) -> None:
    node, gate = team.nodes[1], team.gateways[0]
    client = await gate.client()
    made = await client.intend("new_session", cwd=str(node.project))
    session = made["result"]["session"]
    through = f"Bearer {client.token}"
    text = "important " * 60_000
    status, body, _ = await gate.http(
        "/api/uploads", method="POST", body=text.encode(), Authorization=through
    )
    assert status == 200, body
    upload = json.loads(body)["id"]
    sent = await client.intend(
        "send",
        session=session,
        text=json.dumps([{"say": "read"}]),
        uuid=str(uuid.uuid4()),
        attachments=[{"upload": upload, "name": "notes.txt"}],
    )
    assert sent["ok"], sent
    await client.ending(session)
    (prompt,) = node.told("user")
    assert text in json.dumps(prompt, ensure_ascii=False)


async def test_search_and_usage_name_the_machines_that_did_not_answer(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    sessions = []
    for node in team.nodes:
        made = await client.intend("new_session", cwd=str(node.project), prompt="lighthouse words")
        sessions.append(made["result"]["session"])
        await client.ending(sessions[-1])
    through = f"Bearer {client.token}"

    async def search() -> dict[str, Any]:
        _, body, _ = await gate.http("/api/search?q=lighthouse", Authorization=through)
        return dict(json.loads(body))

    async def finds_all() -> dict[str, Any] | None:
        answer = await search()
        return answer if {hit["session"] for hit in answer["hits"]} == set(sessions) else None

    # A turn is indexed after it has ended.
    found = await until_asked(finds_all)
    assert found is not None
    assert found["machines"] == {"total": 2, "answered": 2, "missing": []}
    team.nodes[1].bus.cut()
    await gate.until(lambda: not gate.gateway.directory.is_here("node1"))
    found = await search()
    assert {hit["session"] for hit in found["hits"]} == {sessions[0]}
    assert found["machines"] == {"total": 2, "answered": 1, "missing": ["node1-name"]}
    status, body, _ = await gate.http("/api/usage?bounds=0,9999999999", Authorization=through)
    assert (status, json.loads(body)["machines"]["answered"]) == (200, 1)
    status, body, _ = await gate.http(f"/api/sessions/{sessions[1]}/changes", Authorization=through)
    assert status == 503
    assert "node1-name is away" in json.loads(body)["message"]


async def test_N48_a_file_without_its_machine_is_read_where_a_session_has_it(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    node = team.nodes[1]
    (node.project / "notes.txt").write_text("hello notes\n")
    assert (await client.intend("new_session", cwd=str(node.project)))["ok"]
    await gate.until(lambda: gate.gateway.directory.with_folder(str(node.project)))
    through = f"Bearer {client.token}"
    path = f"/api/files?path={node.project}/notes.txt"
    status, body, _ = await gate.http(path, Authorization=through)
    assert (status, body) == (200, b"hello notes\n")


async def test_N48_a_body_that_names_a_session_goes_to_its_machine(team: Fleet) -> None:
    gate = team.gateways[0]
    client = await gate.client()
    node = team.nodes[1]
    (node.project / "notes.txt").write_text("hello notes\n")
    made = await client.intend("new_session", cwd=str(node.project))
    session = made["result"]["session"]
    through = f"Bearer {client.token}"

    async def post(path: str, body: dict[str, Any]) -> Any:
        status, answer, _ = await gate.http(path, method="POST", body=body, Authorization=through)
        assert status == 200, answer
        return json.loads(answer)

    found = await post("/api/mentions", {"text": "see @notes.txt", "session": session})
    assert [each["kind"] for each in found["mentions"]] == ["file"]
    plan = {"name": "daily", "prompt": "go on", "cron": "0 7 * * *", "session": session}
    assert len((await post("/api/schedules", plan))["schedules"]) == 1
    budget = {"scope": "session", "key": session, "limit_usd": 2.0}
    assert [each["key"] for each in (await post("/api/budgets", budget))["budgets"]] == [session]
    assert [each.key for each in node.service.budgets.states()] == [session]


async def test_N48_drafts_and_comments_have_devices_of_the_fleet_as_authors(team: Fleet) -> None:
    gate = team.gateways[0]
    phone, desk = await gate.client(), await gate.client()
    device = (await phone.hear("welcome"))["device"]
    session = await phone.new_session()
    kept = await phone.intend("keep_draft", session=session, text="half a thought")
    assert kept["ok"], kept
    status, body, _ = await gate.http(
        f"/api/sessions/{session}/drafts", Authorization=f"Bearer {desk.token}"
    )
    assert (status, [each["text"] for each in json.loads(body)["drafts"]]) == (
        200,
        ["half a thought"],
    )
    every = [node.service.registry.sessions for node in team.nodes]
    sessions = next(each for each in every if session in each.rows)
    assert rank_of(sessions, device) == ROLES.index("owner")  # Of the author of a comment.
    assert (await desk.intend("revoke_device", device=device))["ok"]
    await gate.until(lambda: sessions.device(device) is None)
    await gate.until(lambda: sessions.lobby.session(session).drafts == ())  # type: ignore[union-attr]


async def test_N49_a_prompt_with_a_file_is_sent_through_another_gateway(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=1, gateways=2) as team:
        (node,) = team.nodes
        first, second = team.gateways
        await first.until(lambda: first.gateway.presence.gateways())
        client = await first.client()
        session = await client.new_session()
        text = "important " * 60_000
        status, body, _ = await first.http(
            "/api/uploads",
            method="POST",
            body=text.encode(),
            Authorization=f"Bearer {client.token}",
        )
        assert status == 200, body
        for file in (team.folder / "gateway-gate0" / "uploads").iterdir():
            file.unlink()  # The first gateway is gone.
        other = await Client(second, client.token).connect()
        sent = await other.intend(
            "send",
            session=session,
            text=json.dumps([{"say": "read"}]),
            uuid=str(uuid.uuid4()),
            attachments=[{"upload": json.loads(body)["id"], "name": "notes.txt"}],
        )
        assert sent["ok"], sent
        await other.ending(session)
        (prompt,) = node.told("user")
        assert text in json.dumps(prompt, ensure_ascii=False)
