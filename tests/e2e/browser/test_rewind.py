"""Rewind: files and conversation go back to before a message."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use


def rewind(app: AppPage) -> Locator:
    return app.page.get_by_role("dialog", name="Rewind")


async def open_rewind(app: AppPage) -> Locator:
    await app.composer.focus()
    await app.page.keyboard.press("Escape")
    await app.page.keyboard.press("Escape")
    await expect(rewind(app)).to_be_visible()
    return rewind(app)


async def test_U74_esc_esc_restores_files_and_conversation(
    emulated: Emulated, visit: Visit
) -> None:
    write = use("Write", file_path="{{cwd}}/notes.txt", content="new\n")
    server = await emulated(
        [
            scene("hello", say("Hello.")),
            scene("change", use("Read", file_path="{{cwd}}/notes.txt"), write, say("Changed.")),
        ]
    )
    notes = server.project / "notes.txt"
    notes.write_text("old\n")
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.expect_rest()
    await app.say("change it")
    await app.decide("Allow once")
    await app.expect_words("Changed.")
    await app.expect_rest()
    assert notes.read_text() == "new\n"
    dialog = await open_rewind(app)
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await expect(dialog.get_by_role("button", name="change it")).to_be_focused()
    await app.page.keyboard.press("Enter")
    await expect(dialog.get_by_role("region", name="Files")).to_contain_text("notes.txt")
    before = app.page.url
    await dialog.get_by_role("button", name="Restore both").click()
    await expect(app.page).not_to_have_url(before)
    await expect(app.composer).to_have_value("change it")
    await app.expect_words("Hello.")
    await expect(app.transcript.get_by_text("Changed.")).to_have_count(0)
    assert notes.read_text() == "old\n"


@pytest.mark.matrix(target="browser", cases=0)
async def test_U74_the_dialog_says_if_the_cli_cannot_restore_files(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.composer.focus()
    await app.page.keyboard.press("Escape")  # A turn runs: this stops it, and opens nothing.
    await cli.until(
        lambda: [one for one in cli.heard if one.get("request", {}).get("subtype") == "interrupt"]
    )
    await cli.finish()
    await app.expect_rest()
    await expect(rewind(app)).to_have_count(0)
    dialog = await open_rewind(app)
    await dialog.get_by_role("list", name="Messages").get_by_role("button").first.click()
    files = dialog.get_by_role("region", name="Files")
    await expect(files).to_contain_text(re.compile("not enabled|refused|not|No file"))
    await expect(dialog.get_by_role("button", name="Restore files")).to_be_disabled()
    await expect(dialog.get_by_role("button", name="Restore conversation")).to_be_disabled()


async def test_U112_a_stopped_session_says_so_and_can_be_resumed_to_restore_files(
    emulated: Emulated, visit: Visit
) -> None:
    write = use("Write", file_path="{{cwd}}/notes.txt", content="new\n")
    server = await emulated([scene(None, write, say("Changed."))])
    app = await visit(server)
    await app.start("change it")
    await app.decide("Allow once")
    await app.expect_words("Changed.")
    await app.expect_rest()
    await app.more("Stop process")
    await app.expect_state("Ended")
    prompt = app.transcript.get_by_role("article").filter(has_text="change it").first
    await prompt.hover()
    await prompt.get_by_role("button", name="Message actions").click()
    choice = app.page.get_by_role("menuitem", name="Rewind to here")
    size = await choice.bounding_box()
    assert size is not None
    assert size["width"] > 150, "the words of the menu have no room"
    await choice.click()
    dialog = rewind(app)
    files = dialog.get_by_role("region", name="Files")
    await expect(files).to_contain_text("No agent is running")
    await expect(dialog.get_by_role("button", name="Restore files")).to_be_disabled()
    await files.get_by_role("button", name="Resume the session").click()
    # Now the CLI itself answers: the emulator keeps no copies of files across processes.
    await expect(files).to_contain_text("No file checkpoint found", timeout=60_000)
