"""The page with a session's changes, on a real repository (docs/web.md, docs/git.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Request, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import git, new_repository

LONG = "".join(f"line {number}\n" for number in range(1, 200))


async def edited(emulated: Emulated) -> AppServer:
    """A server whose project is a repository, with an agent that edits two files."""
    server = await emulated(
        [
            scene(
                "work",
                use("Edit", file_path="src/app.py", old_string="line 50", new_string="line fifty"),
                use("Write", file_path="src/new.py", content="print('new')\n"),
                say("Done."),
            ),
            scene(None, say("You said: {{prompt}}")),
        ]
    )
    new_repository(server.project, {"src/app.py": LONG, "README.md": "hello\n"})
    return server


async def begin(app: AppPage, prompt: str = "work") -> str:
    await app.start(prompt, Mode="acceptEdits")
    await app.expect_words("Done." if prompt == "work" else f"You said: {prompt}")
    await app.expect_rest()
    session = app.session
    await app.more("Changes")
    await expect(app.page.get_by_role("heading", name="Changes")).to_be_visible()
    return session


async def test_U78_the_changes_of_a_session_are_listed_and_shown_line_by_line(
    emulated: Emulated, visit: Visit
) -> None:
    server = await edited(emulated)
    app = await visit(server)
    (server.project / "README.md").write_text("changed before the session\n")
    session = await begin(app)
    main = app.page.get_by_role("main")
    files = main.get_by_role("navigation", name="Changed files")
    for name in ("src, folder with 2 files", "app.py, modified", "new.py, new, untracked"):
        await expect(files.get_by_role("button", name=name)).to_be_visible()
    await files.get_by_role("button", name="app.py").click()
    lines = main.get_by_role("region", name="Lines of src/app.py")
    await expect(lines).to_contain_text("line fifty")
    await expect(lines).not_to_contain_text("line 100")
    await main.get_by_role("button", name="Whole file").click()
    await expect(lines).to_contain_text("line 100")
    # The address keeps the file, so a reload shows it again.
    await app.page.reload()
    await expect(lines).to_contain_text("line fifty")
    await expect(app.page).to_have_url(f"{server.base}/s/{session}/changes?file=c3JjL2FwcC5weQ")
    since = main.get_by_role("combobox", name="Since")
    await app.select(since, "turn")
    await expect(main).to_contain_text("Edits made by file tools since your last prompt")
    await expect(files.get_by_role("button", name="README.md")).to_have_count(0)
    await expect(files.get_by_role("button", name="app.py, modified")).to_be_visible()
    # Against a branch: what was committed since the last common commit counts, too.
    git(server.project, "checkout", "--quiet", "-b", "work")
    git(server.project, "commit", "--quiet", "--all", "--message", "Work.")
    await app.page.reload()
    await app.select(since, "commit")
    await expect(files.get_by_role("button", name="app.py, modified")).to_have_count(0)
    await app.select(since, "branch:main")
    await expect(files.get_by_role("button", name="app.py, modified")).to_be_visible()
    # The pages of a session lead to each other, and so does the header of the conversation.
    pages = main.get_by_role("navigation", name="Session pages")
    await expect(pages.get_by_role("link")).to_have_text(
        ["Conversation", "Changes", "Git", "Files"]
    )
    await expect(pages.locator("[aria-current=page]")).to_have_text("Changes")
    await pages.get_by_role("link", name="Git").click()
    await expect(main.get_by_role("region", name="Not staged")).to_be_visible()
    await pages.get_by_role("link", name="Conversation").click()
    await app.expect_words("Done.")
    await main.get_by_role("link", name="Files").click()
    await expect(main.get_by_role("navigation", name="Project files")).to_be_visible()


async def test_U79_new_changes_appear_and_never_move_what_is_read(
    emulated: Emulated, visit: Visit
) -> None:
    server = await edited(emulated)
    app = await visit(server)
    session = await begin(app)
    main = app.page.get_by_role("main")
    files = main.get_by_role("navigation", name="Changed files")
    await files.get_by_role("button", name="app.py").click()
    await main.get_by_role("button", name="Whole file").click()
    lines = main.get_by_role("region", name="Lines of src/app.py")
    await expect(lines).to_contain_text("line 190")
    await lines.evaluate("node => node.scrollTo(0, 900)")
    before = await lines.evaluate("node => node.scrollTop")
    source = server.project / "src" / "app.py"
    source.write_text("first of all\n" + source.read_text())
    (server.project / "later.txt").write_text("later\n")
    # Anything that happens in the session makes the page look again.
    other = await visit(server)
    await other.page.goto(f"{server.base}/s/{session}")
    await other.say("again")
    await other.expect_words("You said: again")
    await expect(files.get_by_role("button", name="later.txt")).to_be_visible()
    update = main.get_by_role("button", name="Update")
    await expect(update).to_be_visible()
    assert await lines.evaluate("node => node.scrollTop") == before
    await expect(lines).not_to_contain_text("first of all")
    await update.click()
    await expect(lines).to_contain_text("first of all")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U78_outside_of_git_the_edits_of_the_tools_are_listed(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        [scene(None, use("Write", file_path="made.txt", content="a\nb\n"), say("Done."))]
    )
    app = await visit(server, width=390, height=780)
    await begin(app)
    main = app.page.get_by_role("main")
    await expect(main).to_contain_text("This folder is not in a git repository")
    # On a phone the file takes the place of the list, and a button leads back.
    await main.get_by_role("button", name="made.txt").click()
    await expect(main.get_by_role("region", name="Lines of made.txt")).to_contain_text("b")
    await expect(main.get_by_role("navigation", name="Changed files")).to_be_hidden()
    await main.get_by_role("button", name="Back to the files").click()
    await expect(main.get_by_role("button", name="made.txt")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U80_the_page_adds_nothing_to_what_the_app_loads_before_it_is_opened(
    emulated: Emulated, visit: Visit
) -> None:
    server = await edited(emulated)
    app = await visit(server, role=None)
    scripts: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type == "script":
            scripts.append(request.url.rpartition("/")[2])

    app.page.on("request", note)
    await app.sign_in("owner")
    await app.start("work", Mode="acceptEdits")
    await app.expect_words("Done.")
    await app.expect_rest()
    assert scripts
    assert not [name for name in scripts if name.startswith("Changes")]
    await app.more("Changes")
    await expect(app.page.get_by_role("heading", name="Changes")).to_be_visible()
    assert [name for name in scripts if name.startswith("ChangesPage")]


@pytest.mark.matrix(target="browser", cases=0)
async def test_U80_two_thousand_changed_files_are_drawn_in_part_and_reached_by_keys(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    project: Path = new_repository(server.project)
    for number in range(2_000):
        folder = project / f"part{number % 20:02}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number:04}.txt").write_text("x\n")
    app = await visit(server)
    await begin(app, "hello")
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("status").filter(has_text="2,000 files +2000")).to_be_visible()
    files = main.get_by_role("navigation", name="Changed files")
    drawn = files.get_by_role("button")
    await expect(drawn.first).to_be_visible()
    assert await drawn.count() < 200
    await drawn.first.focus()
    await app.page.keyboard.press("End")
    last = files.get_by_role("button", name="file1999.txt")
    await expect(last).to_be_focused()
    await app.page.keyboard.press("Enter")
    await expect(main.get_by_role("region", name="Lines of part19/file1999.txt")).to_contain_text(
        "x"
    )


@pytest.mark.matrix(target="browser", cases=0)
async def test_U78_a_very_large_file_is_compared_on_request(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    line = "x" * 99 + "\n"
    large = line * 90_000
    new_repository(server.project, {"large.txt": large})
    app = await visit(server)
    await begin(app, "hello")
    (server.project / "large.txt").write_text(line + "changed\n" + large[200:])
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="large.txt").click()
    lines = main.get_by_role("region", name="Lines of large.txt")
    await expect(lines).to_contain_text("A very large file")
    await expect(lines).not_to_contain_text("changed")
    await lines.get_by_role("button", name="Compare it").click()
    await expect(lines).to_contain_text("changed")
