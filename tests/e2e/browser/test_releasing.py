"""The web app drops items far above what the user sees, and nothing that is read moves.

FAIRLEAD_RELEASE_ITEMS makes the conversation longer; what was held is printed (`pytest -s`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.flooded import Flooded, open_flooded

ITEMS = int(os.environ.get("FAIRLEAD_RELEASE_ITEMS", "2400"))
PATIENCE_MS = 60_000 + 5 * ITEMS
PAGE = 200
"""Items that the web app loads at once."""
MOST_HELD = 1_000 + 2 * PAGE
"""A thousand rows above the visible ones, and less than two pages around them."""
MOST_NODES = 4_000

pytestmark = pytest.mark.timeout(2 * PATIENCE_MS / 1000 + 120)

OLDER = """() => {
  const line = document.querySelector('[role=log] .older');
  const number = line ? /^[\\d,]+/.exec(line.textContent.trim()) : ['0'];
  return number ? Number(number[0].replaceAll(',', '')) : -1;
}"""
"""How many items are not loaded, which the page says; -1 while it loads some."""

TO_START = f"""async () => {{
  const older = {OLDER};
  const log = document.querySelector('[role=log]');
  while (older() !== 0) {{
    log.dispatchEvent(new WheelEvent('wheel'));
    log.scrollTop = 0;
    await new Promise((done) => setTimeout(done, 5));
  }}
  log.scrollTop = 0;
}}"""

ANCHOR = """async () => {
  const log = document.querySelector('[role=log]');
  // While the user scrolls nothing is dropped; meanwhile the rows around the visible ones are drawn.
  for (let frame = 0; frame < 120; frame += 1) {
    log.dispatchEvent(new Event('scroll'));
    await new Promise(requestAnimationFrame);
  }
  const { top } = log.getBoundingClientRect();
  const row = [...log.querySelectorAll('[data-row]')].find((one) => one.getBoundingClientRect().top > top + 100);
  const start = row.getBoundingClientRect().top;
  const id = row.dataset.row;
  window.__anchor = { moved: 0, frames: 0 };
  const look = () => {
    const now = document.querySelector(`[data-row="${id}"]`);
    window.__anchor.frames += 1;
    window.__anchor.moved = Math.max(window.__anchor.moved, now ? Math.abs(now.getBoundingClientRect().top - start) : 1e6);
    painted();
  };
  // After a frame was painted: before it, the list may not have set its position yet.
  const painted = () => requestAnimationFrame(() => setTimeout(look));
  look();
}"""

NODES = "() => document.querySelectorAll('[role=log] *').length"


@pytest_asyncio.fixture(loop_scope="session")
async def flooded(tmp_path: Path) -> AsyncIterator[Flooded]:
    async with open_flooded(tmp_path) as flooded:
        yield flooded


async def _at_start(flooded: Flooded, visit: Visit) -> AppPage:
    """A page that has loaded a whole conversation, at its start."""
    session = await flooded.session(f"items {ITEMS}")
    app = await visit(flooded.server)
    app.page.set_default_timeout(PATIENCE_MS)
    await app.page.goto(f"{flooded.server.base}/s/{session}")
    await app.expect_words(f"Answer {ITEMS - 2} with")
    print(f"at the end, {await app.page.evaluate(NODES)} nodes")  # noqa: T201
    await app.page.evaluate(TO_START)
    await expect(app.transcript.get_by_text("Answer 0 with")).to_be_visible()
    return app


async def _released(page: Page) -> int:
    await page.wait_for_function(f"() => ({OLDER})() > 0", timeout=PATIENCE_MS)
    return int(await page.evaluate(OLDER))


async def test_U145_few_items_are_held_after_scrolling_through_a_long_conversation_and_back(
    flooded: Flooded, visit: Visit
) -> None:
    app = await _at_start(flooded, visit)
    await app.page.get_by_role("button", name="Jump to latest").click()
    await app.expect_words(f"Answer {ITEMS - 2} with")
    await app.page.wait_for_function(
        f"() => ({OLDER})() >= {ITEMS - MOST_HELD}", timeout=PATIENCE_MS
    )
    held = ITEMS + 1 - await app.page.evaluate(OLDER)  # The prompt is an item too.
    nodes = await app.page.evaluate(NODES)
    print(f"{held} of {ITEMS} items and {nodes} nodes are held")  # noqa: T201
    assert PAGE <= held <= MOST_HELD
    assert nodes <= MOST_NODES
    # What was dropped comes back.
    await app.transcript.hover()
    await app.page.mouse.wheel(0, -1e6)
    await app.page.wait_for_function(
        f"(was) => ({OLDER})() >= 0 && ({OLDER})() < was", arg=ITEMS + 1 - held
    )


@pytest.mark.matrix(target="browser", cases=0)
async def test_U145_nothing_moves_while_items_above_are_dropped(
    flooded: Flooded, visit: Visit
) -> None:
    app = await _at_start(flooded, visit)
    await app.transcript.evaluate("(log) => (log.scrollTop = log.scrollHeight * 0.8)")
    await app.page.evaluate(ANCHOR)
    assert await app.page.evaluate(OLDER) == 0
    older = await _released(app.page)
    await app.page.wait_for_function("() => window.__anchor.frames > 60")
    anchor = await app.page.evaluate("() => window.__anchor")
    print(f"{older} of {ITEMS} items were dropped; {anchor}")  # noqa: T201
    assert anchor["moved"] <= 1.0
