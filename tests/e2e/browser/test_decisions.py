"""What a person is asked, answers, stops and sends (docs/web.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.house import House
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import WAIT_FOR_GO, ask, named, question, say, scene, use

MAKING = scene(
    "make",
    named("made", use("Bash", command="./make.sh hello", description="Make a file")),
    {"say": "Made for: {{prompt}}.", "if": "made.ok"},
    {"say": "Refused: {{made.text}}", "unless": "made.ok"},
)


async def workshop(emulated: Emulated, *scenes: Any) -> House:
    """A server whose project has a program that makes a file, and an agent that wants to run it."""
    house = await emulated([MAKING, *scenes])
    program = house.project / "make.sh"
    program.write_text('#!/bin/sh\necho "$*" > made.txt\n')
    program.chmod(0o755)
    return house


# Permissions


async def test_U13_a_permission_request_shows_tool_input_and_choices(
    emulated: Emulated, visit: Visit
) -> None:
    house = await workshop(emulated)
    desk = await visit(house)
    await desk.start("make")
    await expect(desk.decision).to_contain_text("./make.sh hello")
    await expect(desk.decision).to_contain_text("Bash")
    await expect(desk.decision).to_contain_text(re.compile("rule|mode|approval"))
    session = desk.decision.get_by_role("button", name="Allow for this session", exact=True)
    await expect(session).to_have_accessible_description(
        re.compile(r"Bash\(\./make\.sh.*until this session ends")
    )
    await desk.decide("Allow for this session")
    await desk.expect_words("Made for: make.")
    assert (house.project / "made.txt").read_text() == "hello\n"
    (house.project / "made.txt").unlink()
    await desk.expect_rest()
    await desk.say("make another")
    await desk.expect_words("Made for: make another.")
    assert (house.project / "made.txt").read_text() == "hello\n"


async def test_U14_the_input_can_be_edited_before_it_is_allowed(
    emulated: Emulated, visit: Visit
) -> None:
    house = await workshop(emulated)
    desk = await visit(house)
    await desk.start("make")
    await desk.decide("Modify…")
    await desk.decision.get_by_label("Command").fill("./make.sh goodbye")
    await desk.decide("Allow modified")
    await desk.expect_words("Made for: make.")
    assert (house.project / "made.txt").read_text() == "goodbye\n"


async def test_U15_a_denial_takes_a_reason_and_may_stop_the_turn(
    emulated: Emulated, visit: Visit
) -> None:
    house = await workshop(emulated)
    desk = await visit(house)
    await desk.start("make")
    await desk.decide("Deny with reason…")
    await desk.decision.get_by_role("textbox").fill("Not on a Sunday.")
    await desk.decide("Deny")
    await desk.expect_words(re.compile("Refused: .*Not on a Sunday."))
    await desk.expect_rest()
    await desk.say("make")
    await desk.decide("Deny and stop")
    await desk.expect_rest()
    await expect(desk.transcript.get_by_text("Refused:")).to_have_count(1)
    assert not (house.project / "made.txt").exists()


async def test_U16_a_withdrawn_request_closes_and_says_why(
    emulated: Emulated, visit: Visit
) -> None:
    house = await workshop(emulated)
    asked, other = await visit(house), await visit(house)
    await asked.start("make")
    await expect(asked.decision).to_be_visible()
    await other.page.goto(asked.page.url)
    await expect(other.decision).to_be_visible()
    await other.stop_button.click()
    await expect(asked.decision).to_have_count(0)
    note = asked.page.get_by_role("main").get_by_role("status").filter(has_text="Bash")
    await expect(note.first).to_contain_text(re.compile(r"stopped by \w"))
    assert not (house.project / "made.txt").exists()


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
    house = await emulated([scene("write", write, say("That was it."))])
    desk = await visit(house)
    await desk.start("write", Mode=mode)
    if answer is not None:
        await desk.decide(answer)
    await desk.expect_rest()
    card = desk.card(re.compile("^Write made.txt"))
    await expect(card).to_contain_text("new" if makes else "denied")
    assert (house.project / "made.txt").exists() is makes


# Questions and plans


async def test_U18_questions_have_choices_previews_and_free_text(
    emulated: Emulated, visit: Visit
) -> None:
    plain = {"label": "Plain", "description": "no ornament", "preview": "+---+\n|   |\n+---+"}
    fancy = {"label": "Fancy", "description": "all of it", "preview": "~*~*~"}
    house = await emulated(
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
    desk = await visit(house)
    await desk.start("ask")
    form = desk.decision
    await expect(form).to_contain_text("Which frame?")
    await form.get_by_role("radio", name=re.compile("^Fancy")).check()
    await expect(form.get_by_role("figure")).to_contain_text("~*~*~")
    await desk.decide("Next")
    await form.get_by_role("checkbox", name=re.compile("^Salt")).check()
    await form.get_by_role("checkbox", name=re.compile("^Pepper")).check()
    await form.get_by_label("Other").fill("Thyme")
    await desk.decide("Submit answers")
    await desk.expect_words(re.compile('Heard: .*"Which frame\\?"="Fancy"'))
    await desk.expect_words(re.compile('"Any extras\\?"="Salt, Pepper, Thyme"'))
    card = desk.card(re.compile("Which frame|Question|Ask"))
    fancy_row = card.get_by_role("listitem").filter(has_text="Fancy")
    await expect(fancy_row.get_by_role("img", name="chosen")).to_be_visible()


async def test_U19_a_question_can_be_declined(emulated: Emulated, visit: Visit) -> None:
    house = await emulated(
        [
            scene(
                "ask",
                named("told", ask(question("Why?", "Because", "No reason"))),
                {"say": "Silence, then.", "unless": "told.ok"},
            )
        ]
    )
    desk = await visit(house)
    await desk.start("ask")
    await desk.decide("Skip")
    await desk.expect_words("Silence, then.")


async def test_U20_a_plan_is_approved_or_commented_on(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.start("plan")
    await expect(desk.decision.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
    await desk.decision.get_by_role("button", name=re.compile("^Comment on line")).last.click()
    await desk.decision.get_by_role("textbox", name=re.compile("^Comment on")).fill("And then?")
    await desk.decide("Request changes with 1 comment")
    await desk.expect_words("Plan rejected. Nothing was changed.")
    await expect(desk.transcript).to_contain_text("And then?")
    await desk.say("plan")
    await desk.decide("Approve and auto-accept edits…")
    await desk.decide("Confirm")
    await desk.expect_words(re.compile("^Plan approved."))
    mode = desk.page.get_by_role("button", name=re.compile("^Permission mode"))
    await expect(mode).to_contain_text("Accept edits")


# Stopping


async def test_U21_escape_acts_in_a_fixed_order(emulated: Emulated, visit: Visit) -> None:
    house = await workshop(
        emulated, scene("long", use("Bash", command=WAIT_FOR_GO), say("It went."))
    )
    desk = await visit(house)
    await desk.start("make")
    await expect(desk.decision).to_be_visible()
    await desk.composer.fill("half a thought")
    await desk.composer.press("Escape")
    await expect(desk.composer).to_have_value("")
    await expect(desk.decision).to_be_visible()
    await desk.composer.press("Escape")  # Never answers: it goes to the decision, and back.
    await expect(desk.decision).to_be_focused()
    await desk.page.keyboard.press("Escape")
    await expect(desk.composer).to_be_focused()
    await desk.decide("Deny")
    await desk.expect_words(re.compile("^Refused:"))
    await desk.expect_rest()
    process = house.process(desk.session)
    await desk.say("long")
    await desk.decide("Allow once")
    await desk.expect_state("Running Bash")
    await desk.composer.fill("another thought")
    await desk.composer.press("Escape")
    await expect(desk.composer).to_have_value("")
    await desk.expect_state("Running Bash")
    await desk.composer.press("Escape")
    await desk.expect_words("Stopped by you")
    await desk.expect_rest()
    assert house.process(desk.session) == process


async def test_U22_stop_interrupts_and_the_session_continues(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated(
        [scene("long", say("Begun. "), {"wait": 60}, say("Never.")), scene(None, say("Here."))]
    )
    desk = await visit(house)
    await desk.start("long")
    await desk.expect_state(re.compile("Thinking|Writing"))
    process = house.process(desk.session)
    await desk.stop_button.click()
    await desk.expect_words("Stopped by you")
    await desk.expect_rest()
    await desk.say("still there?")
    await desk.expect_words("Here.")
    assert house.process(desk.session) == process


async def test_U23_control_c_only_copies(emulated: Emulated, visit: Visit) -> None:
    house = await emulated([scene("speak", say("Copy these words.")), scene(None, say("Alive."))])
    desk = await visit(house)
    await desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await desk.start("speak")
    await desk.expect_words("Copy these words.")
    await desk.expect_rest()
    process = house.process(desk.session)
    await desk.transcript.get_by_text("Copy these words.").click(click_count=3)
    await desk.page.keyboard.press("Control+c")
    copied = await desk.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == "Copy these words."
    await desk.say("and now?")
    await desk.expect_words("Alive.")
    assert house.process(desk.session) == process


# Writing


async def test_U24_slash_commands_are_completed_with_descriptions(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated([scene(None, say("Hello."))])
    desk = await visit(house)
    await desk.start("hello")
    await desk.expect_words("Hello.")
    await desk.composer.press_sequentially("/comp")
    offered = desk.page.get_by_role("listbox", name="Commands").get_by_role("option")
    await expect(offered.first).to_contain_text("/compact")
    await expect(offered.first).to_contain_text("<optional custom summarization instructions>")
    await desk.composer.press("Enter")
    await expect(desk.composer).to_have_value("/compact ")
    await desk.composer.press("Enter")
    await desk.expect_words(re.compile("^Context compacted"))


TWELVE = (
    "keybindings-help", "debug", "commit-message", "compact", "context", "cost", "init",
    "pr-comments", "release-notes", "review", "security-review", "insights",
)  # fmt: skip


async def test_U25_every_slash_command_is_offered_and_answered(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated([scene(None, say("Asked: {{prompt}}"))], version="2.1.38")
    commands = house.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    for name in ("keybindings-help", "commit-message"):
        (commands / f"{name}.md").write_text(f"Tell me about {name}.")
    desk = await visit(house)
    await desk.start("hello")
    await desk.expect_words("Asked: hello")
    for name in TWELVE:
        await desk.composer.fill("")
        await desk.composer.press_sequentially(f"/{name}")
        offered = desk.page.get_by_role("listbox", name="Commands").get_by_role("option")
        await expect(offered.filter(has_text=f"/{name}").first).to_be_visible()
    for name, words in (("cost", "Total cost"), ("context", "Context Usage")):
        await desk.say(f"/{name}")
        output = desk.card(re.compile("^Output"))
        await expect(output.filter(has_text=words).last).to_be_visible()
    await desk.say("/review")
    await desk.expect_words("Asked: /review")
    await desk.say("/commit-message")
    await desk.expect_words("Asked: Tell me about commit-message.")
    await desk.say("/compact")
    await desk.expect_words(re.compile("^Context compacted"))


async def test_U26_images_and_files_are_picked_pasted_and_dropped(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated([scene(None, say("Thank you for: {{prompt}}"))])
    desk = await visit(house)
    await desk.start("hello")
    await desk.expect_words("Thank you for: hello")
    attached = desk.page.get_by_role("list", name="Attachments").get_by_role("listitem")
    picked = {"name": "picked.png", "mimeType": "image/png", "buffer": PICTURE}
    await desk.page.locator("input[type=file]").set_input_files(picked)  # type: ignore[arg-type]
    await expect(attached.filter(has_text="picked.png")).to_be_visible()
    for kind in ("paste", "drop"):
        await desk.composer.evaluate(GIVE_FILE, [kind, f"{kind}.txt", "some words"])
        await expect(attached.filter(has_text=f"{kind}.txt")).to_be_visible()
    await expect(attached).to_have_count(3)
    await desk.page.get_by_role("button", name="Remove paste.txt").click()
    await expect(attached).to_have_count(2)
    await expect(attached.filter(has_text="sending")).to_have_count(0)
    await desk.say("what are these?")
    await desk.expect_words("Thank you for: what are these?")
    prompt = desk.transcript.get_by_role("article", name="You").last
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
