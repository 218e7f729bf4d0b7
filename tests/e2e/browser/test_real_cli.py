"""The main flows against the real CLI 2.1.325 under a scripted model, in a real browser.

Each test checks both ends: what the user sees on the page, and what the model received, what the
CLI wrote and what happened to the files. The CLI is hermetic: a home of its own, a dummy key, a
model on loopback.
"""

from __future__ import annotations

import base64
import re

import pytest
from playwright.async_api import expect

from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import reply, tool, use
from fairlead.model_api.script import when
from tests.e2e.browser.background_state import expect_background
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.real_cli_server import Real, real, write_the_plan
from tests.e2e.browser.sockets import KEEP_SOCKETS

__all__ = ["real"]

# The same flows run with the emulator in the browser, and with the real CLI without a browser.
pytestmark = pytest.mark.matrix(target="conformance", of_module=1)

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
"""One pixel."""


async def test_an_answer_streams_while_the_model_writes(real: Real, visit: Visit) -> None:
    gate = Gate()
    there = await real(reply("First half. **Second** half.").but(hold=gate, hold_after=1))
    app = await visit(there.server)
    await app.start("speak")
    await app.expect_words("First half.")
    await expect(app.transcript.get_by_text("Second")).to_have_count(0)
    await expect(app.stop_button).to_be_visible()
    gate.open()
    await expect(app.transcript.locator("strong", has_text="Second")).to_be_visible()
    await app.expect_rest()
    assert '"speak"' in there.heard()


async def test_an_approved_command_runs_and_its_output_is_shown(real: Real, visit: Visit) -> None:
    there = await real()
    there.model.push(use("Bash", command=f"{there.program()} now"), reply("It ran."))
    app = await visit(there.server)
    await app.start("run it")
    await expect(app.decision).to_contain_text("./tool.sh now")
    assert not (there.project / "ran.txt").exists()
    await app.decide("Allow once")
    await app.expect_words("It ran.")
    card = app.card(re.compile("tool.sh now"))
    await expect(card).to_be_visible()
    assert (there.project / "ran.txt").read_text() == "ran now\n"
    assert there.last_result() == "ran now"
    await app.expect_rest()


async def test_an_edited_command_is_the_one_that_runs(real: Real, visit: Visit) -> None:
    there = await real()
    there.model.push(use("Bash", command=f"{there.program()} danger"), reply("Tamed."))
    app = await visit(there.server)
    await app.start("run it")
    await app.decide("Modify…")
    await app.decision.get_by_role("textbox", name="command").fill("./tool.sh gently")
    await app.decide("Allow modified")
    await app.expect_words("Tamed.")
    assert (there.project / "ran.txt").read_text() == "ran gently\n"
    assert there.last_result() == "ran gently"
    await expect(app.transcript).to_contain_text("gently")


async def test_a_denial_reaches_the_model_in_the_persons_words(real: Real, visit: Visit) -> None:
    there = await real()
    there.model.push(use("Bash", command=there.program()), reply("As you wish."))
    app = await visit(there.server)
    await app.start("run it")
    await app.decide("Deny with reason…")
    await app.decision.get_by_role("textbox").fill("Read it to me first.")
    await app.decide("Deny")
    await app.expect_words("As you wish.")
    await expect(app.transcript).to_contain_text("Read it to me first.")
    assert "Read it to me first." in there.last_result()
    assert there.model.requests[-1].tool_results[-1].is_error
    assert not (there.project / "ran.txt").exists()


async def test_questions_are_answered_by_choice_and_in_own_words(real: Real, visit: Visit) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [
        {"question": "Which?", "header": "One", "options": options, "multiSelect": False},
        {"question": "Which ones?", "header": "Many", "options": options, "multiSelect": True},
    ]
    there = await real(use("AskUserQuestion", questions=questions), reply("Noted."))
    app = await visit(there.server)
    await app.start("ask me")
    await app.decision.get_by_role("radio", name=re.compile("^Blue")).check()
    await app.decide("Next")
    await app.decision.get_by_role("checkbox", name=re.compile("^Red")).check()
    await app.decision.get_by_label("Other").fill("Mauve")
    await app.decide("Submit answers")
    await app.expect_words("Noted.")
    assert '"Which?"="Blue"' in there.last_result()
    assert '"Which ones?"="Red, Mauve"' in there.last_result()


