"""Budgets in the app: set by an owner, shown above the composer, and raised."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit

SAYS = """
scenes:
  - when: /.*/
    steps:
      - say: Done.
"""


async def test_U121_a_reached_budget_is_shown_and_holds_messages_until_it_is_raised(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SAYS)
    app = await visit(server)
    page = app.page
    await app.start("hello")
    await app.expect_rest()
    session = app.session
    await page.goto(f"{server.base}/settings?session={session}")
    await app.select(page.get_by_role("combobox", name="What the budget is for"), "session")
    await page.get_by_label("Amount in US dollars").fill("0")
    await page.get_by_role("button", name="Set", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("Enter an amount above 0")
    await page.get_by_label("Amount in US dollars").fill("0.000001")
    await page.get_by_role("button", name="Set", exact=True).click()
    await expect(page.get_by_text("Reached: messages wait.")).to_be_visible()
    await page.goto(f"{server.base}/s/{session}")
    note = page.get_by_role("status").filter(has_text="Budget reached")
    await expect(note).to_contain_text("Messages wait until an owner raises it.")
    await app.say("one more")
    live = server.service.registry.sessions.loaded(session)
    assert live is not None
    await expect(page.get_by_text("one more")).to_be_visible()
    assert len(live.transcript.turns) == 1
    await note.get_by_role("button", name="Change budget").click()
    await page.get_by_role("button", name=re.compile("^Remove the budget")).click()
    await expect(page.get_by_text("No budgets.")).to_be_visible()
    await page.goto(f"{server.base}/s/{session}")
    await expect(note).to_have_count(0)
    await app.expect_rest()
    assert len(live.transcript.turns) == 2


async def test_U122_a_viewer_sees_budgets_and_cannot_change_them(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SAYS)
    owner = await visit(server)
    await owner.page.goto(f"{server.base}/settings")
    await owner.page.get_by_label("Amount in US dollars").fill("7,50")
    await owner.page.get_by_role("button", name="Set", exact=True).click()
    await expect(owner.page.get_by_text("$0.00 of $7.50")).to_be_visible()
    viewer = await visit(server, role="viewer")
    await viewer.page.goto(f"{server.base}/settings")
    await expect(viewer.page.get_by_text("$0.00 of $7.50")).to_be_visible()
    await expect(viewer.page.get_by_label("Amount in US dollars")).to_have_count(0)
    await expect(viewer.page.get_by_role("button", name=re.compile("^Remove"))).to_have_count(0)
