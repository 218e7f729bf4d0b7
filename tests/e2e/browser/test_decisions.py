"""What a person is asked, answers, stops and sends (docs/web.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import WAIT_FOR_GO, ask, named, question, say, scene, use

MAKING = scene(
    "make",
    named("made", use("Bash", command="./make.sh hello", description="Make a file")),
    {"say": "Made for: {{prompt}}.", "if": "made.ok"},
    {"say": "Refused: {{made.text}}", "unless": "made.ok"},
)


async def workshop(emulated: Emulated, *scenes: Any) -> AppServer:
    """A server whose project has a program that makes a file, and an agent that wants to run it."""
    server = await emulated([MAKING, *scenes])
    program = server.project / "make.sh"
    program.write_text('#!/bin/sh\necho "$*" > made.txt\n')
    program.chmod(0o755)
    return server


# Permissions


async def test_U13_a_permission_request_shows_tool_input_and_choices(
    emulated: Emulated, visit: Visit
) -> None:
    server = await workshop(emulated)
    app = await visit(server)
    await app.start("make")
    await expect(app.decision).to_contain_text("./make.sh hello")
    await expect(app.decision).to_contain_text("Bash")
    await expect(app.decision).to_contain_text(re.compile("rule|mode|approval"))
    session = app.decision.get_by_role("button", name="Allow for this session", exact=True)
    await expect(session).to_have_accessible_description(
        re.compile(r"Bash\(\./make\.sh.*until this session ends")
    )
    await app.decide("Allow for this session")
    await app.expect_words("Made for: make.")
    assert (server.project / "made.txt").read_text() == "hello\n"
    (server.project / "made.txt").unlink()
    await app.expect_rest()
    await app.say("make another")
    await app.expect_words("Made for: make another.")
    assert (server.project / "made.txt").read_text() == "hello\n"


async def test_U14_the_input_can_be_edited_before_it_is_allowed(
    emulated: Emulated, visit: Visit
) -> None:
    server = await workshop(emulated)
    app = await visit(server)
    await app.start("make")
    await app.decide("Modify…")
    await app.decision.get_by_label("Command").fill("./make.sh goodbye")
    await app.decide("Allow modified")
    await app.expect_words("Made for: make.")
    assert (server.project / "made.txt").read_text() == "goodbye\n"


async def test_U15_a_denial_takes_a_reason_and_may_stop_the_turn(
    emulated: Emulated, visit: Visit
) -> None:
    server = await workshop(emulated)
    app = await visit(server)
    await app.start("make")
    await app.decide("Deny with reason…")
    await app.decision.get_by_role("textbox").fill("Not on a Sunday.")
    await app.decide("Deny")
    await app.expect_words(re.compile("Refused: .*Not on a Sunday."))
    await app.expect_rest()
    await app.say("make")
    await app.decide("Deny and stop")
    await app.expect_rest()
    await expect(app.transcript.get_by_text("Refused:")).to_have_count(1)
    assert not (server.project / "made.txt").exists()


async def test_U16_a_withdrawn_request_closes_and_says_why(
    emulated: Emulated, visit: Visit
) -> None:
    server = await workshop(emulated)
    asked, other = await visit(server), await visit(server)
    await asked.start("make")
    await expect(asked.decision).to_be_visible()
    await other.page.goto(asked.page.url)
    await expect(other.decision).to_be_visible()
    await other.stop_button.click()
    await expect(asked.decision).to_have_count(0)
    note = asked.page.get_by_role("main").get_by_role("status").filter(has_text="Bash")
    await expect(note.first).to_contain_text(re.compile(r"stopped by \w"))
    assert not (server.project / "made.txt").exists()


@pytest.mark.matrix(target="browser", cases=1)
@pytest.mark.parametrize(
    ("mode", "answer", "makes"),
    [
        ("default", "Allow once", True),
        ("acceptEdits", None, True),
        ("plan", "Deny and stop", False),
        ("dontAsk", None, False),
    ],
)
async def test_U17_each_mode_says_what_it_asks_about(
    emulated: Emulated, visit: Visit, mode: str, answer: str | None, makes: bool
) -> None:
    write = named("made", use("Write", file_path="{{cwd}}/made.txt", content="x"))
    server = await emulated([scene("write", write, say("That was it."))])
    app = await visit(server)
    await app.start("write", Mode=mode)
    if answer is not None:
        await app.decide(answer)
    await app.expect_rest()
    card = app.card(re.compile("^Write made.txt"))
    await expect(card).to_contain_text("new" if makes else "denied")
    assert (server.project / "made.txt").exists() is makes


# Questions and plans


async def test_U18_questions_have_choices_previews_and_free_text(
    emulated: Emulated, visit: Visit
) -> None:
    plain = {"label": "Plain", "description": "no ornament", "preview": "+---+\n|   |\n+---+"}
    fancy = {"label": "Fancy", "description": "all of it", "preview": "~*~*~"}
    server = await emulated(
        [
            scene(
                "ask",
                named(
                    "told",
                    ask(
                        question("Which frame?", plain, fancy),
                        question("Any extras?", "Salt", "Pepper", several=True),
                    ),
                ),
                say("Heard: {{told.text}}"),
            )
        ]
    )
    app = await visit(server)
    await app.start("ask")
    form = app.decision
    await expect(form).to_contain_text("Which frame?")
    await form.get_by_role("radio", name=re.compile("^Fancy")).check()
    await expect(form.get_by_role("figure")).to_contain_text("~*~*~")
    await app.decide("Next")
    await form.get_by_role("checkbox", name=re.compile("^Salt")).check()
    await form.get_by_role("checkbox", name=re.compile("^Pepper")).check()
    await form.get_by_label("Other").fill("Thyme")
    await app.decide("Submit answers")
    await app.expect_words(re.compile('Heard: .*"Which frame\\?"="Fancy"'))
    await app.expect_words(re.compile('"Any extras\\?"="Salt, Pepper, Thyme"'))
    card = app.card(re.compile("Which frame|Question|Ask"))
    fancy_row = card.get_by_role("listitem").filter(has_text="Fancy")
    await expect(fancy_row.get_by_role("img", name="chosen")).to_be_visible()


async def test_U19_a_question_can_be_declined(emulated: Emulated, visit: Visit) -> None:
    server = await emulated(
        [
            scene(
                "ask",
                named("told", ask(question("Why?", "Because", "No reason"))),
                {"say": "Silence, then.", "unless": "told.ok"},
            )
        ]
    )
    app = await visit(server)
    await app.start("ask")
    await app.decide("Skip")
    await app.expect_words("Silence, then.")


async def test_U20_a_plan_is_approved_or_commented_on(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    await app.start("plan")
    await expect(app.decision.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
    await app.decision.get_by_role("button", name=re.compile("^Comment on line")).last.click()
    await app.decision.get_by_role("textbox", name=re.compile("^Comment on")).fill("And then?")
    await app.decide("Request changes with 1 comment")
    await app.expect_words("Plan rejected. Nothing was changed.")
    await expect(app.transcript).to_contain_text("And then?")
    await app.say("plan")
    await app.decide("Approve and auto-accept edits…")
    await app.decide("Confirm")
    await app.expect_words(re.compile("^Plan approved."))
    mode = app.page.get_by_role("button", name=re.compile("^Permission mode"))
    await expect(mode).to_contain_text("Accept edits")


# Stopping


async def test_U21_escape_acts_in_a_fixed_order(emulated: Emulated, visit: Visit) -> None:
    server = await workshop(
        emulated, scene("long", use("Bash", command=WAIT_FOR_GO), say("It went."))
    )
    app = await visit(server)
    await app.start("make")
    await expect(app.decision).to_be_visible()
    await app.composer.fill("half a thought")
    await app.composer.press("Escape")
    await expect(app.composer).to_have_value("")
    await expect(app.decision).to_be_visible()
    await app.composer.press("Escape")  # Never answers: it goes to the decision, and back.
    await expect(app.decision).to_be_focused()
    await app.page.keyboard.press("Escape")
    await expect(app.composer).to_be_focused()
    await app.decide("Deny")
    await app.expect_words(re.compile("^Refused:"))
    await app.expect_rest()
    process = server.process(app.session)
    await app.say("long")
    await app.decide("Allow once")
    await app.expect_state("Running Bash")
    await app.composer.fill("another thought")
    await app.composer.press("Escape")
    await expect(app.composer).to_have_value("")
    await app.expect_state("Running Bash")
    await app.composer.press("Escape")
    await app.expect_words("Stopped by you")
    await app.expect_rest()
    assert server.process(app.session) == process


async def test_U22_stop_interrupts_and_the_session_continues(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        [scene("long", say("Begun. "), {"wait": 60}, say("Never.")), scene(None, say("Here."))]
    )
    app = await visit(server)
    await app.start("long")
    await app.expect_state(re.compile("Thinking|Writing"))
    process = server.process(app.session)
    await app.stop_button.click()
    await app.expect_words("Stopped by you")
    await app.expect_rest()
    await app.say("still there?")
    await app.expect_words("Here.")
    assert server.process(app.session) == process


async def test_U23_control_c_only_copies(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene("speak", say("Copy these words.")), scene(None, say("Alive."))])
    app = await visit(server)
    await app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await app.start("speak")
    await app.expect_words("Copy these words.")
    await app.expect_rest()
    process = server.process(app.session)
    await app.transcript.get_by_text("Copy these words.").click(click_count=3)
    await app.page.keyboard.press("Control+c")
    copied = await app.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == "Copy these words."
    await app.say("and now?")
    await app.expect_words("Alive.")
    assert server.process(app.session) == process


# Writing


async def test_U24_slash_commands_are_completed_with_descriptions(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("Hello."))])
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.composer.press_sequentially("/comp")
    offered = app.page.get_by_role("listbox", name="Commands").get_by_role("option")
    await expect(offered.first).to_contain_text("/compact")
    await expect(offered.first).to_contain_text("<optional custom summarization instructions>")
    await app.composer.press("Enter")
    await expect(app.composer).to_have_value("/compact ")
    await app.composer.press("Enter")
    await app.expect_words(re.compile("^Context compacted"))


TWELVE = (
    "keybindings-help", "debug", "commit-message", "compact", "context", "cost", "init",
    "pr-comments", "release-notes", "review", "security-review", "insights",
)  # fmt: skip


async def test_U25_every_slash_command_is_offered_and_answered(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("Asked: {{prompt}}"))], version="2.1.38")
    commands = server.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    for name in ("keybindings-help", "commit-message"):
        (commands / f"{name}.md").write_text(f"Tell me about {name}.")
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("Asked: hello")
    for name in TWELVE:
        await app.composer.fill("")
        await app.composer.press_sequentially(f"/{name}")
        offered = app.page.get_by_role("listbox", name="Commands").get_by_role("option")
        await expect(offered.filter(has_text=f"/{name}").first).to_be_visible()
    for name, words in (("cost", "Total cost"), ("context", "Context Usage")):
        await app.say(f"/{name}")
        output = app.card(re.compile("^Output"))
        await expect(output.filter(has_text=words).last).to_be_visible()
    await app.say("/review")
    await app.expect_words("Asked: /review")
    await app.say("/commit-message")
    await app.expect_words("Asked: Tell me about commit-message.")
    await app.say("/compact")
    await app.expect_words(re.compile("^Context compacted"))


async def test_U26_images_and_files_are_picked_pasted_and_dropped(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("Thank you for: {{prompt}}"))])
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("Thank you for: hello")
    attached = app.page.get_by_role("list", name="Attachments").get_by_role("listitem")
    picked = {"name": "picked.png", "mimeType": "image/png", "buffer": PICTURE}
    await app.page.locator("input[type=file]").set_input_files(picked)  # type: ignore[arg-type]
    await expect(attached.filter(has_text="picked.png")).to_be_visible()
    for kind in ("paste", "drop"):
        await app.composer.evaluate(GIVE_FILE, [kind, f"{kind}.txt", "some words"])
        await expect(attached.filter(has_text=f"{kind}.txt")).to_be_visible()
    await expect(attached).to_have_count(3)
    await app.page.get_by_role("button", name="Remove paste.txt").click()
    await expect(attached).to_have_count(2)
    await expect(attached.filter(has_text="sending")).to_have_count(0)
    await app.say("what are these?")
    await app.expect_words("Thank you for: what are these?")
    prompt = app.transcript.get_by_role("article", name="You").last
    await expect(prompt.get_by_role("img")).to_be_visible()
    await expect(prompt).to_contain_text("drop.txt")


GIVE_FILE = """(area, [kind, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: "text/plain" }));
    const event = kind === "paste"
        ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
        : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    area.dispatchEvent(event);
}"""
"""Paste or drop a file where a person writes."""
