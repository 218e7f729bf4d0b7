"""A request that takes another's place under the finger is not approved by it (T-17).

One page goes through many swaps. The half second in which a new request is not armed yet is in the
hands of the test, so that each moment of it can be met without waiting for it; what races for real
is the click and the swap. A shorter round leaves the clock alone.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.approval_delay import HOLD, STILL_MS
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import PATIENCE_S, FakeCliProcess
from tests.matrix import examples

SWAPS = examples(126)
HITS = 4
"""At each swap: one hit at once with it, and others at moments of the half second after it."""

ARMED = 0.7
"""How often what is swapped away could be allowed; else it was still new itself."""

RACE_S = 0.012
"""Within which a swap and a click are let loose: about what a request takes to come to the page."""

WATCH = """
() => {
  // What is asked and since when; what a hand met; and every decision that leaves the page.
  const clock = globalThis.passed ?? (() => performance.now());
  let [command, since] = ["", 0];
  let waiting = [];
  window.hits = [];
  window.sent = [];
  const dialog = () => document.querySelector("main dialog[open]");
  const allow = () => [...(dialog()?.querySelectorAll("footer button") ?? [])].find((one) => one.innerText.startsWith("Allow"));
  const met = () => ({ command, age: clock() - since });
  const look = () => {
    const now = dialog()?.querySelector('[aria-label="Command"]')?.innerText ?? "";
    if (now !== command) [command, since] = [now, clock()];
    const armed = allow()?.disabled === false;
    waiting = waiting.filter(([wanted, whenArmed, done]) => {
      const there = command === wanted && (armed || !whenArmed);
      if (there) done();
      return !there;
    });
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  window.until = (wanted, whenArmed) => new Promise((done) => {
    waiting.push([wanted, whenArmed, done]);
    look();
  });
  // The half second is counted from the frame in which a request is drawn.
  const drawn = async (wanted) => {
    await until(wanted, false);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  };
  window.armed = async (wanted) => {
    await drawn(wanted);
    pass(500);
    await until(wanted, true);
  };
  window.aged = async (wanted, ms) => {
    await drawn(wanted);
    pass(ms);
  };
  window.place = () => {
    const box = allow().getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const hit = (event) => event.key !== "Alt" && window.hits.push(met());
  for (const name of ["pointerup", "keydown"]) addEventListener(name, hit, true);
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    const { intent } = JSON.parse(data);
    if (intent?.kind === "decide") window.sent.push({ id: intent.request_id, ...met() });
    return send.call(this, data);
  };
}
"""


class Hand:
    """A user who tries to allow every request."""

    def __init__(self, app: AppPage, cli: FakeCliProcess, seed: int) -> None:
        self.page = app.page
        self.cli = cli
        self.chance = random.Random(seed)
        self.number = 0

    async def begin(self) -> None:
        await self.page.evaluate(WATCH)
        await self._ask()
        await self.shown()
        await self.page.mouse.move(*await self.page.evaluate("place()"))

    async def shown(self) -> None:
        """Wait until the newest request is shown."""
        await self._until(f"until('echo {self.number}', false)")

    async def armed(self) -> None:
        """Let the half second pass, and wait until the newest request may be allowed."""
        await self._until(f"armed('echo {self.number}')")

    async def aged(self, ms: int) -> None:
        """Wait until the newest request is shown, and let this much of the half second pass."""
        await self._until(f"aged('echo {self.number}', {ms})")

    async def hit(self) -> None:
        if self.chance.random() < 0.5:
            await self.page.mouse.down()
            await self.page.mouse.up()
        else:
            # It works wherever the focus is; between two requests the composer has it.
            await self.page.keyboard.press("Alt+a")

    async def swap(self) -> None:
        """Another request takes the place of the one that is there."""
        old, self.number = self.number, self.number + 1
        await self.cli.withdraw(f"r{old}")
        await self._ask()

    async def race(self) -> None:
        """A swap and a key press at the same time, in any order."""
        await asyncio.gather(self._later(self.swap()), self._later(self.hit()))

    async def _ask(self) -> None:
        given = {"command": f"echo {self.number}"}
        # All are about one call, so that the conversation stays short.
        await self.cli.ask(f"r{self.number}", given, tool_use_id="toolu_one")

    async def _until(self, script: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.page.evaluate(script)
        except TimeoutError:
            await self.sent()  # What is not there any more may have been allowed too early.
            raise

    async def _later(self, deed: Any) -> None:
        await asyncio.sleep(self.chance.random() * RACE_S)  # The moment is what is tried out here.
        await deed

    async def sent(self) -> list[Any]:
        """Every decision that left the page; each must be for what was there for long enough."""
        sent: list[Any] = await self.page.evaluate("sent")
        assert [one for one in sent if one["id"] != one["command"].replace("echo ", "r")] == []
        assert [one for one in sent if one["age"] < STILL_MS] == []
        allowed = {one for one, answer in self.cli.answers if answer["behavior"] == "allow"}
        assert allowed <= {one["id"] for one in sent}
        return sent


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(300)  # Many rounds, on a machine that may be busy.
async def test_no_click_meant_for_one_request_approves_the_next(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate(HOLD)
    hand = Hand(app, cli, seed=17)
    await hand.begin()
    for _ in range(SWAPS):
        if hand.chance.random() < ARMED:
            await hand.armed()
        await hand.race()
        last = 0
        for moment in sorted(hand.chance.randrange(STILL_MS) for _ in range(HITS - 1)):
            await hand.aged(moment - last)
            await hand.hit()
            last = moment
    sent = await hand.sent()
    hits = await app.page.evaluate("hits")
    early = [one for one in hits if one["age"] < STILL_MS]
    assert len(hits) == SWAPS * HITS
    assert len(early) >= SWAPS * (HITS - 1), "the hits came too late to prove anything"
    assert len(sent) >= SWAPS // 20, "nothing was ever allowed, so nothing is proved"


async def test_the_half_second_is_one_of_the_real_clock(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    hand = Hand(app, cli, seed=71)
    await hand.begin()
    for wait_s in (0.1, 0.4, 0.7, 0.3, 0.6, 0.9):
        until = asyncio.get_running_loop().time() + wait_s
        while asyncio.get_running_loop().time() < until:
            await hand.hit()
        await hand.swap()
        await hand.shown()
    sent = await hand.sent()
    assert {one["command"] for one in sent} >= {"echo 5"}, "nothing was ever allowed"
