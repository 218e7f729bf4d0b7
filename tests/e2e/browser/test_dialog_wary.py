"""A request for which the CLI suggests no, and one that takes no lasting answer (T-17)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.conftest import BeginTurn

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make deploy"}],
    "behavior": "allow",
    "destination": "session",
}
WARY: dict[str, Any] = {"default_to_no": True, "suppress_always_allow_rule": True}


async def test_B51_deny_is_focused_and_no_lasting_answer_is_offered(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate("document.activeElement.blur()")
    await cli.ask("a", {"command": "make deploy"}, permission_suggestions=[RULE], **WARY)
    await expect(app.decision).to_be_visible(timeout=PATIENCE_MS)
    deny = app.decision.get_by_role("button", name="Deny", exact=True)
    await expect(deny).to_be_focused(timeout=PATIENCE_MS)
    for name in ("Allow for this session", "Always allow…", "Always deny…"):
        assert await app.decision.get_by_role("button", name=name).count() == 0
    await expect(app.decision.get_by_text("Claude Code recommends denying this.")).to_be_visible()
    await expect(app.decision.get_by_text("can only be allowed once")).to_be_visible()
    await app.page.keyboard.press("Enter")
    await app.page.keyboard.press("d")  # Ends the undo period.
    assert (await cli.answer("a"))["behavior"] == "deny"


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_writer_keeps_the_focus_and_enter_goes_into_the_text(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    box = app.page.get_by_role("textbox", name="Message")
    await box.fill("half a thought")
    await cli.ask("a", {"command": "make deploy"}, **WARY)
    await expect(app.decision).to_be_visible(timeout=PATIENCE_MS)
    await expect(box).to_be_focused()
    await app.page.keyboard.press("Shift+Enter")
    assert cli.answers == []
    await app.decide("Allow once")
    assert (await cli.answer("a"))["behavior"] == "allow"


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_ordinary_request_is_not_answered_by_enter(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate("document.activeElement.blur()")
    await cli.ask("a", {"command": "make deploy"}, permission_suggestions=[RULE])
    await expect(app.decision).to_be_visible(timeout=PATIENCE_MS)
    await app.page.keyboard.press("Enter")
    assert await app.decision.get_by_role("button", name="Allow for this session").count() == 1
    await app.decide("Allow once")
    assert (await cli.answer("a"))["behavior"] == "allow"
