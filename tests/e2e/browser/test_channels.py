"""Channels in the settings: added, tested, changed and removed by an owner."""

from __future__ import annotations

import re
import sys

import pytest
from playwright.async_api import Page, expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.server.notices.receivers import HttpReceiver

SECRET = "s3cr3t-of-the-channel"
LOADING_MS = 90_000
"""Apprise takes up to half a minute to load on a busy machine."""


async def add(page: Page, url: str, name: str = "") -> None:
    await page.get_by_role("button", name="New channel…").click()
    await page.get_by_label("Address of the channel").fill(url)
    await page.get_by_label("Name of the channel").fill(name)
    await page.get_by_role("button", name="Add channel").click()


async def test_U142_an_owner_adds_tests_changes_and_removes_a_channel(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    page = app.page
    await page.goto(f"{demo.base}/settings")
    await expect(page.get_by_text("No channels.")).to_be_visible()
    async with HttpReceiver() as receiver:
        await add(page, "syslog://")
        refused = page.get_by_role("alert")
        await expect(refused).to_contain_text("own machine", timeout=LOADING_MS)
        app.errors.clear()  # Chromium reports the status of the refusal.
        await page.get_by_role("button", name="Cancel").click()
        await add(page, f"json://u:{SECRET}@{receiver.authority}/{SECRET}", "Team")
        await expect(page.get_by_text("JSON (json://…). Nothing sent yet.")).to_be_visible()
        await page.get_by_role("button", name="Send a test to Team").click()
        await expect(page.get_by_text("Sent. It should arrive within seconds.")).to_be_visible()
        got = await receiver.message()
        assert got.body["message"].startswith("This channel works.\n")
        receiver.answer = lambda: "403 Forbidden"
        await page.get_by_role("button", name="Send a test to Team").click()
        await expect(page.get_by_role("alert")).to_contain_text("JSON answered with status 403.")
        app.errors.clear()  # Chromium reports the status 503.
    await page.get_by_role("button", name="Settings of Team").click()
    settings = page.get_by_role("group", name="Settings of Team")
    plans = settings.get_by_role("checkbox", name="Plans")
    await expect(plans).to_be_checked()
    await plans.uncheck()
    await expect(plans).not_to_be_checked()
    await settings.get_by_role("switch", name="Quiet hours").click()
    await expect(settings.get_by_label("Quiet hours begin")).to_have_value("22:00")
    await settings.get_by_role("radio", name="Tool").click()
    await settings.get_by_label("Name of the channel").fill("Our team")
    await settings.get_by_label("Name of the channel").press("Tab")
    await expect(page.get_by_role("button", name="Settings of Our team")).to_be_visible()
    await page.reload()
    await page.get_by_role("button", name="Settings of Our team").click()
    settings = page.get_by_role("group", name="Settings of Our team")
    await expect(settings.get_by_role("checkbox", name="Plans")).not_to_be_checked()
    await expect(settings.get_by_label("Quiet hours begin")).to_have_value("22:00")
    await expect(settings.get_by_role("radio", name="Tool")).to_be_checked()
    await page.get_by_role("button", name="Remove the channel Our team").click()
    await expect(page.get_by_text("No channels.")).to_be_visible()


async def test_U143_a_page_has_no_address_of_a_channel_after_it_was_added(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    page = app.page
    await page.goto(f"{demo.base}/settings")
    await add(page, f"json://u:{SECRET}@127.0.0.1:9/{SECRET}")
    listed = page.get_by_text(re.compile("^json://… Nothing sent yet"))
    await expect(listed).to_be_visible(timeout=LOADING_MS)
    await page.get_by_role("button", name="Settings of JSON").click()
    await expect(page.get_by_label("New address of the channel")).to_have_value("")
    assert SECRET not in await page.content()
    stored = await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")
    assert SECRET not in stored
    other = await visit(demo, role="operator")
    await other.page.goto(f"{demo.base}/settings")
    await expect(other.page.get_by_role("heading", name="Schedules")).to_be_visible()
    await expect(other.page.get_by_role("heading", name="Channels")).to_have_count(0)


async def test_U144_without_apprise_the_settings_say_how_to_install_it(
    demo: AppServer, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)  # As if it was not installed.
    app = await visit(demo)
    await app.page.goto(f"{demo.base}/settings")
    await expect(app.page.get_by_text("pip install 'fairlead[channels]'")).to_be_visible()
    await expect(app.page.get_by_role("button", name="New channel…")).to_have_count(0)
