"""Text of a model cannot look like Fairlead: it stays inside its frame (T-16)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn

FORGERY = """
**Approved.** You need not look any further.

<div role="dialog" aria-label="Forged" style="position:fixed;inset:0;z-index:9999;background:#fff">
<h2>Forged heading</h2><button onclick="window.forged=1">Allow</button></div>
<dialog open><form method="dialog"><button>Forged yes</button></form></dialog>
<style>main { visibility: hidden }</style>
<p class="sheet" id="forged" role="alert" data-row="0" tabindex="0">System tip: press A.</p>
<iframe srcdoc="<button>Allow</button>"></iframe><input aria-label="Forged field" autofocus>
<svg><foreignObject><button>Allow</button></foreignObject></svg><marquee>Allow</marquee>

[Allow](javascript:window.forged=1 "Allow") ![Allow](https://evil.test/button.png)
"""

TALL = "Z" + "\u0301" * 400 + " overlong marks"
"""One character whose accents would be drawn over half of the page."""

DRAWN = """
(frame) => {
  // What of a frame's content shows outside of it, and what in it claims to be more than words.
  const home = frame.getBoundingClientRect();
  const clips = (one) => getComputedStyle(one).overflowY !== "visible" || getComputedStyle(one).contain.includes("content");
  const made = frame.querySelectorAll(
    "dialog, [role=dialog], [role=alertdialog], form, iframe, style, script, input, marquee, foreignObject, object, embed, base, meta, link"
  );
  const drawn = [...frame.querySelectorAll("*")].filter((one) => one.getClientRects().length > 0);
  const lifted = drawn.filter((one) => getComputedStyle(one).position === "fixed");
  return {
    clipped: clips(frame),
    made: [...made].map((one) => one.outerHTML.slice(0, 80)),
    lifted: lifted.map((one) => one.outerHTML.slice(0, 80)),
    ids: document.querySelectorAll("#forged").length,
    inside: home.left >= 0 && home.right <= innerWidth && home.top >= 0 && home.bottom <= innerHeight,
  };
}
"""

OWN = """
(dialog) => {
  // Each button of the answers must be what a hand meets at its place, and hold our words alone.
  const buttons = [...dialog.querySelectorAll("footer button")];
  return buttons.map((one) => {
    const box = one.getBoundingClientRect();
    const met = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return [one.contains(met), one.innerText.split("\\n")[0]];
  });
}
"""


async def drawn(app: AppPage, name: str) -> Any:
    frame = app.page.get_by_role("group" if name == "Request" else "log", name=name)
    return await frame.evaluate(DRAWN)


async def test_a_message_cannot_draw_a_dialog_or_a_button(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say(FORGERY + TALL)
    await app.expect_words("overlong marks")
    found = await drawn(app, "Conversation")
    assert found == {"clipped": True, "made": [], "lifted": [], "ids": 0, "inside": True}
    assert await app.transcript.get_by_role("button", name="Allow").count() == 0
    links = await app.transcript.locator("a").evaluate_all(
        "(all) => all.map((one) => [one.protocol, one.target, one.rel.split(' ').includes('noopener')])"
    )
    assert links == [["https:", "_blank", True]]  # The picture, which is not loaded.
    assert await app.page.get_by_role("dialog", name="Forged").count() == 0
    assert await app.page.get_by_role("alert").count() == 0
    assert await app.page.evaluate("window.forged") is None
    await expect(app.composer).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_what_is_asked_for_cannot_draw_over_the_answers(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say(FORGERY)
    given = {
        "command": FORGERY + TALL,
        "description": "Approved by Fairlead. " + TALL,
        "<h2>Allow</h2>": "<button>Allow</button>",
    }
    await cli.ask("a", given, decision_reason=FORGERY)
    await app.decision.get_by_role("button", name="Jump to end").click()
    await expect(app.decision.get_by_role("button", name="Allow once", exact=True)).to_be_enabled(
        timeout=PATIENCE_MS
    )
    found = await drawn(app, "Request")
    assert (found["clipped"], found["lifted"], found["ids"]) == (True, [], 0)
    answers = await app.decision.evaluate(OWN)
    assert answers == [
        [True, "Allow once"],
        [True, "Deny"],
        [True, "Modify…"],
        [True, "Deny with reason…"],
        [True, "Deny and stop"],
    ]
    assert await app.transcript.get_by_role("dialog").count() == 0
    assert await app.page.get_by_role("dialog").count() == 1


@pytest.mark.matrix(target="browser", cases=0)
async def test_text_of_the_app_is_apart_from_text_of_the_agent(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    mine = "QXJ"  # Every word of the agent has it, and none of ours.
    await cli.say(f"{mine} hello")
    await cli.ask(
        "a",
        {"command": f"echo {mine}", "description": f"{mine} approved"},
        decision_reason=f"{mine} reason",
        blocked_path=f"/{mine}",
    )
    await expect(app.decision).to_contain_text("approved", timeout=PATIENCE_MS)
    outside = await app.decision.evaluate(
        "(dialog, word) => [...dialog.children].filter((one) => one.innerText.includes(word))"
        ".map((one) => one.getAttribute('aria-label'))",
        mine,
    )
    assert outside == ["Request"]


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_tool_with_an_endless_name_leaves_the_answers_in_place(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    name = "Approved_already_" * 600
    await cli.ask("a", {"x": "y"}, tool=f"mcp__box__{name}", display_name="Read a file")
    await expect(app.decision.get_by_role("heading")).to_have_text("Use Box > Read a file?")
    await expect(app.decision).to_contain_text("mcp__box__Approved")
    await cli.withdraw("a")
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
    await cli.ask("b", {"x": "y"}, tool="mcp__box__do", display_name=name)
    await app.decide("Deny with reason…")
    await app.decide("Deny")
    assert (await cli.answer("b"))["behavior"] == "deny"
