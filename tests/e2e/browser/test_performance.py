"""How the app handles long conversations and fast agents, measured in the browser itself.

Each measurement may be made three times, for the machine may have other things to do; the best
one counts. What was measured is printed (`pytest -s`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.browser import paint_clock
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.chromium import find
from tests.e2e.browser.conftest import Emulated, Visit, launched
from tests.e2e.browser.flooded import Flooded, open_flooded
from tests.e2e.browser.scripts import say, scene
from tests.e2e.browser.stopwatch import Measured, measured
from tests.git.repositories import new_repository

pytestmark = pytest.mark.timeout(400)

ITEMS = 5_000
DELTAS = 20_000
RATE = 2_000
TASK_MS = 50.0
HEAP_BYTES = 40_000_000
"""More than this is not to be held for 5,000 items and 20,000 deltas."""
OPEN_MS = 1_000.0
CHANGED = 2_000
PACE = 50
TYPED = "The quick brown fox jumps over the lazy dog while the agent writes."
TRIES = 3

PAINTED = """() => {
  const log = document.querySelector('[role=log]');
  if (!log || log.scrollHeight - log.scrollTop - log.clientHeight > 60) return false;
  const bottom = log.getBoundingClientRect().bottom;
  return [...log.querySelectorAll('[data-row]')].some((row) => {
    const { top, height } = row.getBoundingClientRect();
    return height > 0 && top < bottom && top > bottom - log.clientHeight;
  });
}"""

OPEN = f"""async (path) => {{
  const painted = {PAINTED};
  const start = performance.now();
  document.querySelector(`a[href="${{path}}"]`).click();
  while (!painted()) await new Promise(requestAnimationFrame);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}}"""

OPEN_CHANGES = """async () => {
  const start = performance.now();
  [...document.querySelectorAll('[role=menuitem]')].find((row) => row.textContent.trim().startsWith('Changes')).click();
  while (!document.querySelector('nav[aria-label="Changed files"] button')) await new Promise(requestAnimationFrame);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}"""

SCROLL_CHANGES = """async () => {
  let list = document.querySelector('nav[aria-label="Changed files"] button');
  while (list.scrollHeight <= list.clientHeight + 100) list = list.parentElement;
  const end = list.scrollHeight - list.clientHeight;
  for (let step = 0; step <= 120; step += 1) {
    list.scrollTop = (end * step) / 120;
    await new Promise(requestAnimationFrame);
  }
}"""
"""Through the whole list in 120 frames."""

ANCHOR = """() => {
  const log = document.querySelector('[role=log]');
  const { top } = log.getBoundingClientRect();
  const row = [...log.querySelectorAll('[data-row]')].find((one) => one.getBoundingClientRect().top > top + 100);
  const start = row.getBoundingClientRect().top;
  const anchor = (window.__anchor = { moved: 0, frames: 0 });
  const look = () => {
    anchor.frames += 1;
    anchor.moved = Math.max(anchor.moved, row.isConnected ? Math.abs(row.getBoundingClientRect().top - start) : 1e6);
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """A browser with all its compilers, unlike that of the other tests."""
    async with launched(find()) as browser:
        yield browser


@pytest.fixture(scope="session")
def contexts() -> None:
    """Every page has a context of its own."""


@pytest_asyncio.fixture(loop_scope="session")
async def flooded(tmp_path: Path) -> AsyncIterator[Flooded]:
    async with open_flooded(tmp_path) as flooded:
        yield flooded


async def _long_talk(flooded: Flooded, visit: Visit) -> tuple[AppPage, str]:
    """A page that has followed a long conversation, at its end and at rest."""
    session = await flooded.session("items 1")
    app = await visit(flooded.server)
    await app.page.goto(f"{flooded.server.base}/s/{session}")
    await app.expect_words("Answer 0 with")
    await flooded.say(session, f"items {ITEMS}")
    await app.expect_words(f"Answer {ITEMS - 2} with")
    await app.expect_rest()
    await app.page.wait_for_timeout(
        2_500
    )  # What lies beyond the screen is drawn when there is time.
    return app, session


async def _best(
    measure: Callable[[], Awaitable[Measured]], good: Callable[[Measured], bool]
) -> Measured:
    for _ in range(TRIES):
        result = await measure()
        print(result)  # noqa: T201 - somebody wants to see the figures
        if good(result):
            break
    return result


async def _caught_up(app: AppPage) -> None:
    await app.expect_rest()
    await app.page.wait_for_timeout(300)


@pytest.mark.parametrize("kind", ["mixed", "words"])
async def test_a_flood_of_words_at_the_end_of_a_long_conversation_never_holds_the_page_up(
    flooded: Flooded, visit: Visit, kind: str
) -> None:
    app, session = await _long_talk(flooded, visit)

    async def measure() -> Measured:
        async with measured(app.page) as result:
            await flooded.say(session, f"stream {DELTAS} {RATE} {kind} 2000")
            await _caught_up(app)
        return result

    result = await _best(measure, lambda one: one.longest_ms <= TASK_MS)
    assert result.longest_ms <= TASK_MS
    assert result.heap_after <= HEAP_BYTES
    assert await app.page.evaluate(PAINTED), "it follows its end"


@pytest.mark.parametrize("kind", ["code", "table", "list"])
async def test_one_block_that_grows_and_grows_never_holds_the_page_up(
    flooded: Flooded, visit: Visit, kind: str
) -> None:
    session = await flooded.session("items 10")
    app = await visit(flooded.server)
    await app.page.goto(f"{flooded.server.base}/s/{session}")
    await app.expect_words("Answer 8 with")

    async def measure() -> Measured:
        async with measured(app.page) as result:
            await flooded.say(session, f"stream 6000 {RATE} {kind} 6000")
            await _caught_up(app)
        return result

    result = await _best(measure, lambda one: one.longest_ms <= TASK_MS)
    assert result.longest_ms <= TASK_MS


async def test_nothing_moves_for_a_user_who_reads_above_while_text_streams(
    flooded: Flooded, visit: Visit
) -> None:
    app, session = await _long_talk(flooded, visit)
    log = app.transcript
    await log.evaluate("(log) => (log.scrollTop = log.scrollHeight / 2)")
    await app.page.wait_for_timeout(1_500)
    await app.page.evaluate(ANCHOR)

    async def measure() -> Measured:
        async with measured(app.page) as result:
            await flooded.say(session, f"stream {DELTAS} {RATE} mixed 2000")
            await _caught_up(app)
        return result

    result = await _best(measure, lambda one: one.longest_ms <= TASK_MS)
    anchor = await app.page.evaluate("() => window.__anchor")
    assert anchor["frames"] > 100
    assert anchor["moved"] <= 1.0, "what is read stays where it is"
    assert result.shifts == []
    assert result.longest_ms <= TASK_MS
    assert result.heap_after <= HEAP_BYTES
    await expect(app.page.get_by_role("button", name="New messages")).to_be_visible()


async def test_a_conversation_of_a_hundred_thousand_items_shows_its_end_within_a_second(
    flooded: Flooded, visit: Visit
) -> None:
    session = await flooded.session("items 100000")
    times = []
    for _ in range(TRIES):
        app = await visit(flooded.server)
        link = app.page.locator(f'a[href="/s/{session}"]').first
        await link.wait_for()
        times.append(await app.page.evaluate(OPEN, f"/s/{session}"))
    loads = []
    for _ in range(TRIES):
        await app.page.goto(f"{flooded.server.base}/s/{session}")
        await app.page.wait_for_function(PAINTED)
        loads.append(await app.page.evaluate("() => performance.now()"))
    print(f"opened in {times} ms; loaded, with the page itself, in {loads} ms")  # noqa: T201
    assert min(times) <= OPEN_MS
    assert min(loads) <= OPEN_MS


@pytest.mark.parametrize("items", [1, ITEMS])
async def test_the_delays_from_a_frame_to_its_paint_and_from_a_key_to_its_echo(
    flooded: Flooded, visit: Visit, items: int
) -> None:
    """They are printed, and docs/benchmarks.md has them; another machine has others."""
    session = await flooded.session(f"items {items}")
    app = await visit(flooded.server)
    await paint_clock.install(app.page)
    await app.page.goto(f"{flooded.server.base}/s/{session}")
    await app.page.wait_for_function(PAINTED)
    await app.expect_rest()
    await app.composer.focus()
    await paint_clock.watch(app.page)
    streaming = asyncio.create_task(flooded.say(session, f"stream {6 * PACE} {PACE} words 2000"))
    await app.composer.press_sequentially(TYPED, delay=60)
    await streaming
    await app.expect_rest()
    painted, echoed = await paint_clock.read(app.page)
    print(f"{items} items: {painted}; {echoed}; load {os.getloadavg()[0]:.1f}")  # noqa: T201
    await expect(app.composer).to_have_value(TYPED)
    assert len(painted.values) > 10, "frames are merged while the machine is busy"
    assert len(echoed.values) > len(TYPED) / 2


async def test_U80_two_thousand_changed_files_open_within_a_second_and_scroll_smoothly(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    project: Path = new_repository(server.project)
    for number in range(CHANGED):
        path = project / f"part{number % 20:02}" / f"file{number:04}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    app = await visit(server)
    await app.start("hello")
    await app.expect_rest()
    conversation = app.page.url
    times = []

    async def measure() -> Measured:
        await app.page.goto(conversation)
        await app.page.get_by_role("button", name="More", exact=True).click()
        await app.page.get_by_role("menuitem", name="Changes").wait_for()
        async with measured(app.page) as result:
            times.append(await app.page.evaluate(OPEN_CHANGES))
            await app.page.evaluate(SCROLL_CHANGES)
        return result

    result = await _best(measure, lambda one: one.longest_ms <= TASK_MS and times[-1] <= OPEN_MS)
    print(f"opened in {times} ms")  # noqa: T201
    assert min(times) <= OPEN_MS
    assert result.longest_ms <= TASK_MS
