"""Profiles over HTTP, the bridge and schedules: who may change them, and what no client may
read."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.limits import Limits
from fairlead.server.redaction import Redacting
from fairlead.server.schedules.rules.schedule import Schedule
from tests.server.bridge.bridge_scenes import bridge, started
from tests.server.conftest import Served, serving
from tests.waiting import until

SECRET = "canary value of a variable"
"""It has no form that the log would remove as a secret."""


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    projects = tmp_path / "default" / "projects"
    async with serving(tmp_path, Limits(), projects=projects) as served:
        yield served


async def ask(served: Served, path: str, body: Any = None, role: str = "owner") -> tuple[int, Any]:
    token = await served.token(role)
    method = "GET" if body is None else "POST"
    status, answer, _ = await served.http(
        path, method=method, body=body, Authorization=f"Bearer {token}"
    )
    return status, json.loads(answer)


def work(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"name": "work", "config_dir": str(tmp_path / "w"), "env": {"MINE": SECRET}, **more}


async def test_B122_an_owner_adds_changes_and_removes_a_profile(
    served: Served, tmp_path: Path
) -> None:
    status, answer = await ask(served, "/api/profiles", work(tmp_path, label=" Acme  Inc. "))
    assert status == 200, answer
    (row,) = answer["profiles"]
    assert row == {
        "name": "work", "label": "Acme Inc.", "config_dir": str(tmp_path / "w"), "env": ["MINE"],
        "pass_env": [], "from_file": False, "sessions": 0, "live": 0,
    }  # fmt: skip
    client = await served.client()
    await client.say(type="open", document="lobby")
    server = (await client.hear("snapshot", document="lobby"))["state"]["server"]
    assert server["profiles"] == [{"name": "work", "label": "Acme Inc."}]
    kept = work(tmp_path, env={"MINE": None, "MORE": "2"}, pass_env=["OTEL_*"])
    status, answer = await ask(served, "/api/profiles", kept)
    profiles = served.service.registry.sessions.profiles
    profile = profiles.find("work")
    assert profile is not None
    assert profile.env == {"MINE": SECRET, "MORE": "2"}
    status, answer = await ask(served, "/api/profiles", work(tmp_path, env={}))
    assert answer["profiles"][0]["env"] == []
    status, answer = await ask(served, "/api/profiles/remove", {"name": "work"})
    assert (status, answer["profiles"]) == (200, [])
    status, answer = await ask(served, "/api/profiles/remove", {"name": "work"})
    assert (status, answer["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "default"}, {"config_dir": "relative"}, {"env": {"NEW": None}}, {"env": {"A": 1}},
        {"config_dir": "~"}, {"pass_env": ["A=B"]}, {"more": 1},
    ],
)  # fmt: skip
async def test_B122_a_wrong_profile_is_refused_in_words(
    served: Served, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    outside = {"config_dir": str(tmp_path)} if wrong == {"config_dir": "~"} else wrong
    status, answer = await ask(served, "/api/profiles", {**work(tmp_path), **outside})
    assert (status, answer["code"]) == (400, "bad_message")
    assert SECRET not in json.dumps(answer)
    assert (await ask(served, "/api/profiles"))[1]["profiles"] == []


async def test_B122_a_profile_in_use_stays_and_its_sessions_stay_readable_without_it(
    served: Served, tmp_path: Path
) -> None:
    files = {"AGENT_FILES": str(tmp_path / "w" / "projects")}
    await ask(served, "/api/profiles", work(tmp_path, env=files))
    client = await served.client()
    result = await client.intend(
        "new_session", cwd=str(served.project), prompt="hello there", profile="work"
    )
    session = result["result"]["session"]
    await client.ending(session)
    for path, body in (
        ("/api/profiles/remove", {"name": "work"}),
        ("/api/profiles", work(tmp_path, config_dir=str(tmp_path / "other"), env={})),
    ):
        status, answer = await ask(served, path, body)
        assert (status, answer["code"]) == (409, "conflict")
        assert "Stop it first" in answer["message"]
    assert (await client.intend("stop", session=session))["ok"]
    assert (await ask(served, "/api/profiles/remove", {"name": "work"}))[0] == 200
    lobby = served.service.registry.lobby
    row = lobby.session(session)
    assert row is not None
    assert "does not exist on this server" in str(row.resume_problem)
    status, export = await ask(served, f"/api/sessions/{session}/export?form=json")
    assert status == 200
    assert "hello there" in json.dumps(export)
    for kind in ("resume", "fork"):
        refused = await client.intend(kind, session=session)
        assert not refused["ok"]
        assert "does not exist on this server" in refused["message"]
    await ask(served, "/api/profiles", work(tmp_path, env=files))
    assert (await client.intend("resume", session=session))["ok"]


async def test_B124_the_bridge_and_schedules_start_sessions_in_a_profile(
    served: Served, tmp_path: Path
) -> None:
    await ask(served, "/api/profiles", work(tmp_path))
    sessions = served.service.registry.sessions
    visitor = await bridge(served)
    await visitor.say(type="start", projectPath=str(served.project), profile="work")
    created = await visitor.hear("system", subtype="session_created")
    assert created["profile"] == "work"
    assert sessions.account_of(str(created["sessionId"])) == "work"
    assert sessions.account_of(await started(visitor)) == ""
    await served.service.schedules.put(
        Schedule(name="n", prompt="p", at=4e9, cwd=str(served.project), profile="work")
    )
    before = set(sessions.rows)
    await served.service.schedules.step(4e9 + 1)
    (new,) = await until(lambda: set(sessions.rows) - before, 60)
    assert sessions.account_of(new) == "work"
    status, limits = await ask(served, "/api/limits")
    assert (status, limits["stopped"]) == (200, [])


@pytest.mark.parametrize("role", ["viewer", "approver", "operator"])
async def test_R29_only_an_owner_reads_and_changes_profiles(
    served: Served, tmp_path: Path, role: str
) -> None:
    assert (await ask(served, "/api/profiles", role=role))[0] == 403
    assert (await ask(served, "/api/profiles", work(tmp_path), role))[0] == 403
    assert (await ask(served, "/api/profiles/remove", {"name": "work"}, role))[0] == 403
    assert (await ask(served, "/api/profiles"))[1]["profiles"] == []


async def test_R29_the_value_of_a_variable_reaches_no_client_log_export_or_process_list(
    served: Served, tmp_path: Path
) -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(Redacting("%(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    seen: list[str] = []
    try:
        bodies = [work(tmp_path), work(tmp_path, name="a b"), work(tmp_path, name="x/y")]
        bodies += [work(tmp_path, config_dir="no"), {**work(tmp_path), "env": {"A B": SECRET}}]
        seen += [json.dumps(await ask(served, "/api/profiles", body)) for body in bodies]
        client = await served.client()
        await client.say(type="open", document="lobby")
        seen.append(json.dumps(await client.hear("snapshot", document="lobby")))
        made = await client.intend(
            "new_session", cwd=str(served.project), prompt="hello", profile="work"
        )
        session = made["result"]["session"]
        await client.ending(session)
        # A session above the data folder: its files are still not readable.
        assert (await client.intend("new_session", cwd=str(tmp_path)))["ok"]
        await client.say(type="close", document=session)
        await client.say(type="open", document=session)
        seen.append(json.dumps(await client.hear("snapshot", document=session)))
        lines = running_command_lines()
        assert any(b"agent.py" in line for line in lines), "the agent is not in the list"
        assert not any(SECRET.encode() in line for line in lines)
        token = f"Bearer {await served.token()}"
        for path in (
            "/api/profiles", "/api/sessions", "/api/limits", "/api/schedules", "/api/metrics",
            "/api/health", "/api/openapi.json", f"/api/sessions/{session}/log",
            *(f"/api/sessions/{session}/export?form={form}" for form in ("json", "markdown", "html", "ndjson")),
            f"/api/search?q={SECRET.split()[0]}",
            f"/api/files?path={tmp_path / 'data' / 'profiles.json'}",
        ):  # fmt: skip
            status, body, _ = await served.http(path, Authorization=token)
            assert status == (404 if "/api/files" in path else 200), path
            seen.append(body.decode("utf-8", "replace"))
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    assert all(SECRET not in text for text in seen)
    assert SECRET not in log.getvalue()
    profile = served.service.registry.sessions.profiles.find("work")
    assert profile is not None
    assert profile.env["MINE"] == SECRET
    for file in (tmp_path / "data").iterdir():
        if file.is_file() and file.name != "profiles.json":
            assert SECRET.encode() not in file.read_bytes(), file


def running_command_lines() -> list[bytes]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # It ended meanwhile.
            lines.append(path.read_bytes())
    return lines
