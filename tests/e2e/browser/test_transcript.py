"""The conversation as a reader has it: found, jumped through, listened to, and never lost."""

from __future__ import annotations

import re
import uuid

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess

pytestmark = pytest.mark.timeout(180)

HIGHLIGHTS = """() => Object.fromEntries(['found', 'found-here'].map((name) =>
  [name, [...(CSS.highlights.get(name) ?? [])].map((range) => range.toString())]))"""


async def _talk(cli: FakeCliProcess, answers: int, name: str = "Part") -> None:
    for number in range(answers):
        await cli.say(f"{name} {number} of the answer.\n\n" + "Some more words. " * 30)


async def _tool(
    cli: FakeCliProcess, name: str, given: dict[str, str], result: str, **more: str
) -> str:
    tool = f"toolu_{uuid.uuid4().hex}"
    use = {"type": "tool_use", "id": tool, "name": name, "input": given}
    message = {"id": f"msg_{tool}", "role": "assistant", "model": "big", "content": [use]}
    parent = more.get("parent")
    await cli.line(type="assistant", message=message, parent_tool_use_id=parent)
    if result:
        back = {"type": "tool_result", "tool_use_id": tool, "content": result}
        content = {"role": "user", "content": [back]}
        await cli.line(type="user", message=content, parent_tool_use_id=parent)
    return tool


async def _find(app: AppPage, words: str) -> None:
    await app.page.keyboard.press("Control+f")
    await app.page.get_by_role("searchbox", name="Find in this conversation").fill(words)


