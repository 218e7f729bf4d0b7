"""Attacks on the server's time: texts of a repository, a model or a file that take long to read."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import AnswerDialog, AnswerElicitation, Decide, Intent
from fairlead.server.view.lobby import Lobby
from tests.server.conftest import Served
from tests.server.server_harness import ServerHarness
from tests.timing.loop_watch import watched_loop
from tests.waiting import until

# T-80


@pytest.mark.parametrize(
    "patterns",
    [
        "*a" * 14 + "b",
        "**/" * 500 + "*a" * 500 + "b",
        "[!b]*" * 400 + "b",
        "\n".join("*" + "a" * count + "*b" for count in range(1, 300)),
    ],
    ids=["stars", "folders", "classes", "many"],
)
async def test_R14_no_gitignore_of_a_repository_stops_the_server(
    served: Served, patterns: str
) -> None:
    (served.project / ".gitignore").write_text(patterns)
    for number in range(50):
        (served.project / (f"{number}" + "a" * 198)).touch()
    client = await served.client()
    session = await client.new_session()
    before = time.process_time()
    async with asyncio.timeout(30):
        status, body, _ = await served.http(
            f"/api/sessions/{session}/names?q=a", Authorization=f"Bearer {client.token}"
        )
    assert status == 200
    assert len(json.loads(body)["names"]) == 50
    assert time.process_time() - before < 3


# T-81


def asking(number: int, command: str, rules: int = 40) -> dict[str, object]:
    """A line of a CLI that asks for a permission and suggests rules."""
    return {
        "line": {
            "type": "control_request",
            "request_id": f"r{number}",
            "request": {
                "subtype": "can_use_tool",
                "tool_name": "Bash",
                "tool_use_id": f"toolu_{number}",
                "input": {"command": command},
                "permission_suggestions": [
                    {
                        "type": "addRules",
                        "rules": [{"toolName": "Bash", "ruleContent": "npm run *"}] * rules,
                        "behavior": "allow",
                        "destination": "localSettings",
                    }
                ]
                * rules,
            },
        }
    }


LINES = {
    "parts": " && ".join(f"echo{number} x" for number in range(1_500)),
    "pipes": "|".join(["a"] * 4_999),
    "words": "rm " + "a " * 4_000,
    "directories": "cd a;" * 1_900 + "cat x",
    "wrappers": "xargs " * 1_600 + "ls",
    "arrays": "a=(" * 3_300,
    "long": "echo " + "x" * 300_000,
}
SHORT_S = 0.25
"""CPU seconds that a callback may take. The attacks took 1 to 14 s; an idle machine needs 0.02 s."""
FLOOD_S = 1.0
"""The same for a full pipe, which can contain a thousand requests (an idle machine: 0.2 s)."""

SLOW = {
    "path": "cat " + "~/" * 4_900,
    "braces": "echo {" + "," * 9_900,
    "commands": " && ".join(f"echo{number} x" for number in range(99)),
}


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize("name", [*LINES, *SLOW])
async def test_R14_no_command_of_a_model_stops_the_server(served: Served, name: str) -> None:
    client = await served.client()
    with watched_loop() as watch:
        command = LINES.get(name) or SLOW[name]
        session = await client.new_session([asking(0, command), {"wait": 1}])
        row = await client.pending(session)
        assert row["input"]["command"] == command
        if name in LINES:
            assert row["choices_note"].startswith("Too long to analyze")
            assert row["choices"] == []
        answer = await client.intend(
            "decide",
            session=session,
            request_id=row["id"],
            decision="allow",
            input_sha256=row["input_sha256"],
        )
        assert answer["ok"], answer
    assert watch.slowest < SHORT_S, watch.what


async def test_R14_a_line_of_many_commands_keeps_what_the_cli_suggests(served: Served) -> None:
    client = await served.client()
    command = " && ".join(f"npm run x{number}" for number in range(25))
    session = await client.new_session([asking(0, command), {"wait": 1}])
    row = await client.pending(session)
    assert [choice["label"] for choice in row["choices"]]
    assert all("npm run *" in choice["label"] for choice in row["choices"])


LARGE = [{"a": number} for number in range(100_000)]
"""An input of 1 MB that takes a fifth of a second to hash."""

LARGE_REQUESTS: dict[str, dict[str, Any]] = {
    "permission": {"subtype": "can_use_tool", "tool_name": "Other", "input": {"x": LARGE}},
    "suppressed": {
        "subtype": "can_use_tool",
        "tool_name": "Other",
        "input": {"x": LARGE, "y": 1},
        "suppress_always_allow_rule": True,
    },
    "question": {
        "subtype": "can_use_tool",
        "tool_name": "AskUserQuestion",
        "input": {"questions": [], "x": LARGE},
    },
    "plan": {
        "subtype": "can_use_tool",
        "tool_name": "ExitPlanMode",
        "input": {"plan": "1. do it", "x": LARGE},
    },
    "form": {
        "subtype": "elicitation",
        "mcp_server_name": "m",
        "message": "Name?",
        "requested_schema": {"type": "object", "properties": {}, "x": LARGE},
    },
    "dialog": {
        "subtype": "request_user_dialog",
        "dialog_kind": "refusal_fallback_prompt",
        "payload": {"x": LARGE},
    },
    "among many": {"subtype": "can_use_tool", "tool_name": "Other", "input": {"x": LARGE, "z": 1}},
}


@pytest.mark.matrix(target="faults", cases=2)
@pytest.mark.parametrize("name", LARGE_REQUESTS)
async def test_R14_a_large_request_of_any_kind_is_hashed_outside_the_event_loop(
    tmp_path: Path, name: str
) -> None:
    limits = Limits(requests_analyzed=0) if name == "among many" else None
    async with ServerHarness(tmp_path, limits=limits) as harness:
        line = {"type": "control_request", "request_id": "large", "request": LARGE_REQUESTS[name]}
        (tmp_path / "lines").write_text(json.dumps(line) + "\n")
        session = await harness.new()
        with watched_loop() as watch:
            await harness.say(session, {"file": str(tmp_path / "lines")}, {"wait": 1})
            live = await harness.registry.sessions.load(session)
            await harness.until(lambda: live.transcript.pending)
            wrong = await harness.act(
                decision("large", session, live.transcript.pending[0].kind, "")
            )
            assert wrong.code == "stale"
        assert watch.slowest < SHORT_S, watch.what
        (row,) = await harness.pending(session)
        assert row["input_sha256"] == harness.lobby("inbox")[f"{session}:large"]["input_sha256"]
        right = await harness.act(decision("large", session, row["kind"], row["input_sha256"]))
        assert right.ok, right


def decision(request: str, session: str, kind: str, seen: str) -> Intent:
    """A refusal of a request of any kind."""
    common: dict[str, Any] = {
        "session": session,
        "request_id": request,
        "input_sha256": seen,
    }
    if kind == "elicitation":
        return AnswerElicitation(**common, action="cancel")
    if kind == "dialog":
        return AnswerDialog(**common, answer=None)
    return Decide(**common, decision="deny")


# T-82


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_thousands_of_requests_of_one_cli_cost_no_other_session(served: Served) -> None:
    count = 2_000
    owner = await served.client()
    other = await owner.new_session()
    flooding = await served.client()
    with watched_loop() as watch:
        steps = [asking(number, f"npm run t{number}", 1) for number in range(count)]
        session = await flooding.new_session([*steps, {"wait": count}])
        live = served.service.registry.sessions.loaded(session)
        assert live is not None
        while live.transcript.count("pending") < count:
            before = time.process_time()
            answer = await owner.intend("rename", session=other, title="still here")
            assert answer["ok"], answer
            assert time.process_time() - before < 2
    assert watch.slowest < FLOOD_S, watch.what
    source = served.service.registry.sessions.source(session)
    rows = source.section("pending")
    assert [row.id for row in rows] == [f"r{number}" for number in range(100)]
    assert rows[0].choices
    assert not rows[0].choices_note
    inbox = served.service.registry.lobby.ids("inbox")
    assert len(inbox) == 100
    lobby = served.service.registry.lobby
    listed = lobby.session(session)
    assert listed is not None
    assert listed.pending == count
    assert sum(len(msgspec.json.encode(row)) for row in lobby.section("inbox")) < 100_000
    for number in range(3):  # As requests are answered, later ones are listed.
        row = rows[number]
        answer = await owner.intend(
            "decide", session=session, request_id=row.id, decision="allow",
            input_sha256=row.input_sha256,
        )  # fmt: skip
        assert answer["ok"], answer
        await until(partial(is_gone, lobby, f"{session}:{row.id}"), 20)
        assert len(lobby.ids("inbox")) == 100
        last = source.section("pending")[-1]
        assert last.id == f"r{100 + number}"
        assert not last.choices
        assert last.choices_note.startswith("Too many open requests")


def is_gone(lobby: Lobby, row_id: str) -> bool:
    return row_id not in lobby.ids("inbox")
