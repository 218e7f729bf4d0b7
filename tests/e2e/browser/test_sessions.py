"""Sessions, how they end, errors, hooks and options (docs/web.md)."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest
from playwright.async_api import expect

from fairlead.server.limits import Limits
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import named, say, scene, use

HELLO = [scene(None, say("You said: {{prompt}}"))]


async def test_U29_sessions_are_started_listed_searched_renamed_pinned_and_archived(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(HELLO))
    for word in ("apples", "pears"):
        await app.start(f"count the {word}")
        await app.expect_words(f"You said: count the {word}")
        await app.expect_rest()
    await expect(app.listed("count the apples")).to_contain_text("$")
    await app.page.get_by_role("searchbox", name="Filter sessions").fill("apples")
    await expect(app.listed("count the pears")).to_have_count(0)
    await app.listed("count the apples").click()
    await app.expect_words("You said: count the apples")
    await app.more("Rename")
    await app.page.get_by_role("textbox", name="Session name").fill("Orchard")
    await app.page.keyboard.press("Enter")
    await app.page.get_by_role("searchbox", name="Filter sessions").fill("")
    await expect(app.listed("Orchard")).to_be_visible()
    await app.more("Pin")
    pinned = app.page.get_by_role("navigation", name="Sessions").get_by_role("heading")
    await expect(pinned.first).to_contain_text("Pinned")
    await app.more("Archive")
    await expect(app.listed("Orchard")).to_have_count(0)
    await app.page.get_by_role("button", name="Archive", exact=True).click()
    await expect(app.listed("Orchard")).to_be_visible()


async def test_U30_a_message_resumes_an_ended_session(emulated: Emulated, visit: Visit) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await app.start("first")
    await app.expect_words("You said: first")
    await app.expect_rest()
    await app.more("Stop process")
    await app.expect_state("Ended")
    await app.say("second")
    await app.expect_words("You said: second")
    flags = server.command_line(app.session)
    assert any(flag.startswith("--resume") for flag in flags), flags


async def test_U31_a_session_is_forked_whole_or_from_a_message(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await app.start("one")
    await app.expect_words("You said: one")
    await app.expect_rest()
    await app.say("two")
    await app.expect_words("You said: two")
    await app.expect_rest()
    first = app.page.url
    await app.fork(app.transcript.get_by_role("button", name="Fork from here").first)
    await app.expect_words("You said: one")
    await expect(app.transcript.get_by_text("You said: two")).to_have_count(0)
    await app.say("another two")
    await app.expect_words("You said: another two")
    assert "--fork-session" in " ".join(server.command_line(app.session))
    await app.page.get_by_role("main").get_by_role("button", name=re.compile("fork")).first.click()
    await expect(app.page).to_have_url(first)
    await app.fork()
    await app.expect_words("You said: two")


async def test_U32_the_latest_session_of_a_folder_is_continued(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await app.start("before")
    await app.expect_words("You said: before")
    await app.expect_rest()
    await app.more("Stop process")
    await app.expect_state("Ended")
    await app.page.get_by_role("button", name=re.compile("^New session")).first.click()
    dialog = app.page.get_by_role("dialog", name="New session")
    await dialog.get_by_role("radio", name=re.compile("Continue the latest in this folder")).check()
    await dialog.get_by_label(re.compile("^First message")).fill("after")
    await dialog.get_by_role("button", name="Continue").click()
    await app.expect_words("You said: after")
    flags = " ".join(server.command_line(app.session))
    assert "--continue" in flags or "--resume" in flags, flags


async def test_U33_the_agent_is_started_with_the_chosen_options(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("go")
    mode = dialog.get_by_role("combobox", name=re.compile(r"^Mode\b"))
    await app.select(mode, "acceptEdits")
    await dialog.get_by_role("combobox", name=re.compile(r"^Model\b")).fill("haiku")
    effort = dialog.get_by_role("combobox", name=re.compile(r"^Effort\b"))
    await app.select(effort, "low")
    await dialog.get_by_text(re.compile("^Limits")).click()
    await dialog.get_by_label(re.compile("^Max steps")).fill("7")
    await dialog.get_by_label(re.compile("^Budget in")).fill("2.5")
    await dialog.get_by_role("button", name="Start").click()
    await app.expect_words("You said: go")
    flags = " ".join(server.command_line(app.session)).replace("=", " ")
    for wanted in (
        "--permission-mode acceptEdits",
        "--model haiku",
        "--effort low",
        "--max-turns 7",
        "--max-budget-usd 2.5",
        "--output-format stream-json",
        "--input-format stream-json",
        "--permission-prompt-tool stdio",
    ):
        assert wanted in flags, flags
    await expect(app.page.get_by_role("button", name=re.compile("^Model"))).to_contain_text("haiku")


async def test_U34_an_agent_that_dies_is_reported_and_can_be_resumed(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        [scene("long", say("Begun. "), {"wait": 60}, say("Never.")), *HELLO],
        limits=Limits(restarts=0),
    )
    app = await visit(server)
    await app.start("long")
    await app.expect_words("Begun.")
    os.kill(server.process(app.session), signal.SIGKILL)
    await app.expect_words(re.compile("Claude Code exited during this turn"))
    await expect(app.stop_button).to_have_count(0)
    await app.say("are you back?")
    await app.expect_words("You said: are you back?")
    await app.expect_rest()


async def test_U35_errors_of_the_model_are_shown_and_retried(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(
        await emulated(
            [
                scene("again", {"fail": 529, "retry_after": 0.2}, say("The second try.")),
                scene("never", {"fail": 403, "message": "bad words"}),
                *HELLO,
            ]
        )
    )
    await app.start("again")
    await app.expect_words("The second try.")
    await app.expect_words(re.compile("Recovered after .*529"))
    await app.expect_rest()
    await app.say("never")
    await app.expect_words(re.compile("403.*bad words"))
    await app.expect_words(re.compile("^The model request failed"))
    await app.say("and now")
    await app.expect_words("You said: and now")


async def test_U36_a_reached_limit_says_so(emulated: Emulated, visit: Visit) -> None:
    app = await visit(
        await emulated(
            [scene("work", *(use("Bash", command="ls") for _ in range(4)), say("Done."))]
        )
    )
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("work")
    await dialog.get_by_text(re.compile("^Limits")).click()
    await dialog.get_by_label(re.compile("^Max steps")).fill("2")
    await dialog.get_by_role("button", name="Start").click()
    await app.expect_words(re.compile("^Reached the step limit"))


async def test_U11_compaction_divides_the_conversation(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated(HELLO))
    await app.start("before")
    await app.expect_words("You said: before")
    await app.expect_rest()
    await app.say("/compact")
    await app.expect_words(re.compile("^Context compacted"))
    await app.say("after")
    await app.expect_words("You said: after")


async def test_U12_a_decision_by_a_hook_is_neither_a_request_nor_an_error(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        [
            scene(
                "run",
                named("no", use("Bash", command="./no.sh")),
                named("yes", use("Write", file_path="{{cwd}}/yes.txt", content="x")),
                say("No: {{no.text}}"),
            )
        ]
    )
    deny = {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "The house rules say no."}  # fmt: skip
    allow = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    hooks = [
        {"matcher": tool, "hooks": [{"type": "command", "command": f"echo '{json.dumps(word)}'"}]}
        for tool, word in (
            ("Bash", {"hookSpecificOutput": deny}),
            ("Write", {"hookSpecificOutput": allow}),
        )
    ]
    (server.project / ".claude").mkdir()
    settings = json.dumps({"hooks": {"PreToolUse": hooks}})
    (server.project / ".claude" / "settings.local.json").write_text(settings)
    app = await visit(server)
    await app.start("run", answer="Trust and start")
    await app.expect_words(re.compile("No: .*The house rules say no."))
    await app.expect_rest()
    await expect(app.page.get_by_role("main").get_by_role("dialog")).to_have_count(0)
    card = app.card("Bash ./no.sh")
    await expect(card).to_contain_text(re.compile("failed|denied"))
    assert (server.project / "yes.txt").exists()


HASTY_TRUST = """
() => new MutationObserver((_, watch) => {
  // The second tap of a double tap on "Start": at the first moment at which the button is there.
  const trust = [...document.querySelectorAll("button")].find((one) => one.innerText === "Trust and start");
  if (!trust) return;
  watch.disconnect();
  trust.click();
  window.hasty = true;
}).observe(document.body, { subtree: true, childList: true })
"""


@pytest.mark.matrix(target="browser", cases=0)
async def test_B54_what_a_project_runs_is_shown_and_runs_only_once_it_is_trusted(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("Done: {{prompt}}."))])
    settings = server.project / ".claude" / "settings.json"
    settings.parent.mkdir()

    def write_hook(command: str) -> None:
        hook = {"hooks": [{"type": "command", "command": command}]}
        settings.write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))

    write_hook("touch ../first")
    app = await visit(server)
    dialog = await app.open_new_session()
    await dialog.get_by_label("First message").fill("cancelled")
    await app.page.evaluate(HASTY_TRUST)
    await dialog.get_by_role("button", name="Start").click()
    await app.page.wait_for_function("() => window.hasty")
    await expect(app.trust_question).to_contain_text(".claude/settings.json")
    await expect(app.trust_question).to_contain_text("touch ../first")
    await app.trust_question.get_by_role("button", name="Cancel").click()
    await expect(app.trust_question).to_have_count(0)
    await expect(app.page.get_by_text("No sessions yet.")).to_be_visible()
    await dialog.get_by_role("button", name="Close").click()

    await app.start("wary", answer="Start without them")
    await app.expect_words("Done: wary.")
    assert not (server.project.parent / "first").exists()

    write_hook("touch ../second")
    await app.start("trusting", answer="Trust and start")
    await app.expect_words("Done: trusting.")
    assert (server.project.parent / "second").exists()
    await app.start("again")  # The answer holds while the files stay the same.
    await app.expect_words("Done: again.")
