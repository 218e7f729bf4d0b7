"""The pages around changes, git, files, variants and sessions, by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.keyboard import Keys
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import commit_all, git, new_repository, repository_with_author


@pytest.mark.matrix(target="browser", cases=0)
async def test_changes_are_read_and_commented_on_by_keyboard(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    new_repository(server.project, {"src/app.py": "one\n", "README.md": "hello\n"})
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    (server.project / "src" / "app.py").write_text("two\n")
    session = app.session
    main = app.page.get_by_role("main")
    keys = Keys(app)

    await app.page.goto(f"{server.base}/s/{session}/changes")
    await keys.to(main.get_by_role("button", name="src, folder with 1 file"))
    await keys.press("ArrowDown", "Enter")
    await keys.to(main.get_by_role("button", name="Comment on line 1 (before)"))
    await keys.press("ArrowDown", "Enter")
    await keys.write("Why two?")
    await keys.press("Control+Enter")
    await expect(main.get_by_role("article")).to_contain_text("Why two?")
    await keys.held()
    await keys.to(main.get_by_role("button", name="Review (1)"), "Shift+Tab")
    await keys.press("Enter")
    await keys.to(main.get_by_role("button", name="Send 1 comment in 1 file"))


async def test_sessions_are_selected_and_played_back_by_keyboard(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    session = app.session
    main = app.page.get_by_role("main")
    keys = Keys(app)
    await app.page.goto(f"{server.base}/sessions")
    await keys.to(main.get_by_role("checkbox", name="Select hello"))
    await keys.press("Space")
    await keys.to(main.get_by_role("toolbar").get_by_role("button", name="Delete…"))
    await keys.press("Enter")
    dialog = app.page.get_by_role("dialog", name="Delete 1 session")
    await expect(dialog).to_be_visible()
    await keys.press("Escape")
    await expect(dialog).to_have_count(0)
    await keys.held()

    await app.page.goto(f"{server.base}/s/{session}/play")
    controls = app.page.get_by_role("group", name="Playback")
    await keys.to(controls.get_by_role("slider", name="Position"))
    await keys.press("End")
    await app.expect_words("You said: hello")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U95_git_is_used_by_keyboard_and_the_focus_stays_where_the_work_is(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    lines = "".join(f"line {number}\n" for number in range(1, 61))
    project = repository_with_author(server.project)
    for name in ("c.py", "d.py"):
        (project / name).write_text(lines)
    commit_all(project)
    for name in ("c.py", "d.py"):
        text = lines.replace("line 5\n", "five\n").replace("line 50\n", "fifty\n")
        (project / name).write_text(text)
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.page.goto(f"{server.base}/s/{app.session}/git")
    main = app.page.get_by_role("main")
    staged = main.get_by_role("region", name="Staged", exact=True)
    keys = Keys(app)
    await keys.to(main.get_by_role("button", name="c.py modified"))
    await keys.press("Enter")
    first = main.get_by_role("region", name="Hunk 1").get_by_role("button", name="Stage hunk")
    await keys.to(first)
    await keys.press("Enter")
    await expect(main.get_by_role("region", name="Hunk 2")).to_have_count(0)
    await expect(first).to_be_focused()  # The next hunk took its place.
    await keys.press("Enter")
    # The file has no more hunks: the focus goes to the file, which is staged now.
    await expect(staged.get_by_role("button", name="c.py modified")).to_be_focused()
    await keys.to(main.get_by_role("button", name="Stage d.py"))
    await keys.press("Enter")
    await expect(staged.get_by_role("button", name="d.py modified")).to_be_visible()
    await expect(main.get_by_role("region", name="Not staged")).to_be_focused()
    await keys.to(staged.get_by_role("button", name="Unstage c.py"), "Shift+Tab")
    await keys.press("Enter")
    await expect(staged.get_by_role("button", name="Unstage d.py")).to_be_focused()
    await keys.to(main.get_by_role("button", name="Discard changes to c.py"))
    await keys.press("Enter")
    dialog = app.page.get_by_role("dialog", name="Discard changes")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await keys.press("Tab", "Enter")
    await expect(main.get_by_role("region", name="Not staged")).to_be_focused()
    await keys.to(main.get_by_role("textbox", name="Commit message"))
    await keys.write("Change d.")
    await keys.to(main.get_by_role("button", name="Commit 1 file"))
    await keys.press("Enter")
    await expect(staged).to_contain_text("Nothing is staged.")
    await expect(main.get_by_role("textbox", name="Commit message")).to_be_focused()
    assert git(project, "log", "-1", "--format=%s", "--name-only") == "Change d.\n\nd.py\n"
    assert git(project, "status", "--porcelain") == ""


@pytest.mark.matrix(target="browser", cases=0)
async def test_files_and_variants_are_used_by_keyboard(emulated: Emulated, visit: Visit) -> None:
    server = await emulated(
        [scene(None, use("Write", file_path="{{cwd}}/fixed.txt", content="x\n"), say("Fixed."))]
    )
    repository_with_author(server.project)
    app = await visit(server)
    main = app.page.get_by_role("main")
    keys = Keys(app)
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("fix it")
    await app.select(dialog.get_by_role("combobox", name=re.compile(r"^Mode\b")), "acceptEdits")
    await keys.to(dialog.get_by_role("checkbox", name=re.compile("own worktree")))
    await keys.press("Space")
    await keys.to(dialog.get_by_role("button", name="Add a variant to compare"))
    await keys.press("Enter")
    await keys.to(dialog.get_by_role("button", name="Start"))
    await keys.press("Enter")
    variants = main.get_by_role("list", name="Variants").get_by_role("listitem")
    await expect(variants.nth(1)).to_contain_text("1 file, +1 −0")
    await keys.held()
    await keys.to(main.get_by_role("button", name="fixed.txt"))
    await keys.press("Enter")
    await expect(main.get_by_role("region", name=re.compile("fixed.txt$")).first).to_be_visible()
    await keys.to(variants.nth(0).get_by_role("button", name="Take this one…"), "Shift+Tab")
    await keys.press("Enter")
    take = app.page.get_by_role("dialog", name="Take this one")
    await expect(take).to_be_visible()
    await keys.press("Escape")
    await expect(take).to_have_count(0)
    await keys.held()
    await keys.to(variants.nth(0).get_by_role("link"), "Shift+Tab")
    await keys.press("Enter")
    await app.expect_words("Fixed.")

    await app.page.goto(f"{server.base}/s/{app.session}/files")
    await keys.to(main.get_by_role("button", name="a.txt"))
    await keys.press("ArrowDown", "Enter")
    await expect(main.get_by_role("region", name="Content of b.txt")).to_contain_text("two")
    await keys.to(main.get_by_role("searchbox", name="Search in files"), "Shift+Tab")
    await keys.write("one")
    await keys.press("Enter")
    await keys.to(main.get_by_role("region", name="Lines in a.txt").get_by_role("button"))
    await keys.press("Enter")
    await expect(main.get_by_role("region", name="Content of a.txt")).to_contain_text("one")
    await keys.held()
