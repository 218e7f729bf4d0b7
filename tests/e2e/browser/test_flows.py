"""What people do most, from the first click to the end of the turn, on the demo agent."""

from __future__ import annotations

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
