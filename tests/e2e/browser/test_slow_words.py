"""Text of a model that takes long to render: the request below it can be answered (T-87)."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.conftest import BeginTurn

SIZE = 60_000
WORDS = {
    "an address": "a" * SIZE + "@",
    "addresses": ("a" * 6_000 + "@ ") * 10,
    "quotes": ">" * 20_000,
    "quotes and lists": "- > " * 5_000,
    "underscores": "a_" * (SIZE // 2),
    "stars": "a**b" * (SIZE // 4),
    "brackets": "[" * SIZE,
    "backticks": "`" * SIZE,
}
BUSY_MS = 4_000
"""The longest that the page may be busy at a stretch; before, it was busy for up to a minute."""

WATCH = """
() => {
  window.busy = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.busy = Math.max(window.busy, now - last);
    last = now;
  }, 20);
}
"""


@pytest.mark.matrix(target="browser", cases=0)
async def test_slow_words_do_not_keep_a_request_from_being_answered(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate(WATCH)
    for case, words in WORDS.items():
        await cli.say(words)
        await cli.ask(case, {"command": f"echo {case}"})
        await app.decide("Allow once")
        assert (await cli.answer(case))["updatedInput"] == {"command": f"echo {case}"}
        await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
        assert await app.page.evaluate("window.busy") < BUSY_MS, case
