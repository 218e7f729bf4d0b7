"""A request that takes another's place under the finger is not approved by it (T-17)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import Perform
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.puppet import Puppet

PAGES = 4
MOMENTS_MS = tuple(range(-120, 480, 30))
"""When the hand comes down, counted from when the agent swaps; what is new is armed at 500 ms."""

ARMED_MS = 500

WATCH = """
() => {
  // When what is asked appeared, and what stood there when a click or a key came.
  let [command, since] = ["", 0];
  window.hits = [];
  new MutationObserver(() => {
    const now = document.querySelector('main [role=dialog] [aria-label="Command"]')?.innerText ?? "";
    if (now !== command) [command, since] = [now, performance.now()];
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
  const note = (event) => window.hits.push({ command, after: event.timeStamp - since });
  addEventListener("pointerup", note, true);
  addEventListener("keydown", note, true);
}
"""

DANGER = "rm -rf ."


async def hit(desk: Desk, at: tuple[float, float], delay: float, *, key: bool) -> None:
    await asyncio.sleep(delay)  # The moment is what is tried out here.
    if key:
        await desk.page.keyboard.press("a")
    else:
        await desk.page.mouse.click(*at)


async def swap(puppet: Puppet, number: int, delay: float) -> None:
    await asyncio.sleep(delay)
    await puppet.withdraw(f"safe{number}")
    await puppet.ask(f"danger{number}", {"command": DANGER})


async def one_round(desk: Desk, puppet: Puppet, number: int, moment_ms: float) -> Any:
    """Swap around one click; gives what the click met and whether the new one was allowed."""
    await puppet.ask(f"safe{number}", {"command": "ls"})
    allow = desk.decision.get_by_role("button", name="Allow", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    box = await allow.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await asyncio.gather(
        swap(puppet, number, max(0.0, -moment_ms) / 1000),
        hit(desk, at, max(0.0, moment_ms) / 1000, key=number % 2 == 1),
    )
    await expect(desk.decision.get_by_label("Command")).to_have_text(DANGER, timeout=PATIENCE_MS)
    await puppet.ask(f"fence{number}", {"command": "true"})  # Whatever was sent came before this.
    await expect(desk.decision).to_contain_text("1 of 2", timeout=PATIENCE_MS)
    given = [answer for request, answer in puppet.answers if request == f"danger{number}"]
    for request in ("danger", "fence"):
        await puppet.withdraw(f"{request}{number}")
    await expect(desk.decision).to_have_count(0, timeout=PATIENCE_MS)
    return (await desk.page.evaluate("window.hits.splice(0)"))[-1], given


async def rounds(desk: Desk, puppet: Puppet, moments: tuple[int, ...]) -> list[Any]:
    await desk.page.evaluate(WATCH)
    return [await one_round(desk, puppet, *one) for one in enumerate(moments)]


@pytest.mark.timeout(240)  # Many rounds, each of which waits for Allow to be armed.
async def test_no_click_meant_for_one_request_approves_the_next(perform: Perform) -> None:
    shares = [(*await perform(), MOMENTS_MS[at::PAGES]) for at in range(PAGES)]
    done = await asyncio.gather(*(rounds(*share) for share in shares))
    outcomes = [one for share in done for one in share]
    assert len(outcomes) == len(MOMENTS_MS)
    early = [
        given for met, given in outcomes if met["command"] == DANGER and met["after"] < ARMED_MS
    ]
    assert len(early) >= len(MOMENTS_MS) // 4, "the clicks came too late to prove anything"
    assert [given for given in early if given] == []
