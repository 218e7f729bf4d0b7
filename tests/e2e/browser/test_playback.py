"""Playing a session back: step, scrub, jump to an approval, and play to the end."""

from __future__ import annotations

from playwright.async_api import expect

from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use

SCRIPT = [
    scene("write", use("Write", file_path="{{cwd}}/a.txt", content="a\n"), say("Written.")),
    scene(None, say("You said: {{prompt}}")),
]


async def test_U113_a_session_is_played_back_step_by_step(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated(SCRIPT))
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    await app.say("write it")
    await app.decide("Allow once")
    await app.expect_words("Written.")
    await app.expect_rest()
    whole = await app.transcript.get_by_role("article").all_inner_texts()
    await app.more("Play back")
    controls = app.page.get_by_role("group", name="Playback")
    position = controls.get_by_role("slider", name="Position")
    await expect(controls.get_by_role("status")).to_contain_text("0 / ")
    await expect(app.page.get_by_text("The session starts here.")).to_be_visible()
    await controls.get_by_role("button", name="Next turn").click()
    await app.expect_words("You said: hello")
    await expect(app.transcript.get_by_text("write it")).to_have_count(0)
    await controls.get_by_role("button", name="Next approval").click()
    await expect(app.page.get_by_text("Waiting for approval: Write")).to_be_visible()
    await expect(app.transcript.get_by_text("Written.")).to_have_count(0)
    report = Report()
    await report.look(app, "playback")
    report.check()
    await controls.get_by_role("button", name="Previous turn").click()
    await expect(app.transcript.get_by_text("write it")).to_have_count(0)
    await position.focus()
    await app.page.keyboard.press("End")
    await app.expect_words("Written.")
    assert await app.transcript.get_by_role("article").all_inner_texts() == whole
    await app.page.keyboard.press("Home")
    await expect(app.page.get_by_text("The session starts here.")).to_be_visible()
    await app.select(controls.get_by_role("combobox", name="Speed"), "20")
    await controls.get_by_role("button", name="Play").click()
    await app.expect_words("Written.")
    await expect(controls.get_by_role("button", name="Play")).to_be_visible()
