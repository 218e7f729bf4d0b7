"""What people do most, from the first click to the end of the turn, on the demo agent."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.house import House


async def test_an_edit_is_shown_approved_and_made(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.start("edit")
    await desk.expect_words("I edit a line of the file.")
    await desk.decide("Allow once")
    await desk.expect_words("Now I create a new file.")
    assert '"""Greets people, politely."""' in (demo.project / "greeting.py").read_text()
    await desk.decide("Allow once")
    await desk.expect_words("Done.")
    assert (demo.project / "summary.md").read_text().startswith("# Summary")
    await desk.expect_rest()


async def test_the_tour_is_walked_to_its_end(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.start("tour")
    await desk.expect_words(re.compile("^Welcome aboard."))
    await expect(desk.decision).to_contain_text("Hello, {name}")
    await desk.decide("Allow once")
    await desk.expect_words(re.compile("Now I run the tests"))
    await desk.decide("Allow once")
    await desk.expect_words(re.compile("^The tests pass"))
    await desk.decision.get_by_role("radio", name=re.compile("^The subagents")).check()
    await desk.decide("Answer")
    await desk.expect_words(re.compile("^Both subagents are done. That was the tour."))
    await desk.expect_rest()
    for card in ("Read greeting.py", "Edit greeting.py"):
        await expect(desk.card(card)).to_be_attached()
    assert 'f"Hello, {name}"' in (demo.project / "greeting.py").read_text()
