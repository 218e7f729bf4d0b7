"""Schedules in the app: created by an owner, run by the server, and listed with their result."""

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


async def test_U123_an_owner_creates_a_schedule_and_sees_its_next_run_and_last_result(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SAYS)
    app = await visit(server)
    page = app.page
    await page.goto(f"{server.base}/settings")
    await page.get_by_role("button", name="New schedule…").click()
    await page.get_by_label("Name of the schedule").fill("Nightly check")
    await page.get_by_label("Prompt of the schedule").fill("Check everything")
    await page.get_by_label("Folder of new sessions").fill("/nowhere/at/all")
    await page.get_by_role("button", name="Save schedule").click()
    await expect(page.get_by_role("alert")).to_contain_text("not found")
    app.errors.clear()  # Chromium reports the status of the refusal.
    await page.get_by_label("Folder of new sessions").fill(str(server.project))
    await page.get_by_role("button", name="Save schedule").click()
    listed = page.get_by_text(re.compile(r"Every weekday at 07:00 in .*Next run .*Has not run yet"))
    await expect(listed).to_be_visible()
    schedules = server.service.schedules
    (state,) = await schedules.states()
    assert state.next_at is not None
    await schedules.step(state.next_at)
    await expect(page.get_by_text("Nightly check").first).to_be_visible()
    live = server.service.registry.sessions
    session = next(iter(live.rows))
    await page.goto(f"{server.base}/s/{session}")
    await app.expect_words("Done.")
    await app.expect_rest()
    await page.goto(f"{server.base}/settings")
    await expect(page.get_by_text(re.compile("Last run: Finished"))).to_be_visible()
    await page.get_by_role("button", name="Remove the schedule Nightly check").click()
    await expect(page.get_by_text("No schedules.")).to_be_visible()
