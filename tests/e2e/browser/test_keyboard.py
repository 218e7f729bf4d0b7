"""Every flow with the keyboard alone: nothing is clicked, and the focus is never lost."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import WebSocketRoute, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.keyboard import Keys
from tests.e2e.browser.scripts import ask, named, question, say, scene, use
from tests.waiting import until

HELLO = scene(None, say("You said: {{prompt}}"))
MAKING = scene(
    "make",
    named("made", use("Bash", command="./make.sh hello")),
    {"say": "Made for: {{prompt}}.", "if": "made.ok"},
    {"say": "Refused: {{made.text}}", "unless": "made.ok"},
)
LONG = scene("long", say("Words that came. "), {"wait": 60}, say("Never."))


async def workshop(emulated: Emulated, *scenes: Any) -> AppServer:
    """A server whose project has a program that makes a file."""
    server = await emulated([MAKING, LONG, *scenes, HELLO])
    program = server.project / "make.sh"
    program.write_text('#!/bin/sh\necho "$*" > made.txt\n')
    program.chmod(0o755)
    return server


async def begin(app: AppPage, prompt: str) -> Keys:
    """A new session with its first message, by keys."""
    keys = Keys(app)
    await app.leave_field()
    await keys.press("n")
    dialog = app.page.get_by_role("dialog", name="New session")
    await expect(dialog.get_by_label(re.compile("^First message"))).to_be_focused()
    await keys.write(prompt)
    await keys.press("Control+Enter")
    await expect(app.composer).to_be_visible()
    return keys


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_session_is_begun_and_spoken_to(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "hello")
    await app.expect_words("You said: hello")
    await keys.held()
    await keys.to(app.composer)
    await keys.write("one line")
    await keys.press("Shift+Enter")
    await keys.write("and another")
    await keys.press("Enter")
    await app.expect_words(re.compile("You said: one line"))
    await expect(app.composer).to_be_focused()
    await keys.press("ArrowUp")
    await expect(app.composer).to_have_value("one line\nand another")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_new_session_waits_for_a_list_that_comes_late(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await workshop(emulated), role=None)
    late: list[str | bytes] = []
    is_late = True
    sockets: list[WebSocketRoute] = []

    def connect(page: WebSocketRoute) -> None:
        sockets.append(page)

        def deliver(message: str | bytes) -> None:
            if is_late and json.loads(message).get("document") == "lobby":
                late.append(message)
            else:
                page.send(message)

        page.connect_to_server().on_message(deliver)

    await app.page.route_web_socket(re.compile("^ws"), connect)
    await app.sign_in()
    keys = Keys(app)
    await keys.press("n")
    dialog = app.page.get_by_role("dialog", name="New session")
    await expect(dialog.get_by_label(re.compile("^First message"))).to_be_focused()
    await keys.write("hello")
    await keys.press("Control+Enter")  # The page does not know any folder yet.
    await expect(dialog.get_by_role("button", name="Starting…")).to_be_visible()
    is_late = False
    for message in late:
        sockets[-1].send(message)
    await app.expect_words("You said: hello")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_permission_is_given_changed_and_refused(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    made = app.server.project / "made.txt"
    keys = await begin(app, "make")
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled()
    await keys.to(allow)
    await keys.press("a")
    await app.expect_words("Made for: make.")
    assert made.read_text() == "hello\n"
    await keys.held()
    await keys.to(app.composer)
    await keys.write("make another")
    await keys.press("Enter")
    await expect(allow).to_be_enabled()
    await expect(app.decision).to_be_focused()
    await keys.to(allow)
    await keys.press("e")
    field = app.decision.get_by_role("textbox", name="Command")
    await expect(field).to_be_focused()
    await keys.press("Control+a")
    await keys.write("./make.sh goodbye")
    await expect(app.decision.get_by_role("button", name="Allow modified")).to_be_enabled()
    await keys.press("Control+Enter")
    await app.expect_words("Made for: make another.")
    assert made.read_text() == "goodbye\n"
    await keys.held()
    await keys.to(app.composer)
    await keys.write("make")
    await keys.press("Enter")
    await expect(allow).to_be_enabled()
    await expect(app.decision).to_be_focused()
    await keys.to(allow)
    await keys.press("r")
    await expect(app.decision.get_by_role("textbox")).to_be_focused()
    await keys.write("Not today.")
    await keys.press("Enter", "d")  # The second key ends the undo period.
    await app.expect_words(re.compile("Refused: .*Not today."))
    await keys.held()


@pytest.mark.matrix(target="browser", cases=0)
async def test_questions_are_answered_by_keyboard(emulated: Emulated, visit: Visit) -> None:
    server = await workshop(
        emulated,
        scene(
            "ask",
            named(
                "told",
                ask(
                    question("Which one?", "Red", "Blue"),
                    question("Which ones?", "Salt", "Pepper", "Thyme", several=True),
                ),
            ),
            say("Heard: {{told.text}}"),
        ),
    )
    app = await visit(server)
    keys = await begin(app, "ask")
    await expect(app.decision).to_contain_text("Which one?")
    await keys.to(app.decision.get_by_role("radio").first)
    await keys.press("2", "Enter")
    await expect(app.decision).to_contain_text("Which ones?")
    await keys.to(app.decision.get_by_role("checkbox").first)
    await keys.press("1", "3", "Enter")
    await app.expect_words(re.compile('"Which one\\?"="Blue"'))
    await app.expect_words(re.compile('"Which ones\\?"="Salt, Thyme"'))
    await keys.held()


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_plan_is_sent_back_with_a_comment_and_approved(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    keys = await begin(app, "plan")
    await expect(app.decision).to_contain_text("Approve this plan?")
    comment = app.decision.get_by_role("button", name=re.compile("^Comment on line")).first
    await keys.to(comment)
    await keys.press("Enter")
    await expect(
        app.decision.get_by_role("textbox", name=re.compile("^Comment on"))
    ).to_be_focused()
    await keys.write("Which way round?")
    await keys.go("Request changes with 1 comment")
    await app.expect_words("Plan rejected. Nothing was changed.")
    await keys.held()
    await keys.to(app.composer)
    await keys.write("plan")
    await keys.press("Enter")
    approve = app.decision.get_by_role("button", name="Approve", exact=True)
    await expect(approve).to_be_enabled()
    await expect(app.decision).to_be_focused()
    await keys.to(approve)
    await keys.press("Enter")
    await app.expect_words(re.compile("^Plan approved."))
    await keys.held()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_inbox_is_worked_off(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    keys = Keys(app)
    for _ in range(2):
        await app.start("make")
        await expect(app.decision).to_be_visible()
        await app.page.goto(app.server.base)
        await expect(app.page.get_by_role("button", name="Open inbox")).to_be_visible()
    await expect(app.page).to_have_title(re.compile(r"^\(2\)"))
    await app.leave_field()
    await keys.press("i")
    rows = app.page.get_by_role("main").locator("ol > li")
    await expect(rows).to_have_count(2)
    await keys.press("j")
    await expect(rows.nth(1).get_by_role("dialog")).to_be_visible()
    await keys.press("k")
    await expect(rows.nth(0).get_by_role("dialog")).to_be_visible()
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled()
    await keys.press("a")
    await expect(rows).to_have_count(1)
    await expect(allow).to_be_enabled()
    await keys.press("r")
    await keys.write("Once is enough.")
    await keys.press("Enter")
    await expect(rows).to_have_count(0)
    # Answers can be taken back for some seconds; then the sessions go on and finish.
    finished = app.page.get_by_role("region", name="Finished")
    await expect(finished.get_by_role("link")).to_have_count(2)
    assert (app.server.project / "made.txt").exists()


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_late_list_does_not_close_the_form_of_the_next_request(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await workshop(emulated), role=None)
    late: list[str | bytes] | None = None

    def connect(page: WebSocketRoute) -> None:
        upstream = page.connect_to_server()

        def deliver(message: str | bytes) -> None:
            if late is not None and json.loads(message).get("document") == "lobby":
                late.append(message)
            else:
                page.send(message)

        upstream.on_message(deliver)

    await app.page.route_web_socket(re.compile("^ws"), connect)
    await app.sign_in()
    keys = Keys(app)
    for prompt in ("make one", "make two"):
        await app.start(prompt)
        await expect(app.decision).to_be_visible()
    await app.page.goto(f"{app.server.base}/inbox")
    rows = app.page.get_by_role("main").locator("ol > li")
    await expect(rows).to_have_count(2)
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled()
    late = []
    await keys.press("a")
    await expect(rows).to_have_count(1)
    await expect(allow).to_be_enabled()
    await keys.press("r")
    await keys.write("Once is ")
    # The server's answer has come by now: the list still shows the request that was answered.
    made = app.server.project / "made.txt"
    await until(made.exists)
    assert late
    await keys.write("enough.")
    await expect(rows).to_have_count(1)
    await keys.press("Enter")
    await expect(rows).to_have_count(0)


async def test_the_palette_finds_sessions_and_actions(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    await begin(app, "apples")
    await app.expect_words("You said: apples")
    first = app.page.url
    keys = Keys(app)
    field = app.page.get_by_role("combobox", name="Find anything")
    await keys.press("Control+k")
    await expect(field).to_be_focused()
    await keys.write("inbox")
    await keys.press("Enter")
    await expect(app.page.get_by_role("heading", name="Inbox")).to_be_visible()
    await keys.press("Control+k")
    await expect(field).to_be_focused()
    await keys.write("apples")
    await keys.press("ArrowDown", "ArrowUp", "Enter")
    await expect(app.page).to_have_url(first)
    await keys.press("Control+k")
    await expect(field).to_be_focused()
    await keys.press("Escape")
    await expect(app.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
async def test_model_and_mode_are_switched(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    main = app.page.get_by_role("main")
    for name, wanted, shown in (
        ("Model", "Haiku", "haiku"),
        ("Permission mode", "Plan", "Plan"),
        ("Effort", "low", "low"),
    ):
        switch = main.get_by_role("button", name=re.compile(f"^{name}:"))
        await keys.to(switch)
        await keys.press("Enter")
        row = app.page.get_by_role("menuitemradio", name=re.compile(f"^{wanted}"))
        await keys.to(row, "ArrowDown")
        await keys.press("Enter")
        await expect(switch).to_contain_text(shown)
        await expect(switch).to_be_focused()


@pytest.mark.matrix(target="browser", cases=0)
async def test_escape_in_a_menu_closes_the_menu_and_nothing_else(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "make")
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled()
    more = app.page.get_by_role("main").get_by_role("button", name="More", exact=True)
    await keys.to(more)
    await keys.press("Enter")
    await expect(app.page.get_by_role("menu", name="More", exact=True)).to_be_visible()
    await keys.press("Escape")
    await expect(app.page.get_by_role("menu", name="More", exact=True)).to_be_hidden()
    await expect(more).to_be_focused()
    await expect(allow).to_be_enabled()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_queue_is_changed_ordered_and_taken_back(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "long")
    await app.expect_words("Words that came.")
    await keys.to(app.composer)
    rows = app.page.get_by_role("region", name="Queue").get_by_role("listitem")
    for number, text in enumerate(("first", "second", "third"), 1):
        await keys.write(text)
        await keys.press("Enter")
        await expect(rows).to_have_count(number)
    await keys.to(rows.nth(1).get_by_role("button", name=re.compile("^Change")), "Shift+Tab")
    await keys.press("Enter")
    await expect(app.page.get_by_role("textbox", name="Queued message")).to_be_focused()
    await keys.write(" thought")
    await keys.press("Enter")
    await expect(rows.nth(1)).to_contain_text("second thought")
    await keys.held()
    await keys.to(rows.nth(1).get_by_role("button", name=re.compile("^Move up")))
    await keys.press("Enter")
    await expect(rows.nth(0)).to_contain_text("second thought")
    await keys.held()
    await keys.to(rows.nth(2).get_by_role("button", name="Remove"))
    await keys.press("Enter")
    await expect(rows).to_have_count(2)
    await keys.held()
    await keys.to(app.composer)
    await keys.press("Escape")
    await app.expect_words("You said: second thought")
    await app.expect_words("You said: first")
    await expect(app.transcript.get_by_text("You said: third")).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_session_is_forked_by_keyboard(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    first = app.page.url
    await keys.to(app.page.get_by_role("main").get_by_role("button", name="More", exact=True))
    await keys.press("Enter")
    await keys.to(app.page.get_by_role("menuitem", name=re.compile("^Fork")), "ArrowDown")
    await keys.press("Enter")
    dialog = app.page.get_by_role("dialog", name="Fork session")
    await keys.to(dialog.get_by_role("button", name=re.compile("^Fork")))
    await keys.press("Enter")
    await expect(app.page).not_to_have_url(first)
    await app.expect_words("You said: hello")
    await keys.held()


@pytest.mark.matrix(target="browser", cases=0)
async def test_all_conversations_are_searched_by_keyboard(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    await begin(app, "pomegranate")
    await app.expect_words("You said: pomegranate")
    session = app.session
    await app.page.goto(app.server.base)
    keys = Keys(app)
    await expect(app.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await app.leave_field()
    await keys.press("/")
    await expect(app.page.get_by_role("combobox", name=re.compile("[Ss]earch"))).to_be_focused()
    await keys.write("pomegranate")
    hits = app.page.get_by_role("main").get_by_role("listbox").get_by_role("option")
    await expect(hits.first).to_be_visible()
    await keys.press("ArrowDown", "ArrowUp", "Enter")
    await expect(app.page).to_have_url(re.compile(session))
    await app.expect_words("You said: pomegranate")


@pytest.mark.matrix(target="browser", cases=0)
async def test_escape_stops_the_turn(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await workshop(emulated))
    keys = await begin(app, "long")
    await app.expect_words("Words that came.")
    await keys.to(app.composer)
    await keys.write("half a thought")
    await keys.press("Escape")
    await expect(app.composer).to_have_value("")
    await keys.press("Escape")
    await app.expect_words("Stopped by you")
    await app.expect_rest()
    await expect(app.composer).to_be_focused()


@pytest.mark.matrix(target="browser", cases=0)
async def test_the_conversation_is_read_and_its_cards_are_opened(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await workshop(emulated, scene("look", use("Bash", command="ls"))))
    keys = await begin(app, "look")
    await app.expect_rest()
    card = app.transcript.get_by_role("button", name=re.compile("^Bash ls"))
    await keys.to(app.transcript)
    inside = app.page.get_by_role("button", name=re.compile("^Bash ls"))
    await keys.to(app.transcript.locator("[data-row]", has=inside), "ArrowUp")
    await keys.press("Enter")
    await expect(card).to_have_attribute("aria-expanded", "true")
    await expect(app.card("Bash ls")).to_contain_text("make.sh")