async def test_a_plan_is_read_sent_back_with_a_comment_and_then_approved(
    real: Real, visit: Visit
) -> None:
    there = await real(
        write_the_plan,
        use("ExitPlanMode"),
        use("ExitPlanMode"),
        reply("Off I go."),
    )
    app = await visit(there.server)
    await app.start("plan it", Mode="plan")
    await expect(app.decision).to_contain_text("Measure twice")
    await app.decision.get_by_role("button", name=re.compile("^Comment on line")).last.click()
    await app.decision.get_by_role("textbox", name=re.compile("^Comment on")).fill("Thrice!")
    await app.decide("Request changes with 1 comment")
    await expect(app.transcript).to_contain_text("Thrice!")
    await app.decide("Approve")
    await app.expect_words("Off I go.")
    sent_back, approved = (there.model.requests[at].tool_results[-1] for at in (2, 3))
    assert "Thrice!" in sent_back.text
    assert sent_back.is_error
    assert not approved.is_error
    await expect(
        app.page.get_by_role("button", name=re.compile("^Permission mode: ?Ask"))
    ).to_be_visible()


async def test_escape_stops_the_turn_and_the_session_goes_on(real: Real, visit: Visit) -> None:
    gate = Gate()
    there = await real(
        reply("A long story that never ends.").but(hold=gate, hold_after=1), reply("Listening.")
    )
    app = await visit(there.server)
    await app.start("tell me")
    await app.expect_words("A long story")
    await app.page.keyboard.press("Escape")
    await app.expect_words(re.compile("[Ss]topped|[Ii]nterrupted"))
    await app.expect_rest()
    gate.open()
    await app.say("something else")
    await app.expect_words("Listening.")
    assert "interrupted by user" in there.heard()
    await expect(app.transcript.get_by_text("never ends")).to_have_count(0)


async def test_an_ended_session_is_resumed_with_all_it_knew(real: Real, visit: Visit) -> None:
    there = await real(reply("Noted: teal."), reply("It was teal."))
    app = await visit(there.server)
    await app.start("my colour is teal")
    await app.expect_words("Noted: teal.")
    await app.expect_rest()
    await app.more("Stop process")
    await expect(app.composer).to_have_attribute("placeholder", re.compile("resume"))
    await app.say("which colour?")
    await app.expect_words("It was teal.")
    assert "my colour is teal" in there.heard()
    assert "Noted: teal." in there.heard()
    assert len(there.transcripts()) == 1


async def test_a_fork_goes_its_own_way(real: Real, visit: Visit) -> None:
    there = await real(reply("Begun."), reply("Left."), reply("Right."))
    app = await visit(there.server)
    await app.start("begin")
    await app.expect_words("Begun.")
    await app.expect_rest()
    first = app.page.url
    await app.fork()
    await app.expect_words("Begun.")
    await app.say("go left")
    await app.expect_words("Left.")
    await app.expect_rest()
    assert "Begun." in there.heard()
    await app.page.goto(first)
    await app.expect_words("Begun.")
    await expect(app.transcript.get_by_text("Left.")).to_have_count(0)
    await app.say("go right")
    await app.expect_words("Right.")
    assert "go left" not in there.heard()


async def test_a_picture_is_shown_and_the_model_gets_its_bytes(real: Real, visit: Visit) -> None:
    there = await real(reply("Hello."), reply("I see a pixel."))
    app = await visit(there.server)
    await app.start("hello")
    await app.expect_words("Hello.")
    picture = {"name": "dot.png", "mimeType": "image/png", "buffer": PICTURE}
    await app.page.locator("input[type=file]").set_input_files(picture)  # type: ignore[arg-type]
    attached = app.page.get_by_role("list", name="Attachments")
    await expect(attached).to_contain_text(re.compile(r"dot\.png.*B", re.S))
    await app.say("what is it?")
    await app.expect_words("I see a pixel.")
    shown = app.transcript.get_by_role("img", name=re.compile("Attachment|dot.png"))
    await expect(shown.first).to_be_visible()
    content = there.model.requests[-1].messages[-1]["content"]
    (image,) = [block for block in content if block["type"] == "image"]
    assert base64.b64decode(image["source"]["data"])[:8] == PICTURE[:8]


