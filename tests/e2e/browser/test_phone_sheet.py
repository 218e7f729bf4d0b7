"""On a phone what waits for an answer is a sheet within reach of the thumb; it can be put down."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Locator, expect

from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Perform, Visit
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.half_second import HOLD
from tests.e2e.browser.puppet import Puppet

LONG = "\n".join(f'echo "step {n}: copy the tables of shard {n}"' for n in range(60))
PLAN = "# Wait for the letter\n\n" + "\n".join(f"{n}. Step {n} of the plan" for n in range(1, 9))
LAYOUTS = [
    {"label": "One column", "description": "Calm", "preview": "+------+\n| list |\n+------+"},
    {"label": "Two columns", "description": "Dense", "preview": "+---+---+\n| a | b |\n+---+---+"},
]
QUESTION = {"question": "Which layout?", "header": "Layout", "options": LAYOUTS}
FORM = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "title": "Name"}, "sure": {"type": "boolean"}},
}

GEOMETRY = """
(sheet) => {
  // The sheet lies on the lower edge; its answers are on the screen, are met there, and are large.
  const box = sheet.getBoundingClientRect();
  const answers = [...sheet.querySelectorAll("footer button")].map((one) => one.getBoundingClientRect());
  const inReach = (one) => one.top > innerHeight * 0.4 && one.bottom <= innerHeight && one.left >= 0 && one.right <= innerWidth;
  const controls = [...sheet.querySelectorAll("button, a, input[type=text], textarea, select, label:has(input[type=radio], input[type=checkbox])")];
  const small = controls.filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44);
  return {
    modal: sheet.matches(":modal"),
    edges: [box.left, Math.round(box.right), Math.round(box.bottom)],
    strip: box.top >= 100,
    inReach: answers.length > 0 && answers.every(inReach),
    small: small.map((one) => one.outerHTML.slice(0, 120)),
    sideways: sheet.scrollWidth > sheet.clientWidth,
  };
}
"""

IN_REACH = {
    "modal": True, "edges": [0, 390, 844], "strip": True, "inReach": True, "small": [], "sideways": False,
}  # fmt: skip


def allow(desk: Desk) -> Locator:
    return desk.decision.get_by_role("button", name="Allow once", exact=True)


def bar(desk: Desk) -> Locator:
    return desk.page.get_by_role("button", name=re.compile("needs your (approval|answer)"))


async def ask_form(puppet: Puppet, request: str) -> None:
    await puppet.request(
        request, subtype="elicitation", mcp_server_name="billing", mode="form",
        message="Which team?", requested_schema=FORM,
    )  # fmt: skip


async def draw(desk: Desk, way: int) -> None:
    """A finger that draws the handle of the sheet down, slowly."""
    box = await desk.decision.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 20
    session = await desk.context.new_cdp_session(desk.page)

    async def touch(kind: str, *points: tuple[float, float]) -> None:
        where = [{"x": x, "y": y} for x, y in points]
        await session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    await touch("touchStart", (x, y))
    for step in range(1, 6):
        await touch("touchMove", (x, y + way * step / 5))
    await touch("touchEnd")
    await session.detach()


async def test_everything_that_waits_is_a_sheet_within_reach(perform: Perform) -> None:
    report = Report()
    desk, puppet = await perform(phone=True)
    await puppet.say("I have read the tables, and copy them now.")
    asks: list[tuple[str, str, dict[str, Any]]] = [
        ("short", "Bash", {"command": "ls"}),
        ("long", "Bash", {"command": LONG}),
        ("edit", "Edit", {"file_path": "/a.py", "old_string": "one\n", "new_string": "two\n"}),
        ("question", "AskUserQuestion", {"questions": [QUESTION]}),
        ("plan", "ExitPlanMode", {"plan": PLAN}),
    ]
    await ask_form(puppet, "form")
    for request, tool, given in asks:
        await puppet.ask(request, given, tool=tool)
    for number, request in enumerate(["form", *(one[0] for one in asks)], 1):
        await expect(desk.decision).to_contain_text(f"{number} of {len(asks) + 1}")
        assert await desk.decision.evaluate(GEOMETRY) == IN_REACH, request
        if request in ("short", "long"):  # `test_accessibility` has the others.
            await report.look(desk, request)
        await desk.decision.get_by_role("button", name="Next").tap()
    await desk.decision.get_by_role("button", name="Later").tap()
    await expect(bar(desk)).to_be_visible()
    await report.look(desk, "put down")
    report.check()


async def test_it_is_put_down_to_read_and_lifted_to_answer(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    await puppet.say("I need to look at the folder first.")
    await puppet.ask("a", {"command": "ls -la"})
    await expect(desk.decision).to_be_focused()
    await desk.decision.get_by_role("button", name="Later").tap()
    await expect(desk.decision).to_have_count(0)
    await expect(bar(desk)).to_be_focused()
    await expect(bar(desk)).to_contain_text("Bash needs your approval")
    await expect(bar(desk)).to_contain_text("ls -la")
    for key in ("a", "d", "s", "Escape"):  # Nobody answers what they do not see.
        await desk.page.keyboard.press(key)
    await desk.composer.tap()  # Nothing is in the way of the rest of the page.
    await expect(desk.composer).to_be_focused()
    await bar(desk).tap()
    await expect(desk.decision).to_be_visible()
    await desk.decision.get_by_role("button", name="Deny with reason…").tap()
    await desk.decision.get_by_role("textbox").fill("Not yet.")
    await draw(desk, 20)
    await expect(desk.decision.get_by_role("textbox")).to_have_value("Not yet.")
    await draw(desk, 200)
    await expect(bar(desk)).to_be_focused()
    await desk.page.keyboard.press("Enter")
    await expect(desk.decision.get_by_role("textbox")).to_have_value("Not yet.")
    await desk.decision.get_by_role("button", name="Deny", exact=True).tap()
    await desk.end_undo()
    assert (await puppet.answer("a"))["message"] == "Not yet."
    await expect(bar(desk)).to_have_count(0)
    assert len(puppet.answers) == 1


async def test_a_hand_that_lifts_it_or_comes_too_early_answers_nothing(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    page = desk.page
    await page.evaluate(HOLD)
    await puppet.ask("a", {"command": "ls"})
    stop = desk.decision.get_by_role("button", name="Deny and stop")
    box = await stop.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.touchscreen.tap(*at)  # Meant for what the sheet has come to lie on.
    await page.evaluate("pass(500)")
    await expect(allow(desk)).to_be_enabled()
    await desk.decision.get_by_role("button", name="Later").tap()
    await page.evaluate("pass(5000)")  # Time that it lies there does not count.
    await bar(desk).tap()
    await expect(allow(desk)).to_be_disabled()
    await page.touchscreen.tap(*at)
    await page.evaluate("pass(499)")
    await expect(allow(desk)).to_be_disabled()
    assert puppet.answers == []
    await page.evaluate("pass(1)")
    await allow(desk).tap()
    assert (await puppet.answer("a"))["behavior"] == "allow"


async def test_a_long_command_is_not_armed_by_lying_there(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    await puppet.ask("a", {"command": LONG})
    await desk.decision.get_by_role("button", name="Later").tap()
    await bar(desk).tap()
    await desk.page.evaluate("new Promise((done) => setTimeout(done, 700))")
    await expect(allow(desk)).to_be_disabled()
    await desk.decision.get_by_role("button", name="Jump to end").tap()
    await expect(allow(desk)).to_be_enabled()
    await expect(desk.decision.locator(".end")).to_be_in_viewport()
    await desk.page.touchscreen.tap(195, 80)  # The conversation behind it.
    await expect(bar(desk)).to_be_focused()


async def test_several_come_one_at_a_time(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    for number in range(3):
        await puppet.ask(f"r{number}", {"command": f"echo {number}"})
    await expect(desk.decision).to_contain_text("1 of 3")
    await desk.decision.get_by_role("button", name="Next").tap()
    await expect(desk.decision).to_contain_text("2 of 3")
    await expect(desk.decision.get_by_label("Command")).to_have_text("echo 1")
    await desk.decision.get_by_role("button", name="Later").tap()
    await expect(bar(desk)).to_contain_text("and 2 more")
    await bar(desk).tap()
    await puppet.withdraw("r1")
    await expect(desk.decision).to_contain_text("withdrawn by the agent")
    await expect(desk.decision).to_contain_text("1 of 2")
    for number in (0, 2):
        await expect(desk.decision.get_by_label("Command")).to_have_text(f"echo {number}")
        await expect(allow(desk)).to_be_enabled()
        await allow(desk).tap()
        await puppet.answer(f"r{number}")
    await expect(desk.decision).to_have_count(0)


async def test_nobody_is_torn_away_from_their_words(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    await desk.composer.fill("And then ")
    await puppet.ask("a", {"command": "ls"})
    await expect(bar(desk)).to_be_visible()
    await expect(desk.composer).to_be_focused()
    await desk.page.keyboard.type("add a test")
    await expect(desk.composer).to_have_value("And then add a test")
    await puppet.withdraw("a")
    await expect(bar(desk)).to_have_count(0)
    await desk.composer.fill("")
    await puppet.ask("b", {"command": "ls"})
    await expect(desk.decision).to_be_focused()
    await desk.decide("Allow once")
    await puppet.answer("b")
    await expect(desk.composer).to_be_focused()  # Where it was before.


async def test_an_on_screen_keyboard_leaves_the_answers_in_sight(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    await puppet.ask("a", {"command": LONG})
    await desk.decision.get_by_role("button", name="Deny with reason…").tap()
    await desk.page.set_viewport_size({"width": 390, "height": 844 - 336})
    for name in ("Deny", "Deny and stop", "Back"):
        button = desk.decision.get_by_role("button", name=name, exact=True)
        await expect(button).to_be_in_viewport(ratio=1)
    await expect(desk.decision.get_by_role("textbox")).to_be_in_viewport(ratio=1)


async def test_a_device_that_may_only_look_puts_it_down_with_escape(
    perform: Perform, visit: Visit
) -> None:
    desk, puppet = await perform(phone=True)
    viewer = await visit(desk.house, role="viewer", phone=True)
    await viewer.page.goto(desk.page.url)
    await puppet.ask("a", {"command": "ls"})
    await expect(viewer.decision).to_contain_text("View only: use a device with approval rights.")
    await viewer.page.keyboard.press("Escape")
    await expect(bar(viewer)).to_be_focused()
    await expect(desk.decision).to_be_visible()
    assert puppet.answers == []


async def test_the_inbox_goes_through_them_as_sheets(perform: Perform) -> None:
    desk, puppet = await perform(phone=True)
    for number in range(2):
        await puppet.ask(f"r{number}", {"command": f"echo {number}"})
    await expect(desk.decision).to_contain_text("1 of 2")
    await desk.page.goto(f"{desk.house.base}/inbox")
    await expect(desk.decision).to_contain_text("1 of 2")
    await desk.decision.get_by_role("button", name="Later").tap()
    rows = desk.page.get_by_role("main").get_by_role("listitem")
    await rows.nth(1).get_by_role("button").first.tap()
    await expect(desk.decision.get_by_label("Command")).to_have_text("echo 1")
    await desk.decide("Allow once")
    await puppet.answer("r1")
    await expect(desk.decision.get_by_label("Command")).to_have_text("echo 0")
    await desk.decision.get_by_role("button", name="Later").tap()
    await rows.nth(0).get_by_role("button").first.tap()
    await desk.decide("Allow once")
    assert (await puppet.answer("r0"))["behavior"] == "allow"
