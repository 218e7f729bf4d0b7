"""Hooks, suggested messages, agents at work, and rules that ask (docs/web.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit

SUGGESTED = "run the tests"
SCRIPT: list[dict[str, Any]] = [
    {
        "when": "build",
        "suggest": SUGGESTED,
        "steps": [
            {"use": "Bash", "input": {"command": "echo built", "description": "Build"}},
            {"say": "It is built."},
        ],
    },
    {"when": SUGGESTED, "steps": [{"say": "All tests pass."}]},
    {"steps": [{"say": "Fine."}]},
]


def _hooks(tmp_path: Path, **commands: str) -> None:
    """Write hooks into the settings of the emulated user."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in commands.items()
    }
    folder = tmp_path / "claude" / "home" / ".claude"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))


@pytest.mark.matrix(target="browser", cases=0)
async def test_U130_hooks_are_quiet_lines_at_their_call_and_turn(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SCRIPT)
    _hooks(tmp_path, PreToolUse="echo checked", Stop="echo stopped")
    app = await visit(server)
    await app.start("build it")
    await app.expect_words("It is built.")
    await app.expect_rest()
    call = app.card("Bash echo built")
    line = call.get_by_role("button", name="Hook PreToolUse:Bash")
    await expect(line).to_be_visible()
    await expect(call.get_by_text("checked", exact=True)).to_have_count(0)
    await line.click()
    await expect(call.get_by_text("checked", exact=True)).to_be_visible()
    # The hook of the turn has a line of its own.
    stop = app.transcript.get_by_role("button", name="Hook Stop")
    await expect(stop).to_be_visible()
    await expect(call.get_by_text("Stop")).to_have_count(0)


async def test_U130_a_failed_hook_is_visible_without_a_click(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SCRIPT)
    _hooks(tmp_path, PreToolUse="echo fine", PostToolUse="echo broken >&2; exit 1")
    app = await visit(server)
    await app.start("build it")
    await app.expect_words("It is built.")
    call = app.card("Bash echo built")
    await expect(call.get_by_text("PostToolUse:Bash failed with exit code 1")).to_be_visible()
    await expect(call.get_by_text("broken")).to_have_count(0)
    await call.get_by_role("button", name="2 hooks ran").click()
    await expect(call.get_by_text("broken")).to_be_visible()


async def test_U131_tab_takes_a_suggested_message_and_enter_sends_it(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(SCRIPT))
    await app.start("build it")
    await app.expect_rest()
    ghost = app.page.locator(".ghost")
    await expect(ghost).to_contain_text(SUGGESTED, timeout=PATIENCE_MS)
    await expect(app.composer).to_have_value("")
    await expect(app.composer).to_have_accessible_description(
        f"Suggested message: {SUGGESTED}. Press Tab to use it."
    )
    # It goes as soon as the user types, and comes back with the empty field.
    await app.composer.press_sequentially("x")
    await expect(ghost).to_have_count(0)
    await app.composer.press("Backspace")
    await expect(ghost).to_be_visible()
    # Enter in an empty field sends nothing.
    await app.composer.press("Enter")
    await expect(ghost).to_be_visible()
    await app.composer.press("Tab")
    await expect(app.composer).to_have_value(SUGGESTED)
    await expect(app.composer).to_be_focused()
    assert await app.transcript.get_by_text("All tests pass.").count() == 0
    await app.composer.press("Enter")
    await app.expect_words("All tests pass.")
    await app.expect_rest()
    # Without a suggestion, Tab leaves the field as ever.
    await expect(ghost).to_have_count(0)
    await app.composer.press("Tab")
    await expect(app.composer).not_to_be_focused()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U131_on_a_phone_a_button_takes_the_suggested_message(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(SCRIPT), phone=True)
    await app.start("build it")
    await app.expect_rest()
    take = app.page.get_by_role("button", name=f"Use the suggested message: {SUGGESTED}")
    await take.tap(timeout=PATIENCE_MS)
    await expect(app.composer).to_have_value(SUGGESTED)
    await expect(take).to_have_count(0)


async def test_U132_the_card_of_an_agent_says_what_it_does(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    given = {"description": "Look around", "prompt": "look", "subagent_type": "general-purpose"}
    use = {"type": "tool_use", "id": "toolu_a", "name": "Agent", "input": given}
    message = {"id": "msg_a", "role": "assistant", "model": "big", "content": [use]}
    await cli.write({"type": "assistant", "message": message, "parent_tool_use_id": None})
    task = {"task_id": "a1", "tool_use_id": "toolu_a", "subagent_type": "general-purpose"}
    started = {"description": "Look around", "is_backgrounded": False, "task_type": "local_agent"}
    await cli.write({"type": "system", "subtype": "task_started", **task, **started})
    said = {"role": "user", "content": [{"type": "text", "text": "look"}]}
    await cli.write({"type": "user", "message": said, "parent_tool_use_id": "toolu_a"})
    usage = {"total_tokens": 1200, "tool_uses": 3, "duration_ms": 31000}
    progress = {"description": "Reading the tests", "usage": usage, "summary": "Reading the tests"}
    await cli.write({"type": "system", "subtype": "task_progress", **task, **progress})
    card = app.transcript.locator("[data-call=toolu_a]")
    await expect(card).to_contain_text("Reading the tests", timeout=PATIENCE_MS)
    await expect(card).to_contain_text("1.2 k tokens")


async def test_U133_a_request_names_the_rule_that_asks_and_offers_no_lasting_approval(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    rule = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "make deploy"}],
        "behavior": "allow",
        "destination": "session",
    }
    asks = {"source": "projectSettings", "tool_name": "Bash", "rule_content": "make *"}
    await cli.ask(
        "a", {"command": "make deploy"}, permission_suggestions=[rule], matched_ask_rule=asks
    )
    await expect(app.decision).to_contain_text(
        "The rule Bash(make *) of the project's settings asks every time.", timeout=PATIENCE_MS
    )
    for name in ("Allow for this session", "Always allow…"):
        assert await app.decision.get_by_role("button", name=name).count() == 0
    await expect(app.decision.get_by_role("button", name="Always deny…")).to_be_visible()
    await app.decide("Allow once")
    assert (await cli.answer("a"))["behavior"] == "allow"
