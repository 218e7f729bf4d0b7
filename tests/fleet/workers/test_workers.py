"""A server whose sessions run in workers: clients notice no difference."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.fleet_harness import text_of
from tests.fleet.workers.workers_harness import ServedByWorkers, with_workers
from tests.server.conftest import PATIENT, serving
from tests.server.terminal.screen import open_terminal
from tests.waiting import until, until_asked


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedByWorkers]:
    async with with_workers(tmp_path) as made:
        yield made


def rows(served: ServedByWorkers) -> dict[str, Any]:
    return {row.id: row for row in served.service.registry.lobby.sessions()}


async def test_N30_new_sessions_run_in_all_workers_and_none_in_the_front(
    served: ServedByWorkers,
) -> None:
    client = await served.client()
    sessions = [await client.new_session([{"say": f"number {n}"}]) for n in range(6)]
    for number, session in enumerate(sessions):
        await text_of(client, session, f"number {number}")
    assert served.service.registry.sessions.rows == {}
    counts = [len(each.registry.sessions.rows) for each in served.workers]
    assert sum(counts) == 6
    assert all(row.node == "" for row in rows(served).values())
    assert served.service.registry.lobby.section("nodes") == []


async def test_N30_a_request_is_listed_and_answered(served: ServedByWorkers) -> None:
    client = await served.client()
    session = await client.new_session(
        [{"ask": {"id": "r1", "tool": "Bash", "input": {"command": "ls"}}}, {"wait": 1}]
    )
    pending = await client.pending(session)
    lobby = served.service.registry.lobby
    await until(lambda: lobby.section("inbox") != [])  # A document of its own, beside the session.
    (row,) = lobby.section("inbox")
    assert (row.session, row.node) == (session, "")
    answer = await client.intend(
        "decide",
        session=session,
        request_id=pending["id"],
        decision="allow",
        input_sha256=row.input_sha256,
    )
    assert answer["ok"], answer
    await client.ending(session)
    await until(lambda: served.service.registry.lobby.section("inbox") == [])


async def test_N31_sessions_stay_reachable_when_the_number_of_workers_changes(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, PATIENT) as alone:
        client = await alone.client()
        first = await client.new_session([{"say": "of one process"}])
        await client.ending(first)
    async with with_workers(tmp_path, workers=2) as two:
        client = await two.client()
        others = [await client.new_session([{"say": f"of two, {n}"}]) for n in range(4)]
        for session in others:
            await client.ending(session)
        await text_of(client, first, "of one process")
    async with with_workers(tmp_path, workers=1, more=1) as one:
        client = await one.client()
        assert rows(one).keys() == {first, *others}
        for number, session in enumerate(others):
            await text_of(client, session, f"of two, {number}")
        for session in (first, *others):
            renamed = await client.intend("rename", session=session, title="still here")
            assert renamed["ok"], renamed


async def test_N30_search_usage_and_files_are_of_all_processes(served: ServedByWorkers) -> None:
    client = await served.client()
    sessions = []
    for _ in range(4):
        made = await client.intend(
            "new_session", cwd=str(served.project), prompt="lighthouse words"
        )
        sessions.append(made["result"]["session"])
        await client.ending(sessions[-1])
    token = f"Bearer {client.token}"

    async def get(path: str) -> Any:
        status, body, _ = await served.http(path, Authorization=token)
        assert status == 200, body
        return json.loads(body)

    async def finds_all() -> bool:
        hits = (await get("/api/search?q=lighthouse"))["hits"]
        return {hit["session"] for hit in hits} == set(sessions)

    assert await until_asked(finds_all)  # A turn is indexed after it has ended.
    health = await get("/api/health")
    assert (health["ok"], health["sessions"]) == (True, 4)
    assert {row["id"] for row in (await get("/api/sessions"))["sessions"]} == set(sessions)
    (served.project / "notes.txt").write_text("hello\n")
    for session in sessions:
        names = await get(f"/api/sessions/{session}/names?q=notes")
        assert [each["path"] for each in names["names"]] == ["notes.txt"]
        await get(f"/api/sessions/{session}/export?form=json")


async def test_N30_settings_of_the_front_apply_in_the_workers(served: ServedByWorkers) -> None:
    client = await served.client()
    token = f"Bearer {client.token}"
    profile = {"name": "work", "config_dir": str(served.project.parent / "work-config")}
    status, body, _ = await served.http(
        "/api/profiles", method="POST", body=profile, Authorization=token
    )
    assert status == 200, body
    for _ in range(4):
        made = await client.intend("new_session", cwd=str(served.project), profile="work")
        assert made["ok"], made
    await until(lambda: [row.profile for row in rows(served).values()] == ["work"] * 4)


async def test_N30_terminals_and_revocation_reach_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    async with with_workers(tmp_path, terminal=True) as served:
        owner, lost = await served.client(), await served.client()
        device = (await lost.hear("welcome"))["device"]
        session = await lost.new_session()
        screen = await open_terminal(lost, session)
        await screen.run("echo t$((40+2))", "t42")
        terminals = served.worker_of(session).terminals
        assert terminals is not None
        assert (await owner.intend("revoke_device", device=device))["ok"]
        await until(lambda: terminals.rows(session)[0].ended)


async def test_N30_files_of_a_workers_session_are_found_by_mentions(
    served: ServedByWorkers,
) -> None:
    client = await served.client()
    (served.project / "notes.txt").write_text("hello\n")
    session = await client.new_session()
    status, body, _ = await served.http(
        "/api/mentions",
        method="POST",
        body={"text": "see @notes.txt", "session": session},
        Authorization=f"Bearer {client.token}",
    )
    assert status == 200, body
    assert [each["kind"] for each in json.loads(body)["mentions"]] == ["file"]
    status, body, _ = await served.http(
        f"/api/files?path={served.project}/notes.txt", Authorization=f"Bearer {client.token}"
    )
    assert (status, body) == (200, b"hello\n")


async def test_N30_a_profile_that_a_workers_session_uses_cannot_be_removed(
    served: ServedByWorkers,
) -> None:
    client = await served.client()
    token = f"Bearer {client.token}"
    profile = {"name": "work", "config_dir": str(served.project.parent / "work-config")}
    await served.http("/api/profiles", method="POST", body=profile, Authorization=token)
    made = await client.intend("new_session", cwd=str(served.project), profile="work")
    session = made["result"]["session"]
    await until(lambda: rows(served)[session].live if session in rows(served) else False)
    status, body, _ = await served.http("/api/profiles", Authorization=token)
    (row,) = json.loads(body)["profiles"]
    assert (row["sessions"], row["live"]) == (1, 1)
    status, body, _ = await served.http(
        "/api/profiles/remove", method="POST", body={"name": "work"}, Authorization=token
    )
    assert (status, json.loads(body)["code"]) == (409, "conflict")


async def test_N46_a_budget_counts_the_sessions_of_all_workers(served: ServedByWorkers) -> None:
    client = await served.client()
    token = f"Bearer {client.token}"

    async def post(path: str, body: dict[str, Any]) -> Any:
        status, answer, _ = await served.http(path, method="POST", body=body, Authorization=token)
        assert status == 200, answer
        return json.loads(answer)["budgets"]

    def states() -> list[tuple[float, str]]:
        budgets = [each.budgets for each in (served.service, *served.workers)]
        found = [state for each in budgets for state in each.states()]
        return [(round(state.spent_usd, 6), state.level) for state in found]

    await post("/api/budgets", {"scope": "day", "limit_usd": 1.0})
    assert states() == [(0.0, "")] * 3
    spenders: set[int] = set()
    spent = 0.0
    while len(spenders) < 2:  # Which worker gets a session depends on the device.
        session = await client.new_session([{"cost": 0.01}, {"say": "spent"}])
        await client.ending(session)
        spent = round(spent + 0.01, 6)
        spenders.add(served.workers.index(served.worker_of(session)))
        await until(lambda: states() == [(spent, "")] * 3)  # noqa: B023
    await post("/api/budgets", {"scope": "day", "limit_usd": spent})
    assert states() == [(spent, "reached")] * 3
    assert all(worker.budgets.blocking(session) is not None for worker in served.workers)
    (alert,) = served.service.registry.lobby.section("server").budgets
    assert (alert.level, round(alert.spent_usd, 6)) == ("reached", spent)
    assert await post("/api/budgets/remove", {"id": "day:"}) == []
    assert states() == []
