"""What people do most, from the first click to the end of the turn, on the demo agent."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.house import House


async def test_an_edit_is_shown_approved_and_made(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.start("edit")
    await desk.expect_words("I add a line to the file.")
    await desk.decide("Allow")
    await desk.expect_words("And a new file beside it.")
    assert '"""Greets people, politely."""' in (demo.project / "greeting.py").read_text()
    await desk.decide("Allow")
    await desk.expect_words("Written, with your leave.")
    assert (demo.project / "summary.md").read_text().startswith("# Summary")
    await desk.expect_rest()


async def test_the_tour_is_walked_to_its_end(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.start("tour")
    await desk.expect_words(re.compile("^Welcome aboard."))
    await expect(desk.decision).to_contain_text("Hello, {name}")
    await desk.decide("Allow")
    await desk.expect_words(re.compile("Let us see whether the tests agree"))
    await desk.decide("Allow")
    await desk.expect_words(re.compile("^The tests are green"))
    await desk.decision.get_by_role("radio", name=re.compile("^The helpers")).check()
    await desk.decide("Answer")
    await desk.expect_words(re.compile("^Both are back. That was the tour."))
    await desk.expect_rest()
    for card in ("Read greeting.py", "Edit greeting.py"):
        await expect(desk.card(card)).to_be_attached()
    assert 'f"Hello, {name}"' in (demo.project / "greeting.py").read_text()
