"""Reading a conversation: what is shown, found and reached by keyboard."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import say, scene

PROMPT = "Look at this:\n\n```python\nx = 1\n```\n\nand *that*"


async def test_U65_prompts_are_markdown_and_images_that_a_tool_read_are_shown(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.finish()
    await app.expect_rest()
    await app.say(PROMPT)
    await cli.prompted(2)
    prompt = app.transcript.get_by_role("article", name="You").last
    await expect(prompt.locator("pre")).to_contain_text("x = 1")
    await expect(prompt.locator("em")).to_have_text("that")
    file = {"type": "image/png", "base64": base64.b64encode(PICTURE).decode()}
    await cli.used("Read", {"file_path": "/p/dot.png"}, "[Image]", {"type": "image", "file": file})
    card = app.card(re.compile("^Read .*dot.png"))
    await expect(card.get_by_role("img")).to_be_visible()


async def test_U66_find_marks_and_goes_to_a_match_while_typing(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for number in range(40):
        await cli.say(f"Paragraph {number}. " + ("The needle is here." if number == 3 else "Hay."))
    await cli.finish()
    await app.expect_rest()
    await app.page.keyboard.press("Control+f")
    await app.page.keyboard.type("needle")
    status = app.page.get_by_role("search").get_by_role("status")
    await expect(status).to_have_text("1 of 1")
    await expect(app.transcript.get_by_text("The needle is here.")).to_be_in_viewport()
    marked = "[...CSS.highlights.get('found-here') ?? []].length"
    await app.page.wait_for_function(f"() => {marked} === 1")


async def test_U67_the_conversation_is_one_tab_stop_with_a_skip_link(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for number in range(6):
        await cli.say(f"Answer {number}")
    await cli.finish()
    await app.expect_rest()
    await app.page.reload()
    await app.expect_words("Answer 5")
    await app.page.keyboard.press("Tab")
    await expect(app.page.get_by_role("button", name="Skip to the message field")).to_be_focused()
    await app.page.keyboard.press("Enter")
    await expect(app.composer).to_be_focused()
    await app.page.get_by_role("button", name="Attach files").focus()
    await app.page.keyboard.press("Shift+Tab")
    await expect(app.transcript).to_be_focused()
    await app.page.keyboard.press("ArrowUp")
    outside = "() => document.activeElement.closest('[role=log]') === null"
    await app.page.wait_for_function("() => document.activeElement.dataset.row !== undefined")
    await app.transcript.focus()
    await app.page.keyboard.press("Tab")
    await app.page.wait_for_function(outside)


PLACE = """() => {
    const at = document.activeElement;
    return at?.getAttribute("aria-label") ?? at?.innerText ?? "";
}"""


async def test_U82_tab_reaches_the_composer_in_at_most_12_stops(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for number in range(12):
        await cli.used("Bash", {"command": f"ls {number}"}, "out", {"stdout": "out"})
        await cli.say(f"Answer {number} with a [link](https://example.org/{number})")
    await cli.finish()
    await app.expect_rest()
    for number in range(8):  # Sessions in the list do not add stops either.
        await app.start(f"session {number}")
    await app.page.goto(f"{app.server.base}/s/{app.session}")
    await app.listed("go").click()
    await app.expect_words("Answer 11")
    await app.page.reload()
    await app.expect_words("Answer 11")
    stops: list[str] = []
    while not stops or stops[-1] != "Message":
        await app.page.keyboard.press("Tab")
        stops.append(str(await app.page.evaluate(PLACE)))
        assert len(stops) <= 12, stops
    # The controls inside a stop are reached by arrow keys, and Tab comes back to the last one.
    await app.listed("session 7").focus()
    await app.page.keyboard.press("ArrowDown")
    await expect(app.listed("session 6")).to_be_focused()
    await app.page.keyboard.press("ArrowRight")
    await expect(app.page.get_by_role("button", name="More about session 6")).to_be_focused()
    await app.page.keyboard.press("Shift+Tab")
    await app.page.keyboard.press("Tab")
    await expect(app.page.get_by_role("button", name="More about session 6")).to_be_focused()


GAPS = """() => {
    const box = (row) => row.getBoundingClientRect();
    const rows = [...document.querySelectorAll("[role=log] article")];
    const at = rows.findIndex((row) => row.innerText.includes("second prompt"));
    const bubble = box(rows[at].querySelector(".bubble"));
    const answer = rows[at + 1].querySelector("p");
    return { above: bubble.top - box(rows[at - 1]).bottom, below: box(answer).top - bubble.bottom };
}"""


async def test_U86_an_answer_is_as_close_to_its_prompt_as_the_turn_before(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("First answer")
    await cli.finish()
    await app.expect_rest()
    await app.say("second prompt")
    await cli.prompted(2)
    await cli.say("Second answer")
    await app.expect_words("Second answer")
    gaps = await app.page.evaluate(GAPS)
    assert 0 < gaps["below"] <= gaps["above"] + 4, gaps
    # The actions of the prompt are next to it, and still reachable by pointer and by keyboard.
    await app.transcript.get_by_text("second prompt").hover()
    actions = app.transcript.get_by_role("button", name="Message actions").last
    await actions.click()
    await expect(app.page.get_by_role("menuitem", name="Copy")).to_be_visible()


CENTERS = """nodes => nodes.map((node) => {
    const box = node.getBoundingClientRect();
    return box.top + box.height / 2;
})"""


async def test_U87_icons_are_aligned_with_each_other_and_with_their_labels(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([scene(None, say("Done."))]), phone=True)
    await app.start("hello")
    await app.expect_words("Done.")
    await app.expect_rest()
    end = app.transcript.get_by_role("article").last
    icons = await end.get_by_role("button").locator("svg").evaluate_all(CENTERS)
    assert len(icons) == 2
    assert abs(icons[0] - icons[1]) <= 0.5
    await app.page.get_by_role("button", name="More", exact=True).click()
    items = app.page.get_by_role("menuitem")
    await expect(items.first).to_be_visible()
    for item in await items.all():
        (icon,) = await item.locator("svg").evaluate_all(CENTERS)
        (words,) = await item.locator(".words").evaluate_all(CENTERS)
        assert abs(icon - words) <= 1


async def test_U68_claude_codes_own_keys_work_in_the_composer(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.composer.fill("and this, now")
    await app.composer.press("Control+Enter")
    await cli.until(
        lambda: [
            line for line in cli.heard if line.get("request", {}).get("subtype") == "interrupt"
        ]
    )
    await cli.finish("stopped")
    assert await cli.prompted(2) == "and this, now"
    await app.expect_words("and this, now")  # The page has it as a message, not in the queue.
    await expect(app.page.get_by_role("region", name="Queue")).to_have_count(0)
    await app.composer.press("Shift+Tab")
    modes = await cli.until(
        lambda: [
            line["request"]["mode"]
            for line in cli.heard
            if line.get("request", {}).get("subtype") == "set_permission_mode"
        ]
    )
    assert modes == ["acceptEdits"]


def text_file(path: str, content: str) -> dict[str, Any]:
    return {"type": "text", "file": {"filePath": path, "content": content, "numLines": 1}}


async def test_U71_calls_that_only_read_are_one_line(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for name in ("a.py", "b.py"):
        await cli.used("Read", {"file_path": f"/p/{name}"}, "x", text_file(name, f"in {name}"))
    group = app.card("Read 2 files")
    await expect(group).to_be_visible()
    await expect(app.card(re.compile("^Read .*py"))).to_have_count(0)
    await cli.used("Grep", {"pattern": "needle"}, "c.py:1: a needle", {"mode": "content"})
    await expect(app.card("Read 2 files, ran 1 search")).to_be_visible()
    await cli.used("Bash", {"command": "ls"}, "out", {"stdout": "out", "stderr": ""})
    await expect(app.card(re.compile("^Bash"))).to_be_visible()
    await cli.finish()
    await app.expect_rest()
    row = app.transcript.get_by_role("article", name="Read 2 files, ran 1 search")
    await row.focus()
    await app.page.keyboard.press("Enter")
    await expect(app.card(re.compile("^Read .*py"))).to_have_count(2)
    await app.page.keyboard.press("Enter")
    await expect(app.card(re.compile("^Read .*py"))).to_have_count(0)
    await app.page.keyboard.press("Control+f")  # Find unfolds what it finds.
    await app.page.keyboard.type("a needle")
    await expect(app.card(re.compile("^Grep"))).to_be_visible()


async def test_U72_there_is_one_to_do_list_and_one_line_for_each_change(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    steps = ("Read the code", "Fix the bug", "Run the tests")
    for done in range(3):
        todos = [
            {
                "content": step,
                "activeForm": step,
                "status": "completed"
                if at < done
                else ("in_progress" if at == done else "pending"),
            }
            for at, step in enumerate(steps)
        ]
        await cli.used("TodoWrite", {"todos": todos}, "ok", {"oldTodos": [], "newTodos": todos})
    details = app.page.get_by_role("complementary", name="Details")
    await expect(details.get_by_role("region", name=re.compile("^Tasks"))).to_contain_text(steps[0])
    lines = app.card(re.compile("^To do"))
    await expect(lines).to_have_count(3)
    await expect(lines.last).to_contain_text("2 of 3 done")
    await expect(app.transcript.get_by_text(steps[0])).to_have_count(1)  # The line of its start.


async def test_U73_selected_text_is_quoted_into_the_message(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.say("The first sentence.\n\nThe second sentence.")
    await cli.finish()
    await app.expect_rest()
    await app.composer.fill("As you say:")
    await app.leave_field()
    await app.transcript.get_by_text("The second sentence.").select_text()
    await app.page.get_by_role("button", name="Quote").click()
    await expect(app.composer).to_have_value("As you say:\n\n> The second sentence.\n\n")
    await expect(app.composer).to_be_focused()
    await app.composer.fill("")
    await app.leave_field()
    await app.transcript.get_by_text("The first sentence.").select_text()
    await expect(app.page.get_by_role("button", name="Quote")).to_be_visible()
    await app.page.keyboard.press("q")
    await expect(app.composer).to_have_value("> The first sentence.\n\n")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U65_the_output_of_a_slash_command_keeps_its_lines(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([scene("hello", say("Hello."))]))
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.expect_rest()
    await app.say("/cost")
    output = app.transcript.get_by_role("article", name="Output of a command").last
    await expect(output).to_contain_text("Total cost")
    assert re.search(r"Total cost:[^\n]*\n+Total duration", await output.inner_text())


WATCH = """() => {
  const pane = document.querySelector('[role=log]');
  window.blank = 0;
  const look = () => {
    const box = pane.getBoundingClientRect();
    for (let y = box.top + 30; y < box.top + box.height * 0.6; y += 40) {
      const hit = document.elementFromPoint(box.left + box.width / 2, y);
      if (hit && pane.contains(hit) && !hit.closest('[data-row]')) { window.blank += 1; break; }
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


TWENTY_FRAMES = """() => new Promise((done) => {
  let left = 20;
  const next = () => (left-- ? requestAnimationFrame(next) : done());
  next();
})"""


async def test_U77_the_conversation_is_never_blank_when_a_decision_closes(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    for number in range(40):
        await cli.say(f"Paragraph {number}. " + "Some words of an answer. " * 12)
    await app.expect_words("Paragraph 39.")
    await cli.ask("a", {"command": "echo one\n" * 30})
    await expect(app.decision).to_be_visible()
    await app.decision.get_by_role("button", name="Jump to end").click()
    allow = app.decision.get_by_role("button", name="Allow once")
    await expect(allow).to_be_enabled()
    await app.page.evaluate(WATCH)
    await allow.click()
    await expect(app.decision).to_have_count(0)
    await app.page.evaluate(TWENTY_FRAMES)
    assert await app.page.evaluate("window.blank") == 0


@pytest.mark.matrix(target="browser", cases=0)
async def test_U20_a_plan_that_was_sent_back_stays_next_to_the_comment(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("p", {"plan": "# The plan\n\n1. Measure"}, tool="ExitPlanMode")
    await expect(app.decision.get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    await app.decide("Request changes…")
    await app.page.keyboard.type("Measure twice.")
    await app.page.keyboard.press("Control+Enter")
    await app.end_undo()
    assert "Measure twice." in (await cli.answer("p"))["message"]
    card = app.card("Plan")
    await expect(card).to_contain_text("not approved")
    await expect(card.get_by_role("heading", name="The plan")).to_be_visible()
    await expect(card).to_contain_text("Measure twice.")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U24_a_phone_shows_the_whole_name_of_a_slash_command(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([scene("hello", say("Hello."))]), phone=True)
    await app.start("hello")
    await app.expect_rest()
    await app.composer.fill("/compact")
    name = app.page.get_by_role("option").filter(has_text="/compact").first.locator("b")
    await expect(name).to_have_text("/compact")
    assert await name.evaluate("(node) => node.scrollWidth <= node.clientWidth")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U13_the_bar_of_a_minimized_request_shows_the_name_of_the_file(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn(phone=True)
    path = "/home/somebody/work/a/very/long/way/down/to/the/file_that_matters.py"
    await cli.ask("a", {"file_path": path, "content": "x"}, tool="Write")
    await app.decision.get_by_role("button", name="Later").tap()
    bar = app.page.get_by_role("button", name=re.compile("needs your approval"))
    name = bar.get_by_text(re.compile("file_that_matters"))
    await expect(name).to_contain_text("file_that_matters.py")
    assert await name.evaluate("(node) => node.scrollWidth <= node.parentElement.clientWidth")


async def test_U61_a_key_that_comes_too_early_says_so(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.page.clock.install()  # The half second does not pass by itself.
    await cli.ask("a", {"command": "ls"})
    await expect(app.decision).to_be_visible()
    await app.page.keyboard.press("Alt+a")
    await expect(app.decision).to_contain_text("The request just appeared. Press again.")
    assert cli.answers == []
