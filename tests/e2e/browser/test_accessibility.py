"""No page and no dialog has a violation that axe-core finds, in both themes, wide and narrow."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from fairlead.host.options.groups import ToolRules
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.fake_cli import FakeCli
from tests.e2e.browser.scripts import (
    WAIT_FOR_GO,
    ask,
    question,
    say,
    scene,
    spawn,
    think,
    use,
)
from tests.e2e.browser.sockets import KEEP_SOCKETS

pytestmark = pytest.mark.timeout(300)  # Many pages, on a machine that may be busy.

one_width = pytest.mark.matrix(target="browser", cases=1)
wide_first = pytest.mark.parametrize("phone", [False, True], ids=["1440", "390"])
phone_first = pytest.mark.parametrize("phone", [True, False], ids=["390", "1440"])
"""`make test` looks at forms in the first of the widths, `make browser` at every state in both."""

FREE = ("Glob", "Grep", "TaskCreate", "TaskUpdate", "Skill", "mcp__mystery__look")

WORDS = """# A heading

Some **bold** words, `code`, a [link](https://example.org) and

- a list
- of two

> a quotation

| a | b |
|---|---|
| 1 | 2 |

```python
def greet(name: str) -> str:  # a comment
    return f"Hello, {name}" if name else "42"
```
"""

NOTEBOOK = '{"cells": [{"id": "a", "cell_type": "markdown", "source": "# Hi", "metadata": {}}, \
{"id": "b", "cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": []}], "nbformat": 4}'


def everything() -> list[Any]:
    """A scene with every card, and scenes that wait for an answer."""
    cwd = "{{cwd}}"
    work = (
        think("Let me see what there is."),
        say(WORDS),
        use("Read", file_path=f"{cwd}/a.py"),
        use("Read", file_path=f"{cwd}/book.ipynb"),
        use("Read", file_path=f"{cwd}/nowhere"),
        use("Edit", file_path=f"{cwd}/a.py", old_string="return 1", new_string="return 2"),
        use("Write", file_path=f"{cwd}/b.md", content="# New\n\nwords\n"),
        use("NotebookEdit", notebook_path=f"{cwd}/book.ipynb", cell_id="b", new_source="x = 2"),
        use("Bash", command="printf '\\033[31mred\\033[0m \\033[32mgreen\\033[0m\\n'; ls"),
        use("Bash", command="ls nowhere", description="Look for what is not there"),
        use("Glob", pattern="*.py"),
        use("Grep", pattern="return", output_mode="content"),
        use("TaskCreate", subject="Dig", description="A hole", activeForm="Digging"),
        use("TaskCreate", subject="Plant", description="A tree", activeForm="Planting"),
        use("TaskUpdate", taskId="2", addBlockedBy=["1"]),
        use("TaskUpdate", taskId="1", status="in_progress"),
        use("Skill", skill="debug"),
        use("mcp__mystery__look", one=1, two=["a", "b"]),
        spawn("Look around", use("Bash", command="ls"), say("A quiet place.")),
        say("That was all of it."),
    )
    options = ({"label": "Red", "description": "warm", "preview": "###"}, "Blue")
    return [
        scene("work", *work),
        scene("fail", {"fail": 403, "message": "no"}),
        scene("wait", say("Words that came. "), {"wait": 60}, say("Never.")),
        scene("run", use("Bash", command="./make.sh && rm -rf build")),
        scene("change", use("Write", file_path="{{cwd}}/../elsewhere.txt", content="x\ny\n")),
        scene("ask", ask(question("Which?", *options), question("Any?", "A", "B", several=True))),
        scene("plan", use("EnterPlanMode"), use("ExitPlanMode", plan="# Plan\n\n1. One\n2. Two\n")),
        scene("background", use("Bash", command=WAIT_FOR_GO, run_in_background=True), say("On.")),
        scene(None, say("You said: {{prompt}}")),
    ]


async def project_written(emulated: Emulated) -> AppServer:
    """A server with a project that has something in it."""
    server = await emulated(everything(), rules=ToolRules(allowed=FREE))
    (server.project / "a.py").write_text("def one() -> int:\n    return 1\n")
    (server.project / "book.ipynb").write_text(NOTEBOOK)
    return server


async def open_all(app: AppPage) -> None:
    """Open every card of the conversation that is drawn."""
    await app.transcript.evaluate(
        "log => log.querySelectorAll('[aria-expanded=false]:not([aria-haspopup])')"
        ".forEach(one => one.click())"
    )
    await expect(app.transcript.locator("[aria-expanded=true]").first).to_be_visible()


async def find(app: AppPage, words: str) -> None:
    """Find something in the conversation that is open."""
    await app.page.keyboard.press("Control+f")
    bar = app.page.get_by_role("search", name="Find in the conversation")
    await bar.get_by_role("searchbox").fill(words)


@pytest.mark.matrix(target="browser", cases=0)
@wide_first
async def test_every_page_passes_axe(emulated: Emulated, visit: Visit, phone: bool) -> None:
    report = Report(f"{'390' if phone else '1440'}: ")
    server = await project_written(emulated)
    stranger = await visit(server, role=None, phone=phone)
    await stranger.page.goto(server.base)
    await expect(stranger.page.get_by_role("heading", name="Pair this device")).to_be_visible()
    await report.look(stranger, "the door")
    app = await visit(server, phone=phone)
    await report.look(app, "home, empty")
    await app.page.goto(f"{server.base}/inbox")
    await expect(app.page.get_by_role("heading", name="Inbox")).to_be_visible()
    await report.look(app, "inbox, empty")
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    await report.look(app, "session, at rest")
    session = app.session
    await app.page.goto(server.base)
    await expect(app.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await report.look(app, "home, with sessions")
    for path, words in (
        ("search?q=hello", "hello"),
        ("usage", "By model"),
        ("devices", "this device"),
        ("settings", "Theme"),
        (f"settings?session={session}", "Model"),
        ("keys", "New session"),
        (f"help?session={session}", "/compact"),
        (f"s/{session}/log", "system"),
        ("s/00000000-0000-4000-8000-000000000000", "not found"),
    ):
        await app.page.goto(f"{server.base}/{path}")
        await expect(app.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await report.look(app, path.split("?")[0].replace(session, "…"))
    report.check()


@pytest.mark.matrix(target="browser", cases=0)
@phone_first
async def test_every_part_of_the_conversation_passes_axe(
    emulated: Emulated, visit: Visit, phone: bool
) -> None:
    report = Report(f"{'390' if phone else '1440'}: ")
    server = await project_written(emulated)
    app = await visit(server, phone=phone)
    await app.start("work", Mode="acceptEdits")
    await app.decision.get_by_role("button", name="Allow once").click()
    await app.expect_words("That was all of it.")
    await app.expect_rest()
    await report.look(app, "cards, as they come")
    for _ in range(3):
        await open_all(app)
        await app.page.keyboard.press("PageUp")
    await report.look(app, "cards, open")
    await app.transcript.evaluate("node => node.scrollTo(0, 0)")
    await open_all(app)
    await report.look(app, "cards, from the start")
    await find(app, "return")
    await report.look(app, "find in the conversation")
    await app.page.keyboard.press("Escape")
    await app.page.get_by_role("button", name="More", exact=True).click()
    await report.look(app, "menu of the session")
    await app.page.keyboard.press("Escape")
    if phone:
        await app.more("Details")
        await expect(app.page.get_by_role("complementary", name="Details")).to_be_visible()
        await report.look(app, "details on a phone")
        await app.page.get_by_role("button", name="Close", exact=True).first.click()
        await app.page.get_by_role("button", name="Sessions").click()
        await report.look(app, "sessions on a phone")
        await app.page.get_by_role("button", name="Close session list").click(
            position={"x": 380, "y": 9}
        )
    await app.composer.press_sequentially("/co")
    await expect(app.page.get_by_role("listbox")).to_be_visible()
    await report.look(app, "slash commands")
    await app.composer.fill("")
    await app.say("fail")
    await app.expect_words(re.compile("^The model request failed"))
    await report.look(app, "an error")
    await app.say("wait")
    await app.expect_words("Words that came.")
    await app.say("later")
    await expect(app.page.get_by_role("region", name="Queue")).to_be_visible()
    await report.look(app, "streaming, with a queue")
    report.check()


@pytest.mark.matrix(target="browser", cases=0)
@wide_first
async def test_every_open_request_passes_axe(emulated: Emulated, visit: Visit, phone: bool) -> None:
    report = Report(f"{'390' if phone else '1440'}: ")
    server = await project_written(emulated)
    app = await visit(server, phone=phone)
    await app.start("run")
    await expect(app.decision.get_by_role("button", name="Allow once", exact=True)).to_be_enabled()
    await report.look(app, "permission")
    await app.decide("Always deny…")
    await report.look(app, "permission, always deny")
    await app.decide("Back")
    await app.decide("Modify…")
    await report.look(app, "permission, edited")
    await app.decide("Back")
    await app.decide("Deny with reason…")
    await report.look(app, "permission, denied with words")
    await app.decide("Back")
    await app.page.goto(f"{server.base}/inbox")
    await expect(app.decision).to_be_visible()
    await report.look(app, "inbox")
    await app.decide("Deny and stop")
    await expect(app.decision).to_have_count(0)
    await app.start("change")
    await expect(app.decision).to_contain_text("elsewhere.txt")
    await report.look(app, "permission for a file")
    await app.decide("Deny and stop")
    await app.expect_rest()
    await app.say("ask")
    await expect(app.decision).to_contain_text("Which?")
    await report.look(app, "question")
    await app.decision.get_by_role("radio").first.check()
    await app.decide("Next")
    await app.decide("Add a note")
    await report.look(app, "question, the second, with a note")
    await app.decide("Skip")
    await app.expect_rest()
    await app.say("plan")
    await expect(app.decision).to_contain_text("Plan")
    await report.look(app, "plan")
    await app.decision.get_by_role("button", name=re.compile("^Comment on")).first.click()
    await report.look(app, "plan, with a comment")
    report.check()


@one_width
@phone_first
async def test_forms_pass_axe(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit, phone: bool
) -> None:
    report = Report(f"{'390' if phone else '1440'}: ")
    app = await visit(fake_cli_server, phone=phone)
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    await cli.request(
        "form", subtype="elicitation", mcp_server_name="registry", mode="form",
        message="Who are you?", requested_schema=FORM,
    )  # fmt: skip
    await expect(app.decision).to_contain_text("Who are you?")
    await report.look(app, "form")
    await app.decide("Send")
    await report.look(app, "form, with problems")
    await app.decide("Decline")
    await cli.request(
        "url", subtype="elicitation", mcp_server_name="registry", mode="url",
        message="Sign in", url="https://example.org/sign-in", elicitation_id="e",
    )  # fmt: skip
    await expect(app.decision).to_contain_text("example.org")
    await report.look(app, "address to open")
    report.check()


FORM = {
    "type": "object",
    "required": ["name", "size"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "As it is written"},
        "mail": {"type": "string", "format": "email"},
        "size": {"type": "integer", "minimum": 1},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "sure": {"type": "boolean"},
    },
}


@pytest.mark.matrix(target="browser", cases=0)
@phone_first
async def test_every_dialog_passes_axe(emulated: Emulated, visit: Visit, phone: bool) -> None:
    report = Report(f"{'390' if phone else '1440'}: ")
    server = await project_written(emulated)
    app = await visit(server, role=None, phone=phone, fresh=True)
    await app.context.add_init_script(KEEP_SOCKETS)
    await app.sign_in()
    for keys, name in (
        ("n", "New session"),
        ("Control+k", "Find anything"),
        ("?", "Keyboard shortcuts"),
    ):
        await app.leave_field()
        await app.page.keyboard.press(keys)
        window = app.page.get_by_role("dialog", name=re.compile(f"^{name}"))
        await expect(window).to_be_visible()
        if name == "New session":
            await window.get_by_text(re.compile("^Limits")).click()
        await report.look(app, name)
        await app.page.keyboard.press("Escape")
        await expect(window).to_have_count(0)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    await app.more("Fork")
    await expect(app.page.get_by_role("dialog", name="Fork session")).to_be_visible()
    await report.look(app, "fork")
    await app.page.keyboard.press("Escape")
    await app.context.set_offline(True)
    await app.page.evaluate("sockets.at(-1).close()")
    await expect(app.page.get_by_text(re.compile("^Offline"))).to_be_visible()
    await report.look(app, "no connection")
    report.check()


async def test_axe_finds_a_violation(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await project_written(emulated))
    report = Report()
    await app.page.evaluate("document.querySelector('main').append(new Image())")
    await report.look(app, "home with a nameless picture")
    assert [one for one in report.violations if "image-alt" in one]
