"""What an @ attaches is seen before it is sent, and can be switched off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess

PASTE = """
(area, text) => {
  area.focus();
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const pasted = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  if (area.dispatchEvent(pasted)) document.execCommand("insertText", false, text);
}
"""


def chips(app: AppPage) -> Locator:
    return app.page.get_by_role("group", name="What @ attaches")


def line_of(cli: FakeCliProcess, text: str) -> dict[str, Any]:
    lines = [one for one in cli.heard if one.get("type") == "user" and text in json.dumps(one)]
    return dict(lines[-1])


async def test_B52_pasted_text_shows_what_it_would_attach_and_can_go_as_plain_text(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.finish()
    await app.expect_rest()
    await app.composer.evaluate(PASTE, "summarise this: see @/etc/passwd")
    row = chips(app).get_by_role("listitem")
    await expect(row).to_contain_text("/etc/passwd", timeout=PATIENCE_MS)
    await expect(row).to_contain_text("outside the project")
    await expect(chips(app)).to_contain_text("without asking")
    await chips(app).get_by_label("Send as plain text").check()
    await expect(chips(app)).to_contain_text("Nothing is attached")
    await app.composer.press("Enter")
    await cli.prompted(2)
    assert line_of(cli, "summarise this")["client_composed"] is True
    await cli.finish()
    await expect(chips(app)).to_have_count(0)
    await app.composer.fill("and @/etc/hosts")
    await expect(chips(app)).to_contain_text("/etc/hosts", timeout=PATIENCE_MS)
    await expect(chips(app).get_by_label("Send as plain text")).not_to_be_checked()


@pytest.mark.matrix(target="browser", cases=0)
async def test_B52_a_typed_mention_stays_one(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.finish()
    await app.expect_rest()
    (app.server.project / "notes.md").write_text("abc")
    await app.composer.press_sequentially("read @notes.md and @nothing.md ")
    rows = chips(app).get_by_role("listitem")
    await expect(rows).to_have_count(2, timeout=PATIENCE_MS)
    await expect(rows.nth(0)).to_contain_text("3 B")
    await expect(rows.nth(1)).to_contain_text("not found, stays text")
    await app.composer.press("Enter")
    await cli.prompted(2)
    assert "client_composed" not in line_of(cli, "@notes.md")
