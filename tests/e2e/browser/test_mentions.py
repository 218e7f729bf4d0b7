"""What an @ attaches is seen before it is sent, and can be switched off."""

from __future__ import annotations

import json
from typing import Any

from playwright.async_api import Locator, expect

from tests.e2e.browser.conftest import Perform
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.puppet import Puppet

PASTE = """
(area, text) => {
  area.focus();
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const pasted = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  if (area.dispatchEvent(pasted)) document.execCommand("insertText", false, text);
}
"""


def chips(desk: Desk) -> Locator:
    return desk.page.get_by_role("group", name="What @ attaches")


def line_of(puppet: Puppet, text: str) -> dict[str, Any]:
    lines = [one for one in puppet.heard if one.get("type") == "user" and text in json.dumps(one)]
    return dict(lines[-1])


async def test_B52_pasted_text_shows_what_it_would_attach_and_can_go_as_plain_text(
    perform: Perform,
) -> None:
    desk, puppet = await perform()
    await puppet.finish()
    await desk.expect_rest()
    await desk.composer.evaluate(PASTE, "summarise this: see @/etc/passwd")
    row = chips(desk).get_by_role("listitem")
    await expect(row).to_contain_text("/etc/passwd", timeout=PATIENCE_MS)
    await expect(row).to_contain_text("outside the project")
    await expect(chips(desk)).to_contain_text("without asking")
    await chips(desk).get_by_label("Send as plain text").check()
    await expect(chips(desk)).to_contain_text("Nothing is attached")
    await desk.composer.press("Enter")
    await puppet.prompted(2)
    assert line_of(puppet, "summarise this")["client_composed"] is True
    await puppet.finish()
    await expect(chips(desk)).to_have_count(0)
    await desk.composer.fill("and @/etc/hosts")
    await expect(chips(desk)).to_contain_text("/etc/hosts", timeout=PATIENCE_MS)
    await expect(chips(desk).get_by_label("Send as plain text")).not_to_be_checked()


async def test_B52_a_typed_mention_stays_one(perform: Perform) -> None:
    desk, puppet = await perform()
    await puppet.finish()
    await desk.expect_rest()
    (desk.house.project / "notes.md").write_text("abc")
    await desk.composer.press_sequentially("read @notes.md and @nothing.md ")
    rows = chips(desk).get_by_role("listitem")
    await expect(rows).to_have_count(2, timeout=PATIENCE_MS)
    await expect(rows.nth(0)).to_contain_text("3 B")
    await expect(rows.nth(1)).to_contain_text("not found, stays text")
    await desk.composer.press("Enter")
    await puppet.prompted(2)
    assert "client_composed" not in line_of(puppet, "@notes.md")