@pytest.mark.matrix(target="browser", cases=0)
async def test_words_are_found_counted_marked_and_gone_through(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say("The needle is here.")
    await _talk(cli, 30)
    await cli.say("Another Needle, and a needle.")
    await cli.finish()
    await app.expect_words("Another Needle")
    await _find(app, "needle")
    bar = app.page.get_by_role("search", name="Find in the conversation")
    await expect(bar.get_by_role("status")).to_have_text(
        re.compile("[12] of 2"), timeout=PATIENCE_MS
    )
    await app.page.keyboard.press("Enter")
    await expect(bar.get_by_role("status")).to_have_text(re.compile("[12] of 2"))
    await app.page.keyboard.press("Enter")
    await app.page.keyboard.press("Shift+Enter")
    await expect(bar.get_by_role("status")).to_have_text(re.compile("[12] of 2"))
    while "1 of 2" not in await bar.get_by_role("status").inner_text():
        await app.page.keyboard.press("Enter")
    first = app.transcript.get_by_text("The needle is here.")
    await expect(first).to_be_in_viewport()
    await app.page.wait_for_function(f"() => ({HIGHLIGHTS})()['found-here'].length === 1")
    assert await app.page.evaluate(HIGHLIGHTS) == {"found": [], "found-here": ["needle"]}
    await app.page.keyboard.press("Escape")
    await expect(bar).to_be_hidden()
    await app.page.wait_for_function(f"() => ({HIGHLIGHTS})()['found-here'].length === 0")
    assert await app.page.evaluate(HIGHLIGHTS) == {"found": [], "found-here": []}


@pytest.mark.matrix(target="browser", cases=0)
async def test_words_of_messages_that_are_not_here_are_found_through_the_server(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("A thimble of long ago.")
    await _talk(cli, 260)
    await cli.finish()
    await app.expect_words("Part 259")
    await app.page.reload()
    await app.expect_words("Part 259")
    await _find(app, "thimble")
    bar = app.page.get_by_role("search", name="Find in the conversation")
    await expect(bar.get_by_role("status")).to_have_text(
        "None here · 1 earlier", timeout=PATIENCE_MS
    )
    await app.page.keyboard.press("Shift+Enter")
    await expect(app.transcript.get_by_text("A thimble of long ago.")).to_be_in_viewport(
        timeout=PATIENCE_MS
    )
    await expect(bar.get_by_role("status")).to_have_text("1 of 1")


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_address_that_names_an_item_of_long_ago_shows_it(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say("Far away and long ago.")
    await _talk(cli, 260)
    await cli.finish()
    await app.expect_words("Part 259")
    session = app.page.url.rsplit("/", 1)[-1]
    live = await app.server.service.registry.sessions.load(session)
    item = next(one.id for one in live.transcript.items if "long ago" in getattr(one, "text", ""))
    await app.page.goto(f"{app.server.base}/s/{session}?item={item}")
    row = app.page.locator(f'[data-row="{item}"]')
    await expect(row).to_be_in_viewport(timeout=PATIENCE_MS)
    await expect(row).to_be_focused()
    await app.page.goto(f"{app.server.base}/s/{session}?item=nobody")
    gone = app.page.get_by_text("That message is no longer in this conversation.")
    await expect(gone).to_be_visible(timeout=PATIENCE_MS)


@pytest.mark.matrix(target="browser", cases=0)
async def test_one_goes_from_prompt_to_prompt_and_chooses_one_from_a_list(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await _talk(cli, 12)
    await cli.finish()
    await app.expect_rest()
    await app.say("And the second question?")
    await cli.prompted(2)
    await _talk(cli, 12, "Piece")
    await cli.finish()
    await app.expect_words("Piece 11")
    await app.expect_rest()
    await app.transcript.focus()
    second = app.transcript.get_by_role("article", name="You").filter(has_text="second question")
    await app.page.keyboard.press("[")
    await expect(second).to_be_in_viewport(timeout=PATIENCE_MS)
    await app.page.keyboard.press("[")
    first = app.transcript.get_by_role("article", name="You").filter(has_text="go")
    await expect(first).to_be_in_viewport()
    await app.page.keyboard.press("o")
    listed = app.page.get_by_role("dialog", name="Prompts")
    await expect(listed.get_by_role("listitem")).to_have_count(2)
    await listed.get_by_role("searchbox").fill("second")
    await listed.get_by_role("listitem").get_by_role("button").click()
    await expect(second).to_be_in_viewport()
    await expect(second).to_be_focused()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_keyboard_moves_from_message_to_message_and_its_place_is_not_lost(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await _talk(cli, 40)
    await cli.finish()
    await app.expect_rest()
    await app.transcript.focus()
    await app.page.keyboard.press("k")
    await app.page.keyboard.press("k")
    row = app.page.locator("article:focus")
    await expect(row).to_contain_text("Part 39")
    await app.page.keyboard.press("k")
    await expect(row).to_contain_text("Part 38")
    await app.page.keyboard.press("j")
    await expect(row).to_contain_text("Part 39")
    # Scrolled far away it is not drawn for the eye, and keeps the focus all the same.
    await app.transcript.evaluate("(log) => (log.scrollTop = 0)")
    await app.page.wait_for_function("() => document.querySelector('[role=log]').scrollTop < 50")
    await expect(row).not_to_be_in_viewport()
    await expect(row).to_contain_text("Part 39")
    await app.page.keyboard.press("k")
    await expect(row).to_contain_text("Part 38")
    await expect(row).to_be_in_viewport()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_end_of_an_answer_is_announced_once_and_nothing_of_it_before(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    said = app.page.get_by_role("status", name="Latest response")
    await cli.begin_words()
    await cli.words("It is **do")
    await app.expect_words("It is do")
    assert await said.inner_text() == ""
    assert await app.transcript.get_attribute("aria-live") == "off"
    await cli.words("ne**.")
    await cli.end_words("It is **done**.")
    await cli.finish()
    await expect(said).to_have_text("Answer: It is done .", timeout=PATIENCE_MS)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_subagent_is_folded_into_its_call_and_says_how_far_it_is(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    given = {"description": "Look around", "prompt": "Look", "subagent_type": "Explore"}
    task = await _tool(cli, "Task", given, "")
    for number in range(3):
        await _tool(cli, "Bash", {"command": f"ls {number}"}, "ok", parent=task)
    steps = app.transcript.get_by_role("button", name=re.compile("3 steps"))
    await expect(steps).to_be_visible(timeout=PATIENCE_MS)
    await expect(app.transcript.get_by_text("ls 2")).to_be_hidden()
    await steps.click()
    await expect(app.transcript.get_by_text("ls 2").first).to_be_visible()
    await cli.finish()


@pytest.mark.matrix(target="browser", cases=0)
async def test_equal_cards_are_no_landmarks_and_every_message_has_a_name(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    for _ in range(2):
        await _tool(cli, "Bash", {"command": "make"}, "ok")
    await cli.finish()
    await expect(app.transcript.get_by_role("group", name="Bash make")).to_have_count(
        2, timeout=PATIENCE_MS
    )
    assert await app.transcript.get_by_role("region").count() == 0
    names = await app.transcript.get_by_role("article").evaluate_all(
        "(rows) => rows.map((row) => row.getAttribute('aria-label'))"
    )
    assert all(names)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_very_long_answer_of_before_shows_its_beginning_until_all_is_wanted(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("A paragraph of words.\n\n" * 4_000 + "The very end.")
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    button = app.transcript.get_by_role("button", name="Show all (90 KB)")
    await expect(button).to_be_visible(timeout=PATIENCE_MS)
    await button.click()
    await app.expect_words("The very end.")


async def test_right_to_left_text_is_on_the_right_and_reorders_nothing_else(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("שלום עולם\n\nHello\n\n\u202etxt.exe")
    await cli.finish()
    await app.expect_words("Hello")
    direction = "(node) => getComputedStyle(node).direction"
    assert await app.transcript.get_by_text("שלום").evaluate(direction) == "rtl"
    assert await app.transcript.get_by_text("Hello").evaluate(direction) == "ltr"
    await app.expect_words("\ufffdtxt.exe")


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_hides_in_the_line_of_a_call_and_prose_in_it_can_be_read(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await _tool(cli, "Bash", {"command": "echo \u202efr- mr\u200b"}, "ok")
    await _tool(cli, "WebSearch", {"query": "שלום עולם"}, "ok")
    await cli.finish()
    card = app.transcript.get_by_role("group", name="Bash echo ⟨RLO⟩fr- mr⟨ZWSP⟩")
    await expect(card.locator('[title="U+202E"]')).to_have_text(re.compile("^RLO"))
    await expect(card.locator('[title="U+200B"]')).to_have_text(re.compile("^ZWSP"))
    assert "\u202e" not in await card.inner_text()
    query = app.transcript.get_by_role("group", name="Web search שלום עולם").get_by_text("שלום")
    assert await query.evaluate("(node) => getComputedStyle(node).direction") == "rtl"


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_message_shows_its_time_is_copied_and_forked_from(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say("Words to keep.")
    await cli.finish()
    await app.expect_rest()
    prompt = app.transcript.get_by_role("article", name="You").first
    await prompt.hover()
    await expect(prompt.get_by_role("time")).to_have_text(re.compile(r"\d{2}:\d{2}"))
    await prompt.get_by_role("button", name="Message actions").click()
    menu = app.page.get_by_role("menu", name="Message actions")
    await expect(menu.get_by_role("menuitem", name=re.compile("^Fork from here"))).to_be_visible()
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await menu.get_by_role("menuitem", name="Copy").click()
    await app.expect_copied("go")
    answer = app.transcript.get_by_role("article", name="Answer").first
    await answer.hover()
    await answer.get_by_role("button", name="Copy message").click()
    await app.expect_copied("Words to keep.")


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_is_drawn_again_while_an_answer_grows(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    whole = (
        "# Title\n\nA paragraph with **bold** words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\nprint(1)\nprint(2)\n```\n\nThe end."
    )
    await cli.begin_words()
    await cli.words(whole[:60])
    await app.expect_words("A paragraph with bold")
    await app.page.evaluate(
        """() => {
          window.gone = [];
          new MutationObserver((records) => {
            for (const { removedNodes } of records)
              for (const node of removedNodes)
                if (node.nodeType === 1 && /^(H1|P|LI|TR|TABLE|FIGURE|UL)$/.test(node.tagName)) window.gone.push(node.outerHTML);
          }).observe(document.querySelector('[role=log]'), { subtree: true, childList: true });
        }"""
    )
    for at in range(60, len(whole), 5):
        await cli.words(whole[at : at + 5])
        await app.page.wait_for_timeout(
            30
        )  # A model's pace, so that each piece is drawn by itself.
    await cli.end_words(whole)
    await cli.finish()
    await app.expect_words("The end.")
    assert await app.page.evaluate("() => window.gone") == []


@pytest.mark.matrix(target="browser", cases=0)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_reading_finding_and_the_prompt_list_are_accessible(
    begin_turn: BeginTurn, theme: str
) -> None:
    app, cli = await begin_turn(theme=theme)
    await _talk(cli, 12)
    await cli.line(type="telemetry_v9", sample=[1, 2, 3])
    await cli.say("```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done")
    await cli.finish()
    await app.expect_rest()
    report = Report()
    await app.transcript.focus()
    await app.page.keyboard.press("[")
    await expect(app.page.get_by_role("toolbar", name="Reading")).to_be_visible()
    await report.look(app, "reading above")
    await _find(app, "words")
    await app.page.keyboard.press("Enter")
    await report.look(app, "finding")
    await app.page.keyboard.press("Escape")
    await app.page.keyboard.press("o")
    await expect(app.page.get_by_role("dialog", name="Prompts")).to_be_visible()
    await report.look(app, "prompts")
    report.check()