async def test_a_slash_command_is_completed_and_answered_by_the_cli(
    real: Real, visit: Visit
) -> None:
    there = await real(reply("Hello."))
    app = await visit(there.server)
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.expect_rest()
    await app.composer.press_sequentially("/conte")
    offered = app.page.get_by_role("listbox", name="Commands")
    await expect(offered.get_by_role("option").first).to_contain_text("/context")
    await app.composer.press("Tab")
    await expect(app.composer).to_have_value("/context ")
    before = len(there.model.requests)
    await app.composer.press("Enter")
    output = app.card("Output of /context")
    await expect(output).to_contain_text("Context Usage")
    assert len(there.model.requests) == before


async def test_a_lost_connection_and_a_reload_lose_and_double_nothing(
    real: Real, visit: Visit
) -> None:
    gates = Gate(), Gate()
    there = await real(
        reply("One two three four five.").but(hold=gates[0], hold_after=1),
        reply("Six seven eight nine ten.").but(hold=gates[1], hold_after=1),
    )
    app = await visit(there.server, role=None, fresh=True)
    await app.context.add_init_script(KEEP_SOCKETS)
    await app.sign_in()
    await app.start("count")
    await app.expect_words(re.compile("^One two"))
    await app.page.evaluate("sockets.at(-1).close()")
    gates[0].open()
    await app.expect_words("One two three four five.")
    await app.say("go on")
    await app.expect_words(re.compile("^Six seven"))
    await app.page.reload()
    await app.expect_words(re.compile("^Six seven"))
    gates[1].open()
    await app.expect_words("Six seven eight nine ten.")
    await app.expect_rest()
    for words in ("One two", "Six seven"):
        await expect(app.transcript.get_by_text(words)).to_have_count(1)
    for words in ("count", "go on"):
        await expect(app.transcript.get_by_text(words, exact=True)).to_have_count(1)
    assert len(there.model.requests) == 2


async def test_a_background_agent_leaves_the_turn_to_the_user_and_its_end_is_shown(
    real: Real, visit: Visit
) -> None:
    gate = Gate()
    agent = tool(
        "Task", description="Look around", prompt="take your time",
        subagent_type="general-purpose", run_in_background=True,
    )  # fmt: skip
    there = await real(
        reply(agent),
        when(reply("At last.").but(hold=gate), text="take your time"),
        reply("What else?"),
        reply("Four."),
        reply("The agent has ended."),
    )
    app = await visit(there.server)
    await app.start("begin")
    await app.expect_words("What else?")
    await expect_background(app, "begin", 1)
    await app.say("two and two?")
    await app.expect_words("Four.")
    await expect_background(app, "begin", 1)
    gate.open()
    await app.expect_words("The agent has ended.")
    await expect_background(app, "begin", 0)
    await expect(app.card(re.compile("Look around"))).to_contain_text("finished")
    await expect(app.transcript.get_by_text("after background task “Look around”")).to_be_visible()


async def test_a_background_command_that_fails_says_so_in_its_card(
    real: Real, visit: Visit
) -> None:
    there = await real()
    (there.project / "serve.sh").write_text(
        "until [ -e go ]; do sleep 0.05; done; echo bye; exit 3"
    )
    there.model.push(
        use("Bash", command="sh serve.sh", description="Serve", run_in_background=True),
        reply("It runs."),
        reply("The server has stopped."),
    )
    app = await visit(there.server)
    await app.start("serve")
    await app.decide("Allow once")
    await app.expect_words("It runs.")
    await expect_background(app, "serve", 1)
    (there.project / "go").touch()
    card = app.card(re.compile("serve.sh"))
    await expect(card).to_contain_text("exit code 3")
    await app.expect_words("The server has stopped.")
    await card.get_by_role("button", name=re.compile("^Bash")).first.click()
    await card.get_by_role("button", name="Show output").click()
    await expect(card).to_contain_text("bye")
