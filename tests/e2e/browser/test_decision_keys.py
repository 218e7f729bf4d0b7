"""Decisions by keyboard: no single key approves something wide or denies without an undo."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess

RULE: dict[str, Any] = {
    "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "git push:*"}],
    "behavior": "allow", "destination": "session",
}  # fmt: skip
EDITS: dict[str, Any] = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
QUESTION = {
    "questions": [
        {
            "question": "Which one?",
            "header": "One",
            "multiSelect": False,
            "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}],
        }
    ]
}
FILE = "".join(f"line {number}\n" for number in range(1, 31))


def button(app: AppPage, name: str) -> Locator:
    return app.decision.get_by_role("button", name=name, exact=True)


async def armed(app: AppPage, name: str = "Allow once") -> None:
    await expect(button(app, name)).to_be_enabled()


async def push(cli: FakeCliProcess, request: str, **more: Any) -> None:
    await cli.ask(request, {"command": "git push"}, permission_suggestions=[RULE], **more)


@pytest.mark.matrix(target="browser", cases=0)
async def test_U21_escape_never_answers_and_moves_between_composer_and_decision(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await app.composer.fill("half a thought")
    await push(cli, "a")
    await armed(app)
    await expect(app.composer).to_be_focused()  # A user who is typing keeps the focus.
    await app.composer.press("Escape")
    await expect(app.composer).to_have_value("")
    await app.composer.press("Escape")
    await expect(app.decision).to_be_focused()
    for _ in range(3):
        await app.page.keyboard.press("Escape")
    await expect(app.decision).to_be_visible()
    assert cli.answers == []
    await app.composer.focus()
    await app.page.keyboard.press("Alt+a")
    assert (await cli.answer("a"))["behavior"] == "allow"
    await expect(app.composer).to_be_focused()  # Not the whole conversation, in a frame.


ESCAPE_AT_ONCE = """() => addEventListener("focusin", ({ target }) => {
    const key = { key: "Escape", bubbles: true, cancelable: true };
    if (target.matches("[data-ask]")) queueMicrotask(() => target.dispatchEvent(new KeyboardEvent("keydown", key)));
})"""
"""Presses Escape in a decision in the moment in which it gets the focus."""


@pytest.mark.matrix(target="browser", cases=0)
async def test_U21_escape_in_the_moment_in_which_a_decision_takes_the_focus_leaves_it_there(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate(ESCAPE_AT_ONCE)
    await push(cli, "a")
    await expect(app.decision).to_be_focused()
    await armed(app)
    await app.page.keyboard.press("2")  # The user meant to go there from the composer.
    assert (await cli.answer("a"))["behavior"] == "allow"
    await expect(app.composer).to_have_value("")


FRAMES = """() => {
    window.frames_seen = [];
    new MutationObserver((changes) => {
        for (const { addedNodes } of changes)
            for (const node of addedNodes)
                if (node.dataset?.folding !== undefined)
                    window.frames_seen.push([node.getAttribute("aria-hidden"), getComputedStyle(node).pointerEvents]);
    }).observe(document.body, { childList: true });
}"""
"""Records the frames of decisions that close."""


async def test_U83_a_decision_that_closes_shrinks_into_its_card(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await app.page.evaluate(FRAMES)
    seen = "window.frames_seen"
    await push(cli, "a")
    await armed(app)
    await app.decide("Allow once")
    await expect(app.decision).to_have_count(0)
    assert await app.page.evaluate(seen) == []  # The page prefers reduced motion.
    await app.page.emulate_media(reduced_motion="no-preference")
    for request, answer in (("b", "Allow once"), ("c", "Deny")):
        await push(cli, request)
        await armed(app)
        await app.page.evaluate(f"{seen} = []")
        await app.decide(answer)
        await cli.answer(request)
        await app.page.wait_for_function(f"() => {seen}.length > 0")
        assert (await app.page.evaluate(seen))[0] == ["true", "none"]
        await expect(app.page.locator("[data-folding]")).to_have_count(0)


async def test_U90_every_answer_takes_at_most_two_keys_from_an_empty_composer(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    keys = app.page.keyboard
    for request, pressed, behavior in (
        ("approve", ("Alt+a",), "allow"),
        ("deny", ("Alt+d", "Alt+d"), "deny"),
        ("always", ("Escape", "2"), "allow"),
    ):
        await push(cli, request)
        await armed(app)
        await app.composer.focus()
        for at, key in enumerate(pressed):
            await keys.press(key)
            if pressed == ("Alt+d", "Alt+d") and at == 0:  # The second one only ends the undo.
                await expect(app.held.get_by_role("button", name="Deny now")).to_be_enabled()
        answer = await cli.answer(request)
        assert answer["behavior"] == behavior
        assert bool(answer.get("updatedPermissions")) == (request == "always")
    await cli.ask("edit", {"command": "git pull"})
    await armed(app)
    await app.composer.focus()
    await keys.press("Escape")
    await keys.press("e")
    await expect(app.decision.get_by_role("textbox", name="Command")).to_be_visible()
    await keys.press("Escape")
    await keys.press("Escape")
    await app.decide("Allow once")
    await cli.ask("question", QUESTION, tool="AskUserQuestion")
    await expect(app.decision.get_by_role("radio", name="B")).to_be_visible()
    await expect(app.decision).to_be_focused()  # It takes the focus from an empty, idle composer.
    await keys.press("2")
    await keys.press("Enter")
    assert (await cli.answer("question"))["updatedInput"]["answers"] == {"Which one?": "B"}


HINTS = """() => [...document.querySelectorAll("kbd")]
    .filter((key) => key.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((key) => [key.innerText.trim(), key.parentElement.innerText.replace(key.innerText, "").trim()])"""


async def test_U84_no_two_hints_on_the_screen_name_the_same_key(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.ask(
        "a", {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}, tool="Edit",
        permission_suggestions=[EDITS],
    )  # fmt: skip
    await armed(app)
    hints: list[list[str]] = await app.page.evaluate(HINTS)
    keys = [key for key, _ in hints]
    assert {"A", "D", "E"} <= set(keys)
    assert len(set(keys)) == len(keys), hints
    # The list of shortcuts has all of them.
    await app.page.keyboard.press("?")
    dialog = app.page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(dialog).to_be_visible()
    listed = set(await dialog.locator("kbd").all_inner_texts())
    assert {key.upper() for key in keys if len(key) == 1} <= {key.upper() for key in listed}


@pytest.mark.matrix(target="browser", cases=0)
async def test_U59_a_denial_by_key_can_be_undone_and_confirmed(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await push(cli, "a")
    await expect(app.decision).to_be_focused()  # The composer was empty and idle.
    await armed(app)
    await app.page.keyboard.press("d")
    await expect(app.held).to_contain_text("git push")
    await expect(app.decision).to_have_count(0)
    await app.page.reload()  # The server holds it, not the page.
    await app.held.get_by_role("button", name="Undo").click()
    await armed(app)
    assert cli.answers == []
    await app.composer.fill("words that stay")
    await app.page.keyboard.press("Alt+d")
    await expect(app.held).to_be_visible()
    await app.page.keyboard.press("Alt+z")
    await armed(app)
    await app.page.keyboard.press("Alt+d")
    await expect(app.held).to_be_visible()
    await app.page.keyboard.press("Alt+d")
    assert (await cli.answer("a"))["behavior"] == "deny"
    await expect(app.composer).to_have_value("words that stay")
    await expect(app.held).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
@pytest.mark.parametrize(
    ("tool", "input", "button"),
    [
        ("Bash", {"command": "git push"}, "Deny"),
        ("Bash", {"command": "git push"}, "Deny and stop"),
        ("ExitPlanMode", {"plan": "# Plan"}, "Reject"),
        ("AskUserQuestion", QUESTION, "Skip"),
    ],
)
async def test_U59_a_click_on_a_denial_can_be_undone(
    begin_turn: BeginTurn, tool: str, input: dict[str, Any], button: str
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", input, tool=tool)
    wanted = app.decision.get_by_role("button", name=button, exact=True)
    await expect(wanted).to_be_enabled()
    await wanted.dblclick()  # The second click must not end the undo period.
    await expect(app.held).to_be_visible()
    await app.held.get_by_role("button", name="Undo").click()
    await expect(wanted).to_be_enabled()
    assert cli.answers == []
    await app.decide(button)
    assert (await cli.answer("a"))["behavior"] == "deny"


async def test_U59_a_held_denial_is_written_by_itself(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await push(cli, "a")
    await armed(app)
    await app.page.keyboard.press("Alt+d")
    await expect(app.held).to_be_visible()
    await app.page.goto("about:blank")  # Nobody is there any more.
    assert (await cli.answer("a"))["behavior"] == "deny"


async def test_U60_always_deny_denies_this_call_too(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await push(cli, "a")
    await armed(app)
    await app.decide("Always deny…")
    choice = app.decision.get_by_role("button", name="Deny git push … in this session")
    await expect(choice).to_have_accessible_description(re.compile("for the rest of this session"))
    await choice.click()
    await expect(app.held).to_contain_text("Always denied")
    assert cli.answers == []
    await app.end_undo()
    assert (await cli.answer("a"))["behavior"] == "deny"
    await push(cli, "b")
    assert (await cli.answer("b"))["behavior"] == "deny"


@pytest.mark.matrix(target="browser", cases=0)
async def test_U61_one_letter_means_one_thing(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.ask("p", {"plan": "# Plan\n\n1. Go"}, tool="ExitPlanMode")
    await armed(app, "Approve")
    await expect(app.decision).to_be_focused()
    for key in ("e", "Escape"):
        await app.page.keyboard.press(key)
    assert cli.answers == []
    await app.decision.focus()
    await app.page.keyboard.press("3")
    await expect(app.decision).to_contain_text("Accept all edits in this session?")
    await app.page.keyboard.press("Escape")
    await expect(button(app, "Approve")).to_be_visible()
    assert cli.answers == []
    await app.page.keyboard.press("r")
    await app.page.keyboard.type("Go where?")
    await app.page.keyboard.press("Enter")
    await expect(app.held).to_contain_text("Plan rejected")
    await app.end_undo()
    assert "Go where?" in (await cli.answer("p"))["message"]


async def test_U62_a_wide_choice_takes_two_keys_and_a_narrow_one_takes_one(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "git push"}, permission_suggestions=[EDITS, RULE])
    await armed(app)
    await expect(app.decision).to_be_focused()
    await app.page.keyboard.press("3")
    await expect(app.decision).to_contain_text("Accept all edits in this session?")
    assert cli.answers == []
    await app.page.keyboard.press("a")
    assert (await cli.answer("a"))["updatedPermissions"] == [EDITS]
    await push(cli, "b")
    await armed(app)
    await expect(app.decision).to_be_focused()
    await app.page.keyboard.press("2")
    (rule,) = (await cli.answer("b"))["updatedPermissions"]
    assert rule["rules"] == [{"toolName": "Bash", "ruleContent": "git push"}]


async def test_U63_single_letter_shortcuts_can_be_turned_off(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    session = app.page.url
    await app.page.goto(f"{app.server.base}/keys")
    switch = app.page.get_by_role("switch", name="Single-letter shortcuts")
    await switch.click()
    await expect(switch).to_have_attribute("aria-checked", "false")
    for words in ("Always deny…", "Deny and stop the turn", "Undo an answer (from anywhere)"):
        await expect(app.page.get_by_text(words, exact=True)).to_be_visible()
    await app.page.goto(session)
    await push(cli, "a")
    await armed(app)
    await app.decision.focus()
    for key in ("a", "d", "s", "2", "n"):
        await app.page.keyboard.press(key)
    await expect(app.page.get_by_role("dialog", name="New session")).to_have_count(0)
    assert cli.answers == []
    await expect(button(app, "Allow once").locator("kbd")).to_have_text("Alt+A")
    await app.page.keyboard.press("Alt+a")
    assert (await cli.answer("a"))["behavior"] == "allow"


async def test_U64_an_edit_shows_its_place_in_the_file_and_no_raw_fields(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    path = f"{app.server.project}/a.py"
    file = {"filePath": path, "content": FILE, "numLines": 30, "startLine": 1, "totalLines": 30}
    await cli.used("Read", {"file_path": path}, FILE, {"type": "text", "file": file})
    edit = {"file_path": path, "old_string": "line 20", "new_string": "line twenty"}
    await cli.ask("a", {**edit, "replace_all": False}, tool="Edit")
    await armed(app)
    words = await app.decision.inner_text()
    assert not any(raw in words for raw in ("replace_all", "Replace_all", "old_string", "false"))
    change = app.decision.get_by_role("group", name="Change").first
    numbers = await change.locator("i").all_inner_texts()
    assert numbers[:2] == ["17", "17"]
    assert "20" in numbers
    hints = await app.page.locator("kbd:visible").all_inner_texts()
    letters = [one for one in hints if len(one) == 1 and one.isalpha()]
    assert sorted(letters) == sorted(set(letters)), json.dumps(hints)
