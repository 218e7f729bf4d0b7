"""Texts that are too long to be sent to every client: the beginning, the rest on a click, a
complete copy."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use

LINES = 40_000
MIDDLE = "line 20000 of many"
LAST = f"line {LINES} of many"

LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration));
}).observe({ type: "longtask" });
"""

READ_ON = """
([node, last]) => {
  node.scrollTop = node.scrollHeight;
  return node.textContent.includes(last);
}
"""


def keep(path: Path, text: str) -> None:
    path.write_text(text)


CONFIRMED = """() => {
    window.confirmed = new Promise((done) => {
        const observer = new MutationObserver((changes) => {
            if (changes.some((one) => one.target.ariaLabel === "Copied")) done(observer.disconnect());
        });
        observer.observe(document.body, { subtree: true, attributeFilter: ["aria-label"] });
    });
}"""
"""Notes that a button says "Copied", which it does for 1.6 s: a busy test would look too late."""


async def click_copy(app: AppPage, button: Locator) -> str:
    """What a button has copied, after it has confirmed that."""
    await app.page.evaluate(CONFIRMED)
    await button.click()
    async with asyncio.timeout(PATIENCE_MS / 1000):
        await app.page.evaluate("() => window.confirmed")
    return str(await app.page.evaluate("() => navigator.clipboard.readText()"))


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_long_answer_is_copied_whole_although_only_its_beginning_is_here(
    begin_turn: BeginTurn,
) -> None:
    words = "A paragraph of words.\n\n" * 4_000 + "The very end."
    app, cli = await begin_turn()
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await cli.say(words)
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    answer = app.transcript.get_by_role("article", name="Answer").first
    await expect(answer.get_by_role("button", name="Show all (90 KB)")).to_be_visible()
    assert await click_copy(app, app.transcript.get_by_role("button", name="Copy answer")) == words
    await app.page.evaluate("() => navigator.clipboard.writeText('')")
    await answer.hover()
    assert await click_copy(app, answer.get_by_role("button", name="Copy message")) == words


@pytest.mark.matrix(target="browser", cases=0)
async def test_finding_says_what_it_searched_in_part_and_searches_all_of_it_when_asked(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("A paragraph of words.\n\n" * 4_000 + "The very end.")
    await cli.used("Survey", {"of": "everything"}, "A line.\n" * 12_000 + "The very last.")
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    await expect(app.transcript.get_by_role("button", name="Show all (90 KB)")).to_be_visible()
    await app.page.keyboard.press("Control+f")
    finding = app.page.get_by_role("search", name="Find in the conversation")
    await finding.get_by_role("searchbox").fill("the very")
    count = finding.get_by_role("status")
    await expect(count).to_have_text("No matches. 2 long texts searched only in part")
    await finding.get_by_role("button", name="Search all of them (184 KB)").click()
    await expect(count).to_have_text("1 of 2")  # The first match is selected at once.
    await expect(finding.get_by_role("button", name=re.compile("^Search all"))).to_have_count(0)
    await finding.get_by_role("searchbox").press("Enter")
    await expect(count).to_have_text(re.compile("^[12] of 2$"))
    await app.expect_words("The very end.")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_huge_result_of_any_tool_is_shown_in_pieces_and_holds_nothing_up(
    begin_turn: BeginTurn,
) -> None:
    result = "\n".join(f"line {number} of many" for number in range(1, LINES + 1))
    app, cli = await begin_turn()
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await cli.used("Survey", {"of": "everything"}, result)
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    all_of_it = app.transcript.get_by_role("button", name=re.compile(r"^Show all \(\d+ KB\)"))
    await expect(all_of_it).to_be_visible()
    await app.page.evaluate(LONG_TASKS)
    await all_of_it.click()
    whole = app.transcript.get_by_role("group", name="Full result", exact=True)
    await expect(whole).to_be_visible()
    drawn = len(await whole.inner_text())
    assert drawn < len(result) / 4, drawn
    assert max(await app.page.evaluate("window.longTasks"), default=0) < 300
    await app.page.wait_for_function(READ_ON, arg=[await whole.element_handle(), LAST])
    assert MIDDLE in (await whole.text_content() or "")
    assert await click_copy(app, app.transcript.get_by_role("button", name="Copy all")) == result


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_output_of_a_command_is_copied_whole(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene(None, use("Bash", command="cat long.txt"), say("Read."))])
    printed = "\n".join(f"row {number} of the output" for number in range(1_200))
    keep(server.project / "long.txt", printed + "\n")
    app = await visit(server)
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await app.start("read it")
    await app.expect_words("Read.")
    await app.expect_rest()
    card = app.card(re.compile("^Bash"))
    await card.get_by_role("button").first.click()
    copied = await click_copy(app, card.get_by_role("button", name="Copy output"))
    assert copied.splitlines()[-1] == "row 1199 of the output"


async def _copied(app: AppPage, where: Locator, button: str = "Copy") -> str:
    """What one of the buttons that copy has put into the clipboard."""
    await where.hover()
    return await click_copy(app, where.get_by_role("button", name=button, exact=True))


@pytest.mark.matrix(target="browser", cases=0)
async def test_every_button_that_copies_copies_what_is_not_here_too(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(height=2_400)
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = "\n".join(f"print({number})" for number in range(8_000))
    rows = "\n".join(f"row {number}" for number in range(9_000))
    data = {"rows": [f"row {number}" for number in range(9_000)]}
    await cli.say(f"Here it is.\n\n```python\n{code}\n```\n\nThe end.")
    await cli.used("mcp__shop__list", {"of": "all"}, rows)
    await cli.used("mcp__shop__data", {"of": "all"}, json.dumps(data))
    await cli.used("Bash", {"command": f"cat <<'END'\n{rows}\nEND"}, "ok")
    await cli.line(type="telemetry_v9", **data)
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    log = app.transcript
    shortened = log.get_by_role("button", name=re.compile(r"^Show all \(\d+ KB\)"))
    await expect(shortened).to_have_count(5)
    assert await _copied(app, log.locator("figure")) == code
    for title in ("List", "Data"):
        card = app.card(re.compile(title))
        await card.get_by_role("button").first.click()
        whole = rows if title == "List" else json.dumps(data, indent=2)
        assert await _copied(app, card) == whole
    card = app.card(re.compile("^Bash"))
    await card.get_by_role("button").first.click()
    assert await _copied(app, card, "Copy command") == f"cat <<'END'\n{rows}\nEND"
    raw = log.get_by_role("article", name="Unknown message")
    await raw.get_by_text("telemetry_v9").click()
    assert json.loads(await _copied(app, raw))["rows"] == data["rows"]


async def test_what_a_turn_failed_with_is_shown_whole_when_all_of_it_is_wanted(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    errors = "\n".join(f"problem {number}" for number in range(2_000))
    await cli.line(
        type="result", subtype="error_during_execution", is_error=True, errors=[errors],
        total_cost_usd=0.01, num_turns=1,
    )  # fmt: skip
    end = app.transcript.get_by_role("article", name="End of the turn")
    await expect(end).to_contain_text("problem 0")
    await expect(end).not_to_contain_text("problem 1999")
    await end.get_by_role("button", name="Show all (26 KB)").click()
    whole = end.get_by_role("group", name="Error details")
    await app.page.wait_for_function(READ_ON, arg=[await whole.element_handle(), "problem 1999"])
    await expect(end.get_by_role("button", name=re.compile("^Show all"))).to_have_count(0)
