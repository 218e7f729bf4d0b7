"""Usage limits in the app: the meter, the warnings, and a session that waits for the reset."""

from __future__ import annotations

import re
import time

from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.conftest import BeginTurn
from tests.server.limits.reports import report


async def test_U115_the_windows_are_shown_and_each_threshold_is_announced(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    resets_at = time.time() + 7_200
    await cli.write(report("allowed", used=0.5, resets_at=resets_at))
    meter = app.page.get_by_role("link", name=re.compile("5-hour limit: 50 % used"))
    await expect(meter).to_be_visible(timeout=PATIENCE_MS)
    await cli.write({**report("allowed_warning", used=0.83, resets_at=resets_at), "uuid": "a"})
    warned = app.page.get_by_text(re.compile("5-hour limit: 83 % used, resets"))
    await expect(warned.first).to_be_visible(timeout=PATIENCE_MS)
    await cli.finish()
    await app.page.get_by_role("link", name=re.compile("5-hour limit")).click()
    limits = app.page.get_by_role("region", name="Usage limits")
    week = limits.get_by_role("meter", name="Weekly limit")
    await expect(week).to_have_attribute("aria-valuenow", "40")


async def test_U116_a_stopped_session_offers_to_continue_and_the_user_can_cancel_it(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.write(report("rejected", resets_at=time.time() + 7_200))
    await cli.finish()
    stop = app.page.get_by_role("status", name="Usage limit")
    await expect(stop).to_contain_text("5-hour limit reached. It resets", timeout=PATIENCE_MS)
    await stop.get_by_role("button", name="Continue when it resets").click()
    await expect(stop).to_contain_text("This session continues", timeout=PATIENCE_MS)
    await expect(app.page.get_by_text("Continue from where you left off.")).to_be_visible()
    await stop.get_by_role("button", name="Don't continue").click()
    await expect(stop).to_have_count(0, timeout=PATIENCE_MS)
    await app.page.get_by_role("link", name=re.compile("5-hour limit")).click()
    limits = app.page.get_by_role("region", name="Usage limits")
    switch = limits.get_by_role("switch", name="Continue sessions when a limit resets")
    await switch.click()
    await expect(switch).to_have_attribute("aria-checked", "true", timeout=PATIENCE_MS)
