"""Windows over a session: their keys are their own."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene


@pytest.mark.matrix(target="browser", cases=0)
async def test_escape_closes_a_window_and_stops_nothing(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene(None, say("Begun. "), {"wait": 60}, say("Never."))])
    app = await visit(server)
    await app.start("go")
    await app.expect_words("Begun.")
    await app.page.get_by_role("main").focus()
    await app.page.keyboard.press("o")
    prompts = app.page.get_by_role("dialog", name="Prompts")
    await expect(prompts).to_be_visible()
    await app.page.keyboard.press("Escape")
    await expect(prompts).to_have_count(0)
    await app.expect_state(re.compile("Thinking|Writing"))
    await expect(app.stop_button).to_be_visible()
    await app.stop_button.click()
    await app.expect_rest()


async def test_a_window_that_is_unfolded_keeps_its_answers_on_a_low_screen(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("Hello."))])
    app = await visit(server, width=1024, height=600)
    window = await app.open_new_session()
    await window.get_by_text(re.compile("^Limits")).click()
    start = window.get_by_role("button", name="Start")
    box = await start.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 600
