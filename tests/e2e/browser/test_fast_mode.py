"""The fast mode: switched in the settings where the CLI has one, and nowhere else."""

from __future__ import annotations

import re

from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene

HELLO = scene(None, say("You said: {{prompt}}"))


async def settings(app: AppPage) -> Locator:
    """The settings of the session that is open."""
    await app.more("Session settings")
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("combobox", name="Permission mode", exact=True)).to_be_enabled()
    return main


async def test_U48_fast_mode_is_switched_on_and_off(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await app.start("hello")
    await app.expect_rest()
    session, place = app.session, app.page.url
    main = await settings(app)
    switch = main.get_by_role("switch", name="Fast mode")
    await expect(switch).not_to_be_checked()
    await switch.click()
    await expect(switch).to_be_checked()
    await app.page.goto(place)
    chip = app.page.get_by_role("main").get_by_role("button", name=re.compile("^Fast mode"))
    await expect(chip).to_be_visible()
    await app.say("quickly now")
    await app.expect_words("You said: quickly now")
    live = app.server.service.registry.sessions.loaded(session)
    assert live is not None
    assert live.transcript.session.fast_mode == "on"  # As the agent's own result tells it.
    await chip.click()
    await app.page.get_by_role("menuitem", name="Turn off fast mode").click()
    await expect(chip).to_have_count(0)


async def test_U49_a_cli_without_fast_mode_shows_no_switch(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO], version="2.1.38"))
    await app.start("hello")
    await app.expect_rest()
    main = await settings(app)
    await expect(main.get_by_role("combobox", name="Effort", exact=True)).to_be_visible()
    await expect(main.get_by_text("Fast mode")).to_have_count(0)
