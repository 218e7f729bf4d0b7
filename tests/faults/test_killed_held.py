"""The server is killed with -9 while it holds an answer that the user can still undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.faults.fault_harness import read_log
from tests.faults.kill_harness import KillHarness
from tests.faults.server_forker import ServerForker

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
    "behavior": "allow",
    "destination": "session",
}


def asking(request: str, command: str) -> str:
    asked = {"id": request, "input": {"command": command}, "suggestions": [RULE]}
    return json.dumps([{"ask": asked}, {"wait": 1}])


def answers(harness: KillHarness) -> dict[str, str]:
    """What the CLI received, by request."""
    received = [
        entry["response"]
        for entry in read_log(harness.log)
        if entry.get("type") == "control_response"
    ]
    return {
        event["request_id"]: event.get("response", {}).get("behavior", "") for event in received
    }


async def ask(harness: KillHarness, request: str, command: str) -> dict[str, Any]:
    """Have the CLI ask; gives the request as the client sees it."""
    await harness.client.say_now(harness.client.prompt(asking(request, command)))
    await harness.until(lambda: harness.client.state and harness.client.state["pending"])
    assert harness.client.state is not None
    return next(row for row in harness.client.state["pending"] if row["id"] == request)


async def decide(harness: KillHarness, row: dict[str, Any], decision: str, **more: Any) -> None:
    n = harness.client.want(
        "decide",
        session=harness.client.session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision=decision,
        **more,
    )
    await harness.client.say_now(n)
    await harness.until(lambda: n in harness.client._results)
    assert harness.client._results[n]["ok"], harness.client._results[n]


async def outcome_after_kill(harness: KillHarness, request: str, decision: str) -> tuple[str, str]:
    """Kill the server while it holds this answer; how the request and its call ended."""
    server = await harness.serve()
    harness.meet(server)
    await harness.until(lambda: harness.client.first is not None)
    await decide(harness, await ask(harness, request, "make"), decision, hold=True)
    await harness.until(lambda: harness.client.state["pending"][0]["details"].get("held"))  # type: ignore[index]
    await harness.kill(server)
    await harness.hang_up()
    assert request not in answers(harness)
    harness.meet(server := await harness.serve())
    await harness.until(lambda: harness.client.first is not None)
    state, lobby = harness.client.first or ({}, {})
    assert (state["pending"], lobby["inbox"]) == ([], [])
    (row,) = (entry for entry in state["settled"] if entry["id"] == request)
    (item,) = (item for item in state["items"] if item["id"] == row["tool"])
    await harness.kill(server)
    await harness.hang_up()
    return row["outcome"], item["state"]


async def test_B65_an_answer_that_is_held_at_kill_9_is_never_an_approval(tmp_path: Path) -> None:
    async with ServerForker(tmp_path) as forker:
        harness = KillHarness(tmp_path / "lane", 1, forker)
        await harness.first()
        harness.client.answers = False
        assert await outcome_after_kill(harness, "denied", "deny") == ("answered", "denied")
        outcome, state = await outcome_after_kill(harness, "allowed", "allow")
        assert (outcome, state in ("running", "done")) == ("process_ended", False)
        assert answers(harness) == {}
        assert harness.problems == []


async def test_B66_always_deny_outlives_the_server(tmp_path: Path) -> None:
    async with ServerForker(tmp_path) as forker:
        harness = KillHarness(tmp_path / "lane", 1, forker)
        await harness.first()
        harness.client.answers = False
        server = await harness.serve()
        harness.meet(server)
        await harness.until(lambda: harness.client.first is not None)
        row = await ask(harness, "first", "make")
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        await decide(harness, row, "deny_always", choices=[index])
        await harness.until(lambda: answers(harness).get("first") == "deny")
        await harness.kill(server)
        await harness.hang_up()
        harness.meet(server := await harness.serve())
        await harness.until(lambda: harness.client.first is not None)
        await harness.client.say_now(harness.client.prompt(asking("second", "make all")))
        await harness.until(lambda: answers(harness).get("second") == "deny")
        await harness.kill(server)
        await harness.hang_up()
        assert harness.problems == []
