"""On a phone what waits for an answer is a sheet within reach of the thumb; it can be put down."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.approval_delay import HOLD
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import BeginTurn, Visit
from tests.e2e.browser.fake_cli import FakeCliProcess

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


def allow(app: AppPage) -> Locator:
    return app.decision.get_by_role("button", name="Allow once", exact=True)


def bar(app: AppPage) -> Locator:
    return app.page.get_by_role("button", name=re.compile("needs your (approval|answer)"))


async def ask_form(cli: FakeCliProcess, request: str) -> None:
    await cli.request(
        request, subtype="elicitation", mcp_server_name="billing", mode="form",
        message="Which team?", requested_schema=FORM,
    )  # fmt: skip


async def draw(app: AppPage, way: int) -> None:
    """A finger that draws the handle of the sheet down, slowly."""
    box = await app.decision.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 20
    session = await app.context.new_cdp_session(app.page)

    async def touch(kind: str, *points: tuple[float, float]) -> None:
        where = [{"x": x, "y": y} for x, y in points]
        await session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    await touch("touchStart", (x, y))
    for step in range(1, 6):
        await touch("touchMove", (x, y + way * step / 5))
    await touch("touchEnd")
    await session.detach()


@pytest.mark.matrix(target="browser", cases=0)
async def test_everything_that_waits_is_a_sheet_within_reach(begin_turn: BeginTurn) -> None:
    report = Report()
    app, cli = await begin_turn(phone=True)
    await cli.say("I have read the tables, and copy them now.")
    asks: list[tuple[str, str, dict[str, Any]]] = [
        ("short", "Bash", {"command": "ls"}),
        ("long", "Bash", {"command": LONG}),
        ("edit", "Edit", {"file_path": "/a.py", "old_string": "one\n", "new_string": "two\n"}),
        ("question", "AskUserQuestion", {"questions": [QUESTION]}),
        ("plan", "ExitPlanMode", {"plan": PLAN}),
    ]
    await ask_form(cli, "form")
    for request, tool, given in asks:
        await cli.ask(request, given, tool=tool)
    for number, request in enumerate(["form", *(one[0] for one in asks)], 1):
        await expect(app.decision).to_contain_text(f"{number} of {len(asks) + 1}")
        assert await app.decision.evaluate(GEOMETRY) == IN_REACH, request
        if request in ("short", "long"):  # `test_accessibility` has the others.
            await report.look(app, request)
        await app.decision.get_by_role("button", name="Next").tap()
    await app.decision.get_by_role("button", name="Later").tap()
    await expect(bar(app)).to_be_visible()
    await report.look(app, "put down")
    report.check()


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_request_on_a_phone_can_be_minimized_to_read_and_opened_again_to_answer(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn(phone=True)
    await cli.say("I need to look at the folder first.")
    await cli.ask("a", {"command": "ls -la"})
    await expect(app.decision).to_be_focused()
    await app.decision.get_by_role("button", name="Later").tap()
    await expect(app.decision).to_have_count(0)
    await expect(bar(app)).to_be_focused()
    await expect(bar(app)).to_contain_text("Bash needs your approval")
    await expect(bar(app)).to_contain_text("ls -la")
    for key in ("a", "d", "s", "Escape"):  # Nobody answers what they do not see.
        await app.page.keyboard.press(key)
    await app.composer.tap()  # Nothing is in the way of the rest of the page.
    await expect(app.composer).to_be_focused()
    await bar(app).tap()
    await expect(app.decision).to_be_visible()
    await app.decision.get_by_role("button", name="Deny with reason…").tap()
    await app.decision.get_by_role("textbox").fill("Not yet.")
    await draw(app, 20)
    await expect(app.decision.get_by_role("textbox")).to_have_value("Not yet.")
    await draw(app, 200)
    await expect(bar(app)).to_be_focused()
    await app.page.keyboard.press("Enter")
    await expect(app.decision.get_by_role("textbox")).to_have_value("Not yet.")
    await app.decision.get_by_role("button", name="Deny", exact=True).tap()
    await app.end_undo()
    assert (await cli.answer("a"))["message"] == "Not yet."
    await expect(bar(app)).to_have_count(0)
    assert len(cli.answers) == 1


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_hand_that_lifts_it_or_comes_too_early_answers_nothing(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn(phone=True)
    page = app.page
    await page.evaluate(HOLD)
    await cli.ask("a", {"command": "ls"})
    stop = app.decision.get_by_role("button", name="Deny and stop")
    box = await stop.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.touchscreen.tap(*at)  # Meant for what the sheet has come to lie on.
    await page.evaluate("pass(500)")
    await expect(allow(app)).to_be_enabled()
    await app.decision.get_by_role("button", name="Later").tap()
    await page.evaluate("pass(5000)")  # Time that it lies there does not count.
    await bar(app).tap()
    await expect(allow(app)).to_be_disabled()
    await page.touchscreen.tap(*at)
    await page.evaluate("pass(499)")
    await expect(allow(app)).to_be_disabled()
    assert cli.answers == []
    await page.evaluate("pass(1)")
    await allow(app).tap()
    assert (await cli.answer("a"))["behavior"] == "allow"


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_long_command_is_not_armed_by_lying_there(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(phone=True)
    await cli.ask("a", {"command": LONG})
    await app.decision.get_by_role("button", name="Later").tap()
    await bar(app).tap()
    await app.page.evaluate("new Promise((done) => setTimeout(done, 700))")
    await expect(allow(app)).to_be_disabled()
    await app.decision.get_by_role("button", name="Jump to end").tap()
    await expect(allow(app)).to_be_enabled()
    await expect(app.decision.locator(".end")).to_be_in_viewport()
    await app.page.touchscreen.tap(195, 80)  # The conversation behind it.
    await expect(bar(app)).to_be_focused()


@pytest.mark.matrix(target="browser", cases=0)
async def test_several_come_one_at_a_time(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(phone=True)
    for number in range(3):
        await cli.ask(f"r{number}", {"command": f"echo {number}"})
    await expect(app.decision).to_contain_text("1 of 3")
    await app.decision.get_by_role("button", name="Next").tap()
    await expect(app.decision).to_contain_text("2 of 3")
    await expect(app.decision.get_by_label("Command")).to_have_text("echo 1")
    await app.decision.get_by_role("button", name="Later").tap()
    await expect(bar(app)).to_contain_text("and 2 more")
    await bar(app).tap()
    await cli.withdraw("r1")
    await expect(app.decision).to_contain_text("withdrawn by the agent")
    await expect(app.decision).to_contain_text("1 of 2")
    for number in (0, 2):
        await expect(app.decision.get_by_label("Command")).to_have_text(f"echo {number}")
        await expect(allow(app)).to_be_enabled()
        await allow(app).tap()
        await cli.answer(f"r{number}")
    await expect(app.decision).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_user_who_is_typing_is_not_interrupted(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(phone=True)
    await app.composer.fill("And then ")
    await cli.ask("a", {"command": "ls"})
    await expect(bar(app)).to_be_visible()
    await expect(app.composer).to_be_focused()
    await app.page.keyboard.type("add a test")
    await expect(app.composer).to_have_value("And then add a test")
    await cli.withdraw("a")
    await expect(bar(app)).to_have_count(0)
    await app.composer.fill("")
    await cli.ask("b", {"command": "ls"})
    await expect(app.decision).to_be_focused()
    await app.decide("Allow once")
    await cli.answer("b")
    await expect(app.composer).to_be_focused()  # Where it was before.


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_on_screen_keyboard_leaves_the_answers_in_sight(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(phone=True)
    await cli.ask("a", {"command": LONG})
    await app.decision.get_by_role("button", name="Deny with reason…").tap()
    await app.page.set_viewport_size({"width": 390, "height": 844 - 336})
    for name in ("Deny", "Deny and stop", "Back"):
        button = app.decision.get_by_role("button", name=name, exact=True)
        await expect(button).to_be_in_viewport(ratio=1)
    await expect(app.decision.get_by_role("textbox")).to_be_in_viewport(ratio=1)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_device_that_may_only_look_puts_it_down_with_escape(
    begin_turn: BeginTurn, visit: Visit
) -> None:
    app, cli = await begin_turn(phone=True)
    viewer = await visit(app.server, role="viewer", phone=True)
    await viewer.page.goto(app.page.url)
    await cli.ask("a", {"command": "ls"})
    await expect(viewer.decision).to_contain_text("View only: use a device with approval rights.")
    await viewer.page.keyboard.press("Escape")
    await expect(bar(viewer)).to_be_focused()
    await expect(app.decision).to_be_visible()
    assert cli.answers == []


async def test_U55_an_answer_is_undone_from_the_sheet_of_the_next_request(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn(phone=True)
    for number in range(2):
        await cli.ask(f"r{number}", {"command": f"echo {number}"})
    await expect(app.decision).to_contain_text("1 of 2")
    await app.page.goto(f"{app.server.base}/inbox")
    command = app.decision.get_by_label("Command")
    await expect(command).to_have_text("echo 0")
    allow = app.decision.get_by_role("button", name="Allow once", exact=True).first
    await expect(allow).to_be_enabled()
    await allow.tap()
    await expect(command).to_have_text("echo 1")
    await expect(app.decision).to_contain_text("Allowed: Bash")
    await app.decision.get_by_role("button", name="Undo").tap()
    await expect(command).to_have_text("echo 0")
    assert cli.answers == []
    # A denial in the session itself, too.
    await app.page.goto(f"{app.server.base}/s/{app.server.service.registry.sessions.live[0].id}")
    await expect(command).to_have_text("echo 0")
    deny = app.decision.get_by_role("button", name="Deny", exact=True).first
    await expect(deny).to_be_enabled()
    await deny.tap()
    await expect(command).to_have_text("echo 1")
    await app.decision.get_by_role("button", name="Undo").tap()
    await expect(app.decision).to_contain_text("1 of 2")
    assert cli.answers == []


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_inbox_goes_through_them_as_sheets(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn(phone=True)
    for number in range(2):
        await cli.ask(f"r{number}", {"command": f"echo {number}"})
    await expect(app.decision).to_contain_text("1 of 2")
    await app.page.goto(f"{app.server.base}/inbox")
    await expect(app.decision).to_contain_text("1 of 2")
    await app.decision.get_by_role("button", name="Later").tap()
    rows = app.page.get_by_role("main").get_by_role("listitem")
    await rows.nth(1).get_by_role("button").first.tap()
    await expect(app.decision.get_by_label("Command")).to_have_text("echo 1")
    await app.decide("Allow once")
    await cli.answer("r1")
    await expect(app.decision.get_by_label("Command")).to_have_text("echo 0")
    await app.decision.get_by_role("button", name="Later").tap()
    await rows.nth(0).get_by_role("button").first.tap()
    await app.decide("Allow once")
    assert (await cli.answer("r0"))["behavior"] == "allow"
