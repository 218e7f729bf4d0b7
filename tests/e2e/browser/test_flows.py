"""What people do most, from the first click to the end of the turn, on the demo agent."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit


async def test_an_edit_is_shown_approved_and_made(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    await app.start("edit")
    await app.expect_words("I edit a line of the file.")
    await app.decide("Allow once")
    await app.expect_words("Now I create a new file.")
    assert '"""Greets people, politely."""' in (demo.project / "greeting.py").read_text()
    await app.decide("Allow once")
    await app.expect_words("Done.")
    assert (demo.project / "summary.md").read_text().startswith("# Summary")
    await app.expect_rest()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_tour_is_walked_to_its_end(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    await app.start("tour")
    await app.expect_words(re.compile("^Welcome aboard."))
    await expect(app.decision).to_contain_text("Hello, {name}")
    await app.decide("Allow once")
    await app.expect_words(re.compile("Now I run the tests"))
    await app.decide("Allow once")
    await app.expect_words(re.compile("^The tests pass"))
    await app.decision.get_by_role("radio", name=re.compile("^The subagents")).check()
    await app.decide("Answer")
    await app.expect_words(re.compile("^Both subagents are done. That was the tour."))
    await app.expect_rest()
    for card in ("Read greeting.py", "Edit greeting.py"):
        await expect(app.card(card)).to_be_attached()
    assert 'f"Hello, {name}"' in (demo.project / "greeting.py").read_text()
