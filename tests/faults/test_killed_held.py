"""The server is killed with -9 while it holds an answer that the user can still undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.faults.ground import read_log
from tests.faults.killable import Nursery
from tests.faults.lane import Lane

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
    "behavior": "allow",
    "destination": "session",
}


def asking(request: str, command: str) -> str:
    asked = {"id": request, "input": {"command": command}, "suggestions": [RULE]}
    return json.dumps([{"ask": asked}, {"wait": 1}])


def answers(lane: Lane) -> dict[str, str]:
    """What the CLI was told, by request."""
    received = [
        entry["response"] for entry in read_log(lane.log) if entry.get("type") == "control_response"
    ]
    return {
        event["request_id"]: event.get("response", {}).get("behavior", "") for event in received
    }


async def ask(lane: Lane, request: str, command: str) -> dict[str, Any]:
    """Have the CLI ask; gives the request as the client sees it."""
    await lane.robot.say_now(lane.robot.prompt(asking(request, command)))
    await lane.until(lambda: lane.robot.state and lane.robot.state["pending"])
    assert lane.robot.state is not None
    return next(row for row in lane.robot.state["pending"] if row["id"] == request)


async def decide(lane: Lane, row: dict[str, Any], decision: str, **more: Any) -> None:
    n = lane.robot.want(
        "decide",
        session=lane.robot.session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision=decision,
        **more,
    )
    await lane.robot.say_now(n)
    await lane.until(lambda: n in lane.robot._results)
    assert lane.robot._results[n]["ok"], lane.robot._results[n]


async def outcome_after_kill(lane: Lane, request: str, decision: str) -> tuple[str, str]:
    """Kill the server while it holds this answer; how the request and its call ended."""
    server = await lane.serve()
    lane.meet(server)
    await lane.until(lambda: lane.robot.first is not None)
    await decide(lane, await ask(lane, request, "make"), decision, hold=True)
    await lane.until(lambda: lane.robot.state["pending"][0]["details"].get("held"))  # type: ignore[index]
    await lane.kill(server)
    await lane.hang_up()
    assert request not in answers(lane)
    lane.meet(server := await lane.serve())
    await lane.until(lambda: lane.robot.first is not None)
    state, lobby = lane.robot.first or ({}, {})
    assert (state["pending"], lobby["inbox"]) == ([], [])
    (row,) = (entry for entry in state["settled"] if entry["id"] == request)
    (item,) = (item for item in state["items"] if item["id"] == row["tool"])
    await lane.kill(server)
    await lane.hang_up()
    return row["outcome"], item["state"]


async def test_B65_an_answer_that_is_held_at_kill_9_is_never_an_approval(tmp_path: Path) -> None:
    async with Nursery(tmp_path) as nursery:
        lane = Lane(tmp_path / "lane", 1, nursery)
        await lane.first()
        lane.robot.answers = False
        assert await outcome_after_kill(lane, "denied", "deny") == ("answered", "denied")
        outcome, state = await outcome_after_kill(lane, "allowed", "allow")
        assert (outcome, state in ("running", "done")) == ("process_ended", False)
        assert answers(lane) == {}
        assert lane.problems == []


async def test_B66_always_deny_outlives_the_server(tmp_path: Path) -> None:
    async with Nursery(tmp_path) as nursery:
        lane = Lane(tmp_path / "lane", 1, nursery)
        await lane.first()
        lane.robot.answers = False
        server = await lane.serve()
        lane.meet(server)
        await lane.until(lambda: lane.robot.first is not None)
        row = await ask(lane, "first", "make")
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        await decide(lane, row, "deny_always", choices=[index])
        await lane.until(lambda: answers(lane).get("first") == "deny")
        await lane.kill(server)
        await lane.hang_up()
        lane.meet(server := await lane.serve())
        await lane.until(lambda: lane.robot.first is not None)
        await lane.robot.say_now(lane.robot.prompt(asking("second", "make all")))
        await lane.until(lambda: answers(lane).get("second") == "deny")
        await lane.kill(server)
        await lane.hang_up()
        assert lane.problems == []
