"""What the agent does and how it is shown (docs/web.md, rules of the conversation)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from fairlead.host.options.groups import ToolRules
from tests.e2e.browser.app_page import PATIENCE_MS
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import WAIT_FOR_GO, say, scene, spawn, think, use

MARKDOWN = """# A heading

Some **bold** words, `code` and a [link](https://example.org/page).

| a | b |
|---|---|
| 1 | 2 |

```python
def greet() -> str:
    return "hello"
```
"""


async def test_U1_assistant_text_streams_as_markdown(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene("write", say(MARKDOWN))])
    app = await visit(server)
    await app.start("write")
    await expect(app.transcript.get_by_role("heading", name="A heading")).to_be_visible()
    await expect(app.transcript.get_by_role("table")).to_contain_text("2")
    link = app.transcript.get_by_role("link", name="link")
    await expect(link).to_have_attribute("rel", re.compile("noopener"))
    await expect(link).to_have_attribute("title", re.compile("https://example.org/page"))
    code = app.transcript.get_by_role("group", name=re.compile("[Cc]ode")).or_(
        app.transcript.locator("pre", has_text="def greet")
    )
    await expect(code.first).to_contain_text("def greet")
    await expect(
        app.transcript.get_by_role("button", name=re.compile("^Copy")).first
    ).to_be_visible()
    await app.expect_rest()


async def test_U2_thinking_is_one_line_that_expands(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene("ponder", think("Deep thoughts here."), say("Forty-two."))])
    app = await visit(server)
    await app.start("ponder")
    await app.expect_words("Forty-two.")
    line = app.transcript.get_by_role("button", name=re.compile("^Thought for"))
    await expect(line).to_have_attribute("aria-expanded", "false")
    await expect(app.transcript.get_by_text("Deep thoughts here.")).to_have_count(0)
    await line.click()
    await app.expect_words("Deep thoughts here.")


async def test_U3_an_edit_is_a_diff_with_line_numbers_in_two_layouts(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    await app.start("edit")
    before = app.decision.get_by_role("group", name="Change").first
    await expect(before).to_contain_text("politely")
    await app.decide("Allow once")
    await app.expect_words("Now I create a new file.")
    card = app.card(re.compile("^Edit greeting.py"))
    change = card.get_by_role("group", name="Change")
    await expect(change.locator("mark", has_text="politely")).to_be_visible()
    await expect(change).to_contain_text(re.compile('removed: ?"""Greets people."""'))
    await expect(change).to_contain_text(re.compile("added: ?.*Greets people, politely."))
    await expect(card).to_contain_text("+1")
    await card.get_by_role("button", name="Side by side").click()
    await expect(card.get_by_role("button", name="Side by side")).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(change).to_contain_text("politely")
    await card.get_by_role("button", name="Unified").click()


async def test_U4_a_new_file_is_shown_whole_before_and_after_approval(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    await app.start("edit")
    await app.decide("Allow once")
    await expect(app.decision).to_contain_text("summary.md")
    await expect(app.decision).to_contain_text("The greeting says hello first.")
    await app.decide("Allow once")
    await app.expect_words("Done.")
    card = app.card(re.compile("^Write summary.md"))
    await expect(card.get_by_role("group", name="New file")).to_contain_text("# Summary")
    await expect(card).to_contain_text("new")


async def test_U5_a_file_that_is_overwritten_is_a_diff(emulated: Emulated, visit: Visit) -> None:
    path = "{{cwd}}/notes.txt"
    server = await emulated(
        [
            scene(
                "again",
                use("Read", file_path=path),
                use("Write", file_path=path, content="one\ntwo and a half\nthree\n"),
                say("Written."),
            )
        ]
    )
    (server.project / "notes.txt").write_text("one\ntwo\nthree\n")
    app = await visit(server)
    await app.start("again")
    await app.decide("Allow once")
    await app.expect_words("Written.")
    card = app.card(re.compile("^Write notes.txt"))
    await expect(card.get_by_role("group", name="Change")).to_contain_text("two and a half")
    await expect(card.get_by_role("group", name="Change")).to_contain_text("one")
    assert (server.project / "notes.txt").read_text() == "one\ntwo and a half\nthree\n"


async def test_U6_a_notebook_has_code_and_text_cells(emulated: Emulated, visit: Visit) -> None:
    cells = [
        {"id": "a", "cell_type": "markdown", "source": "# Some *words*", "metadata": {}},
        {"id": "b", "cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": []},
    ]
    path = "{{cwd}}/book.ipynb"
    server = await emulated(
        [
            scene(
                "notebook",
                use("Read", file_path=path),
                use("NotebookEdit", notebook_path=path, cell_id="b", new_source="x = 2"),
                use(
                    "NotebookEdit",
                    notebook_path=path,
                    cell_id="b",
                    new_source="## The end",
                    cell_type="markdown",
                    edit_mode="insert",
                ),
                say("Noted."),
            )
        ]
    )
    book = server.project / "book.ipynb"
    book.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    app = await visit(server)
    await app.start("notebook")
    await expect(app.decision).to_contain_text("x = 2")
    await app.decide("Allow once")
    await expect(app.decision).to_contain_text("The end")
    await app.decide("Allow once")
    await app.expect_words("Noted.")
    read = app.card(re.compile("^Read book.ipynb"))
    await expect(read.get_by_role("button").first).to_have_attribute("aria-expanded", "false")
    await read.get_by_role("button").first.click()
    await expect(read.get_by_role("group", name="Words")).to_contain_text("Some words")
    await expect(read.get_by_role("group", name="Code")).to_contain_text("x = 1")
    changed, added = (app.card(re.compile("^Notebook book.ipynb")).nth(at) for at in (0, 1))
    await expect(changed).to_contain_text("cell changed")
    await expect(changed.get_by_role("group", name="Change")).to_contain_text("x = 2")
    await expect(added).to_contain_text("cell added")
    await expect(added.get_by_role("group", name="Words")).to_contain_text("The end")
    sources = ["".join(cell["source"]) for cell in json.loads(book.read_text())["cells"]]
    assert sources == ["# Some *words*", "x = 2", "## The end"]


async def test_U7_the_task_list_shows_progress_and_dependencies(
    emulated: Emulated, visit: Visit
) -> None:
    tools = ("TaskCreate", "TaskUpdate", "TaskList")
    server = await emulated(
        [
            scene(
                "tasks",
                use("TaskCreate", subject="Dig", description="A hole", activeForm="Digging"),
                use("TaskCreate", subject="Plant", description="A tree", activeForm="Planting"),
                use("TaskUpdate", taskId="2", addBlockedBy=["1"]),
                use("TaskUpdate", taskId="1", status="in_progress"),
                use("Bash", command=WAIT_FOR_GO),
                use("TaskUpdate", taskId="1", status="completed"),
                say("One is done."),
            )
        ],
        rules=ToolRules(allowed=tools),
    )
    app = await visit(server)
    await app.start("tasks")
    panel = app.page.get_by_role("complementary", name="Details")
    tasks = panel.get_by_role("listitem")
    await expect(tasks.filter(has_text="Digging")).to_be_visible()
    await expect(tasks.filter(has_text="Plant")).to_contain_text("after “Dig”")
    await expect(panel).to_contain_text("0 / 2")
    await app.decide("Allow once")
    (server.project / "go").touch()
    await app.expect_words("One is done.")
    await expect(panel).to_contain_text("1 / 2")
    await expect(tasks.filter(has_text="Dig").get_by_role("img", name="done")).to_be_visible()
    await expect(tasks.filter(has_text="Plant")).not_to_contain_text("after")


async def test_U8_subagents_are_nested_under_their_call(emulated: Emulated, visit: Visit) -> None:
    server = await emulated(
        [
            scene(
                "send",
                spawn("Look around", use("Bash", command="ls"), say("A quiet place.")),
                say("Back."),
            )
        ]
    )
    app = await visit(server)
    await app.start("send")
    await app.expect_words("Back.")
    card = app.card(re.compile("Look around"))
    steps = card.get_by_role("button", name=re.compile("^1 step"))
    await expect(steps).to_have_attribute("aria-expanded", "false")
    await expect(card.get_by_role("button", name=re.compile("^Bash ls"))).to_have_count(0)
    await steps.click()
    await expect(card.get_by_role("button", name=re.compile("^Bash ls"))).to_be_visible()
    await card.get_by_role("button", name=re.compile("Look around")).first.click()
    await expect(card).to_contain_text("A quiet place.")


async def test_U9_parallel_tools_have_a_card_and_a_request_each(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"the words of {name}\n")
    together = {"together": [use("Read", file_path=str(tmp_path / n)) for n in ("one", "two")]}
    server = await emulated([scene("both", together, say("Both are read."))])
    app = await visit(server)
    await app.start("both")
    await expect(app.decision).to_contain_text("1 of 2")
    await expect(app.decision).to_contain_text(str(tmp_path / "one"))
    await app.decision.get_by_role("button", name="Next (J)").click()
    await expect(app.decision).to_contain_text(str(tmp_path / "two"))
    await app.decide("Allow once")
    await expect(app.decision).to_contain_text(str(tmp_path / "one"))
    await app.decide("Allow once")
    await app.expect_words("Both are read.")
    await app.card("Read 2 files").get_by_role("button").click()
    cards = app.card(re.compile("^Read .*(one|two)$"))
    await expect(cards).to_have_count(2)


@pytest.mark.matrix(target="browser", cases=0)
async def test_B67_of_many_requests_the_first_are_shown_with_the_number_of_all(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    paths = [tmp_path / f"file-{number:03}" for number in range(102)]
    together = {"together": [use("Read", file_path=str(path)) for path in paths]}
    server = await emulated([scene("all", together, say("All are read."))])
    app = await visit(server)
    await app.start("all")
    await expect(app.decision).to_contain_text("1 of 102", timeout=PATIENCE_MS)
    more = app.page.get_by_text("more requests, shown as you answer these")
    await expect(more).to_have_text(re.compile("^And 2 more"))
    for left in (101, 100):
        await app.decide("Allow once")
        await expect(app.decision).to_contain_text(f"1 of {left}")
    await expect(more).to_have_count(0)
    await app.decision.get_by_role("button", name="Previous (K)").click()
    await expect(app.decision).to_contain_text("file-101")


async def test_U10_a_failed_tool_says_so_in_its_card(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([scene("read", use("Read", file_path="{{cwd}}/nowhere"), say("Alas."))])
    app = await visit(server)
    await app.start("read")
    await app.expect_words("Alas.")
    card = app.card(re.compile("^Read nowhere"))
    await expect(card).to_contain_text("failed")
    await expect(card).to_contain_text("does not exist")
