"""The files page (docs/web.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import new_repository

LONG = "".join(f"value_{number} = {number}\n" for number in range(1, 3001))


async def filled(emulated: Emulated, **options: Any) -> AppServer:
    server = await emulated(
        [
            scene(
                "read",
                use("Read", file_path="src/app.py"),
                say("See `src/app.py:42` and src/app.py:7, or **src/app.py:9**."),
            ),
            scene(
                "search",
                use("Glob", pattern="**/*.py"),
                use("Grep", pattern="value_25 ", output_mode="content", **{"-n": True}),
                use("Bash", command="grep -rn 'value_30 ' src", description="Search"),
                say("Found."),
            ),
            scene(None, say("You said: {{prompt}}")),
        ],
        **options,
    )
    new_repository(
        server.project,
        {
            "src/app.py": LONG,
            "README.md": "# Title\n\nSome *words*.\n\n<img src=x onerror=alert(1)>\n",
            ".gitignore": "*.log\n",
        },
    )
    (server.project / "ignored.log").write_text("no\n")
    (server.project / "a.png").write_bytes(PICTURE)
    (server.project / "two\nlines.txt").write_text("an odd name\n")
    return server


async def test_U97_files_are_listed_read_and_rendered(emulated: Emulated, visit: Visit) -> None:
    server = await filled(emulated)
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.page.get_by_role("button", name="More", exact=True).click()
    await app.page.get_by_role("menuitem", name=re.compile("^Files")).click()
    main = app.page.get_by_role("main")
    tree = main.get_by_role("navigation", name="Project files")
    await expect(tree.get_by_role("button", name="README.md")).to_be_visible()
    await expect(tree.get_by_role("button", name="ignored.log")).to_have_count(0)
    await tree.get_by_role("button", name="README.md").click()
    await expect(main.get_by_role("heading", name="Title")).to_be_visible()
    await main.get_by_role("button", name="Show source").click()
    await expect(main.get_by_role("region", name="Content of README.md")).to_contain_text("# Title")
    await tree.get_by_role("button", name="a.png").click()
    await expect(main.get_by_role("img", name="a.png")).to_be_visible()
    await tree.get_by_role("button", name="two␊lines.txt").click()
    await expect(main.get_by_role("region", name="Content of two␊lines.txt")).to_contain_text(
        "an odd name"
    )
    await tree.get_by_role("button", name="src").click()
    await tree.get_by_role("button", name="app.py").click()
    content = main.get_by_role("region", name="Content of src/app.py")
    await expect(content).to_contain_text("value_1 = 1")
    report = Report()
    await report.look(app, "files")
    report.check()
    # Comments work in files, too.
    await content.get_by_role("button", name="Comment on line 3", exact=True).click()
    await content.get_by_role("textbox", name="Comment on line 3").fill("Why three?")
    await content.get_by_role("button", name="Save comment").click()
    await expect(main.get_by_role("button", name="Review (1)")).to_be_visible()


async def test_U98_a_search_finds_lines_and_a_line_can_be_opened_by_its_address(
    emulated: Emulated, visit: Visit
) -> None:
    server = await filled(emulated)
    app = await visit(server, phone=True)
    await app.start("hello")
    await app.expect_words("You said: hello")
    session = app.session
    await app.page.goto(f"{server.base}/s/{session}/files")
    main = app.page.get_by_role("main")
    await main.get_by_role("searchbox", name="Search in files").fill("value_2500")
    await app.page.keyboard.press("Enter")
    await expect(main.get_by_role("status").filter(has_text="1 line in 1 file")).to_be_visible()
    await main.get_by_role("button", name="value_2500 = 2500").tap()
    line = main.get_by_role("button", name="Comment on line 2500", exact=True)
    await expect(line).to_be_in_viewport()
    assert await app.page.evaluate("document.documentElement.scrollWidth") <= 390
    await app.page.reload()
    await expect(line).to_be_in_viewport()
    # Only the lines around it are drawn; the others come on request, and nothing moves.
    assert await main.get_by_role("button", name="Comment on line").count() <= 400
    await main.get_by_role("button", name="Show 2,300 lines above").tap()
    await expect(main.get_by_role("button", name="Comment on line 1", exact=True)).to_be_attached()
    first = main.get_by_role("button", name="Comment on line 2301", exact=True)
    await expect(first).to_be_in_viewport()


async def test_U99_a_link_opens_the_file_in_the_editor_of_the_user(
    emulated: Emulated, visit: Visit
) -> None:
    server = await filled(emulated)
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    session = app.session
    address = f"{server.base}/s/{session}/files?path=src%2Fapp.py&line=7"
    await app.page.goto(address)
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("region", name="Content of src/app.py")).to_be_visible()
    await expect(main.get_by_role("link", name="Open in editor")).to_have_count(0)
    for template, wanted in (
        ("vscode://file{path}:{line}", f"vscode://file{server.project}/src/app.py:7"),
        ("javascript:alert('{path}')", None),
    ):
        await app.page.goto(f"{server.base}/settings")
        field = main.get_by_role("textbox", name="Address to open files in an editor")
        await field.fill(template)
        await field.press("Enter")
        await app.page.goto(address)
        await expect(main.get_by_role("region", name="Content of src/app.py")).to_be_visible()
        link = main.get_by_role("link", name="Open in editor")
        if wanted is None:
            await expect(link).to_have_count(0)
        else:
            await expect(link).to_have_attribute("href", wanted)


async def test_U100_paths_in_the_conversation_lead_to_the_file(
    emulated: Emulated, visit: Visit
) -> None:
    server = await filled(emulated)
    app = await visit(server)
    await app.start("read")
    await app.expect_words("See")
    await app.expect_rest()
    for place in ("src/app.py:7", "src/app.py:9"):
        await expect(app.transcript.get_by_role("link", name=place)).to_be_visible()
    await app.transcript.get_by_role("link", name="src/app.py:42").click()
    main = app.page.get_by_role("main")
    line = main.get_by_role("button", name="Comment on line 42", exact=True)
    await expect(line).to_be_in_viewport()
    await app.page.go_back()
    await app.expect_words("See")
    card = app.card(re.compile("Read"))
    await card.get_by_role("button").first.click()
    await card.get_by_role("link", name="Open file").first.click()
    await expect(main.get_by_role("region", name="Content of src/app.py")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U100_paths_that_searches_and_commands_printed_lead_to_the_line(
    emulated: Emulated, visit: Visit
) -> None:
    # Newer versions search with Bash, and have Glob and Grep only on request.
    app = await visit(await filled(emulated, version="2.1.38"))
    await app.start("search")
    await app.expect_words("Found.")
    await app.expect_rest()
    main = app.page.get_by_role("main")
    reads = app.transcript.get_by_role("button", name=re.compile("^(Searched|Read|Ran|2 |3 )"))
    if await reads.count():  # Calls that only read are folded into one line.
        await reads.first.click()
    for tool, name, line in (
        ("Glob", "src/app.py", 0),
        ("Grep", "src/app.py:25", 25),
        ("Bash", "src/app.py:30", 30),
    ):
        card = app.card(re.compile(f"^{tool}"))
        head = card.get_by_role("button").first
        if await head.get_attribute("aria-expanded") == "false":
            await head.click()
        await card.get_by_role("link", name=name, exact=True).click()
        await expect(main.get_by_role("region", name="Content of src/app.py")).to_be_visible()
        if line:
            number = main.get_by_role("button", name=f"Comment on line {line}", exact=True)
            await expect(number).to_be_in_viewport()
        await app.page.go_back()
        await app.expect_words("Found.")
