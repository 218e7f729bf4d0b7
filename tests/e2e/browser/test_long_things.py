"""What is too long to be sent to everybody: its beginning, all of it on a click, copied whole."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Perform, Visit
from tests.e2e.browser.desk import Desk
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


async def clipboard(desk: Desk) -> str:
    return str(await desk.page.evaluate("() => navigator.clipboard.readText()"))


async def test_a_long_answer_is_copied_whole_although_only_its_beginning_is_here(
    perform: Perform,
) -> None:
    words = "A paragraph of words.\n\n" * 4_000 + "The very end."
    desk, puppet = await perform()
    await desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await puppet.say(words)
    await puppet.finish()
    await desk.expect_rest()
    await desk.page.reload()
    answer = desk.transcript.get_by_role("article", name="Answer").first
    await expect(answer.get_by_role("button", name="Show all (90 KB)")).to_be_visible()
    await desk.transcript.get_by_role("button", name="Copy the answer").click()
    await expect(desk.transcript.get_by_role("button", name="Copied")).to_be_visible()
    assert await clipboard(desk) == words
    await desk.page.evaluate("() => navigator.clipboard.writeText('')")
    await answer.hover()
    await answer.get_by_role("button", name="Copy this part").click()
    await expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert await clipboard(desk) == words


async def test_finding_says_that_it_looked_into_a_part_only(perform: Perform) -> None:
    desk, puppet = await perform()
    await puppet.say("A paragraph of words.\n\n" * 4_000 + "The very end.")
    await puppet.finish()
    await desk.expect_rest()
    await desk.page.reload()
    await expect(desk.transcript.get_by_role("button", name="Show all (90 KB)")).to_be_visible()
    await desk.page.keyboard.press("Control+f")
    finding = desk.page.get_by_role("search", name="Find in the conversation")
    await finding.get_by_role("searchbox").fill("very end")
    await expect(finding.get_by_role("status")).to_contain_text("1 long one only in part")


async def test_a_huge_result_of_any_tool_is_shown_in_pieces_and_holds_nothing_up(
    perform: Perform,
) -> None:
    result = "\n".join(f"line {number} of many" for number in range(1, LINES + 1))
    desk, puppet = await perform()
    await desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await puppet.used("Survey", {"of": "everything"}, result)
    await puppet.finish()
    await desk.expect_rest()
    await desk.page.reload()
    all_of_it = desk.transcript.get_by_role("button", name=re.compile(r"^Show all \(\d+ KB\)"))
    await expect(all_of_it).to_be_visible()
    await desk.page.evaluate(LONG_TASKS)
    await all_of_it.click()
    whole = desk.transcript.get_by_role("group", name="The whole result", exact=True)
    await expect(whole).to_be_visible()
    drawn = len(await whole.inner_text())
    assert drawn < len(result) / 4, drawn
    assert max(await desk.page.evaluate("window.longTasks"), default=0) < 300
    await desk.page.wait_for_function(READ_ON, arg=[await whole.element_handle(), LAST])
    assert MIDDLE in (await whole.text_content() or "")
    await desk.transcript.get_by_role("button", name="Copy all of it").click()
    await expect(desk.transcript.get_by_role("button", name="Copied")).to_be_visible()
    assert await clipboard(desk) == result


async def test_the_output_of_a_command_is_copied_whole(emulated: Emulated, visit: Visit) -> None:
    house = await emulated([scene(None, use("Bash", command="cat long.txt"), say("Read."))])
    printed = "\n".join(f"row {number} of the output" for number in range(1_200))
    keep(house.project / "long.txt", printed + "\n")
    desk = await visit(house)
    await desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await desk.start("read it")
    await desk.expect_words("Read.")
    await desk.expect_rest()
    card = desk.card(re.compile("^Bash"))
    await card.get_by_role("button").first.click()
    await card.get_by_role("button", name="Copy the output").click()
    await expect(card.get_by_role("button", name="Copied")).to_be_visible()
    assert (await clipboard(desk)).splitlines()[-1] == "row 1199 of the output"
