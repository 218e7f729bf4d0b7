"""What a person approves is what runs: shown, answered and carried out are one thing (T-14)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess


async def allowed(app: AppPage, cli: FakeCliProcess, request: str) -> Any:
    """Press Allow; gives the input that the agent may run with."""
    await app.decide("Allow once")
    answer = await cli.answer(request)
    assert answer["behavior"] == "allow"
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
    return answer["updatedInput"]


@pytest.mark.matrix(target="browser", cases=0)
async def test_another_input_under_the_same_tool_use_is_requested_again(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "ls"}, tool_use_id="toolu_one")
    assert await allowed(app, cli, "a") == {"command": "ls"}
    await cli.ask("b", {"command": "rm -rf ."}, tool_use_id="toolu_one")
    await expect(app.decision.get_by_label("Command")).to_have_text("rm -rf .")
    assert await allowed(app, cli, "b") == {"command": "rm -rf ."}
    assert [request for request, _ in cli.answers] == ["a", "b"]


@pytest.mark.matrix(target="browser", cases=0)
async def test_two_requests_about_one_tool_use_are_answered_each_as_it_was_shown(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "ls"}, tool_use_id="toolu_one")
    await cli.ask("b", {"command": "rm -rf ."}, tool_use_id="toolu_one")
    await expect(app.decision).to_contain_text("1 of 2", timeout=PATIENCE_MS)
    await expect(app.decision.get_by_label("Command")).to_have_text("ls")
    await app.decide("Allow once")
    assert (await cli.answer("a"))["updatedInput"] == {"command": "ls"}
    await expect(app.decision.get_by_label("Command")).to_have_text("rm -rf .")
    await app.decide("Deny and stop")
    assert (await cli.answer("b"))["behavior"] == "deny"
    assert [request for request, _ in cli.answers] == ["a", "b"]


ODD: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...] = (
    # Of two equal names the last counts, for the eye as for the agent.
    ('{"command": "ls", "command": "rm -rf ."}', ("rm -rf .",), {"command": "rm -rf ."}),
    # What it calls itself is beside the command, never in its place.
    (
        '{"description": "List files", "command": "rm -rf ."}',
        ("rm -rf .", "List files"),
        {"description": "List files", "command": "rm -rf ."},
    ),
    # A number that a browser cannot hold is said to be inexact, and reaches the agent exactly.
    (
        '{"command": "sleep", "timeout": 12345678901234567890}',
        ("sleep", "too large to display exactly"),
        {"command": "sleep", "timeout": 12345678901234567890},
    ),
    # A command that is no text is shown as what it is.
    (
        '{"command": ["rm", "-rf", "."], "timeout": 1.5}',
        ('"rm"', '"-rf"', "1.5"),
        {"command": ["rm", "-rf", "."], "timeout": 1.5},
    ),
)


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_odd_input_runs_as_it_was_shown(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for at, (given, shown, runs) in enumerate(ODD):
        await cli.ask(f"odd{at}", given)
        for words in shown:
            await expect(app.decision).to_contain_text(words)
        assert await allowed(app, cli, f"odd{at}") == runs


async def test_an_edited_command_runs_exactly_as_edited(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "make deploy", "timeout": 5, "words": ["a"]})
    await app.decide("Modify…")
    await app.decision.get_by_role("textbox", name="command").fill("make test")
    await app.decide("Allow modified")
    ran = (await cli.answer("a"))["updatedInput"]
    assert ran == {"command": "make test", "timeout": 5, "words": ["a"]}
