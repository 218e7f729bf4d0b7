"""Profiles in the app: chosen for a session, named where it is shown, and set by owners."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.async_api import expect

from fairlead.server.profiles.profile import Profile
from fairlead.wire.decode import decode_object
from fairlead.wire.events import RateLimitEvent
from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.server.limits.reports import report
from tests.server.profiles.accounts import session_file

SAYS = """
scenes:
  - when: /.*/
    steps:
      - say: Done.
"""
SECRET = "canary value of a variable"


def add(server: AppServer, folder: Path, name: str, label: str = "") -> Profile:
    profile = Profile(name=name, config_dir=str(folder / f"claude-{name}"), label=label)
    profiles = server.service.registry.sessions.profiles
    profiles.put(profile)
    profiles.changed()
    return profile


async def test_U138_a_profile_is_chosen_for_a_new_session_if_there_is_more_than_one(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SAYS)
    app = await visit(server)
    page = app.page
    settings = page.get_by_role("group", name="New session")
    await expect(settings.get_by_role("button", name="Model")).to_be_visible(timeout=PATIENCE_MS)
    await expect(settings.get_by_role("button", name="Profile")).to_have_count(0)
    add(server, tmp_path, "work", "Acme Inc.")
    chip = settings.get_by_role("button", name="Profile")
    await expect(chip).to_contain_text("Default", timeout=PATIENCE_MS)
    await chip.click()
    await page.get_by_role("menuitemradio", name=re.compile("Acme Inc")).click()
    await expect(chip).to_contain_text("Acme Inc.")
    await page.get_by_role("textbox", name="Message").fill("hello")
    await page.keyboard.press("Enter")
    await app.expect_words("Done.")
    sessions = server.service.registry.sessions
    (first,) = sessions.rows
    assert sessions.account_of(first) == "work"
    await app.expect_rest()
    await page.goto(f"{server.base}/")
    await page.get_by_role("button", name="Folder").click()
    await page.get_by_role("menuitemradio", name="Other folder and more options…").click()
    form = page.get_by_role("dialog", name="New session")
    await form.get_by_role("combobox", name="Profile").click()
    await page.get_by_role("option", name=re.compile("Acme Inc")).click()
    await form.get_by_label("First message").fill("again")
    await form.get_by_role("button", name="Start").click()
    await app.expect_words("Done.")
    assert {sessions.account_of(row) for row in sessions.rows} == {"work"}
    assert len(sessions.rows) == 2


async def test_U139_the_list_the_header_and_the_details_name_the_profile(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SAYS)
    profile = add(server, tmp_path, "work", "Acme Inc.")
    session_file(Path(profile.config_dir, "projects"), "asked in a terminal", server.project)
    app = await visit(server)
    page = app.page
    row = page.get_by_role("link", name=re.compile("asked in a terminal"))
    await expect(row.first).to_contain_text("Acme Inc.", timeout=PATIENCE_MS)
    await row.first.click()
    header = page.get_by_role("toolbar", name="Session")
    await expect(header).to_contain_text("Acme Inc.", timeout=PATIENCE_MS)
    details = page.get_by_role("complementary", name="Details")
    section = details.get_by_role("region", name="Profile")
    await expect(section).to_contain_text("Acme Inc.", timeout=PATIENCE_MS)
    profiles = server.service.registry.sessions.profiles
    profiles.remove("work")
    profiles.changed()
    await expect(page.get_by_role("link", name=re.compile("asked in a terminal"))).to_have_count(
        0, timeout=PATIENCE_MS
    )


async def test_U140_an_owner_adds_changes_and_removes_a_profile_in_the_settings(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SAYS)
    app = await visit(server)
    page = app.page
    await page.goto(f"{server.base}/settings")
    await page.get_by_role("button", name="New profile…").click()
    form = page.get_by_role("form", name="New profile")
    await form.get_by_label("Name of the profile").fill("work")
    await form.get_by_label("Folder of the profile").fill("not/absolute")
    await form.get_by_label("Variables of the profile").fill(f"MINE={SECRET}")
    await form.get_by_role("button", name="Save profile").click()
    await expect(form.get_by_role("alert")).to_contain_text("absolute path")
    app.errors.clear()  # Chromium reports the status of the refusal.
    await form.get_by_label("Folder of the profile").fill(str(tmp_path / "w"))
    await form.get_by_role("button", name="Save profile").click()
    await expect(
        page.get_by_text(re.compile(r"w\. 0 sessions\. Variables: MINE\."))
    ).to_be_visible()
    assert SECRET not in await page.content()
    await page.get_by_role("button", name="Change the profile work").click()
    form = page.get_by_role("form", name="Profile work")
    await expect(form.get_by_label("Variables of the profile")).to_have_value("MINE")
    await form.get_by_label("Label of the profile").fill("Acme Inc.")
    await form.get_by_role("button", name="Save profile").click()
    await expect(page.get_by_text("Acme Inc. (work)")).to_be_visible()
    profile = server.service.registry.sessions.profiles.find("work")
    assert profile is not None
    assert profile.env == {"MINE": SECRET}
    await page.get_by_role("button", name="Remove the profile work").click()
    await expect(page.get_by_text("Acme Inc. (work)")).to_have_count(0)
    assert server.service.registry.sessions.profiles.all() == ()
    guest = await visit(server, role="operator")
    await guest.page.goto(f"{server.base}/settings")
    await expect(guest.page.get_by_role("heading", name="Schedules")).to_be_visible()
    await expect(guest.page.get_by_role("heading", name="Profiles")).to_have_count(0)


async def test_U141_the_limits_and_the_usage_are_those_of_the_profile(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(SAYS)
    add(server, tmp_path, "work", "Acme Inc.")
    book = server.service.registry.limit_book
    for account, used in (("", 0.3), ("work", 0.6)):
        event = decode_object(report("allowed", used=used, resets_at=time.time() + 7_200))
        assert isinstance(event, RateLimitEvent)
        assert event.rate_limit_info is not None
        book.report(account, event.rate_limit_info, time.time())
    app = await visit(server)
    page = app.page
    await page.get_by_role("button", name="Profile").click()
    await page.get_by_role("menuitemradio", name=re.compile("Acme Inc")).click()
    await page.get_by_role("textbox", name="Message").fill("hello")
    await page.keyboard.press("Enter")
    await app.expect_words("Done.")
    meter = page.get_by_role("link", name=re.compile("Acme Inc.: 5-hour limit: 60 % used"))
    await expect(meter).to_be_visible(timeout=PATIENCE_MS)
    await app.expect_rest()
    await meter.click()
    limits = page.get_by_role("region", name="Usage limits")
    await expect(limits.get_by_role("heading", name="Default")).to_be_visible()
    await expect(limits.get_by_role("heading", name="Acme Inc.")).to_be_visible()
    await page.get_by_role("radio", name="By profile").check(force=True)
    table = page.get_by_role("rowheader", name="Acme Inc.")
    await expect(table.first).to_be_visible(timeout=PATIENCE_MS)
