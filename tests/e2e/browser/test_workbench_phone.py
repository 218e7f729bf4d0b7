"""The pages around changes, git, files, worktrees and sessions at 390 px: axe, and nothing is cut off."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from fairlead.server.limits import Limits
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import git, repository_with_author

TEXT = "".join(f"value_{number} = {number}\n" for number in range(1, 61))
SCRIPT = [
    scene("fix", use("Write", file_path="{{cwd}}/fixed.txt", content="fixed\n"), say("Fixed.")),
    scene(
        None,
        use("Edit", file_path="src/app.py", old_string="value_5 ", new_string="five "),
        say("Done."),
    ),
]


async def worked(emulated: Emulated, visit: Visit) -> AppPage:
    """A phone on a server whose session changed a repository."""
    server = await emulated(SCRIPT, terminal=True, limits=Limits(delete_undo_s=3_600.0))
    project = repository_with_author(server.project)
    (project / "src").mkdir()
    (project / "src" / "app.py").write_text(TEXT)
    (project / "README.md").write_text("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "More.")
    app = await visit(server, phone=True)
    await app.start("work", Mode="acceptEdits")
    await app.expect_words("Done.")
    await app.expect_rest()
    (project / "src" / "app.py").write_text(
        (project / "src" / "app.py").read_text().replace("value_50 ", "fifty ")
    )
    return app


async def opened(app: AppPage, session: str, page: str) -> Locator:
    """One of the session's pages."""
    await app.page.goto(f"{app.server.base}/s/{session}/{page}")
    return app.page.get_by_role("main")


@pytest.mark.matrix(target="browser", cases=0)
@pytest.mark.timeout(300)
async def test_the_pages_of_a_session_pass_axe_on_a_phone(emulated: Emulated, visit: Visit) -> None:
    app = await worked(emulated, visit)
    session, report = app.session, Report("390: ")
    main = await opened(app, session, "changes")
    await expect(main.get_by_role("button", name="app.py, modified")).to_be_visible()
    await report.look(app, "changes")
    await main.get_by_role("button", name="app.py, modified").tap()
    await main.get_by_role("button", name="Comment on line 53", exact=True).tap()
    await main.get_by_role("textbox", name="Comment on line 53").fill("Why?")
    await expect(main.get_by_role("button", name="Save comment")).to_be_in_viewport(ratio=1)
    await report.look(app, "changes of a file, with a comment")
    await main.get_by_role("button", name="Save comment").tap()
    await main.get_by_role("button", name="Review (1)").tap()
    await expect(main.get_by_role("button", name="Send 1 comment in 1 file")).to_be_visible()
    await report.look(app, "review")
    main = await opened(app, session, "git")
    await expect(main.get_by_role("region", name="Not staged")).to_be_visible()
    await report.look(app, "git")
    await main.get_by_role("button", name="src/app.py modified").tap()
    await expect(main.get_by_role("region", name="Hunk 2")).to_be_visible()
    await report.look(app, "hunks")
    await main.get_by_role("button", name="Discard hunk…").first.tap()
    await expect(app.page.get_by_role("dialog", name="Discard hunk")).to_be_visible()
    await report.look(app, "discard")
    main = await opened(app, session, "files")
    await expect(main.get_by_role("button", name="README.md")).to_be_visible()
    await report.look(app, "files")
    await main.get_by_role("searchbox", name="Search in files").fill("fifty")
    await app.page.keyboard.press("Enter")
    await expect(main.get_by_role("status").filter(has_text="1 line in 1 file")).to_be_visible()
    await report.look(app, "search in files")
    await main.get_by_role("button", name="fifty = 50").tap()
    await expect(main.get_by_role("region", name="Content of src/app.py")).to_be_visible()
    await report.look(app, "content of a file")
    main = await opened(app, session, "terminal")
    await expect(main.locator(".xterm-rows")).to_contain_text(re.compile("[#$]"))
    await report.look(app, "terminal")
    await opened(app, session, "play")
    controls = app.page.get_by_role("group", name="Playback")
    await controls.get_by_role("button", name="Next turn").tap()
    await app.expect_words("Done.")
    await report.look(app, "playback")
    report.check()


@pytest.mark.matrix(target="browser", cases=0)
@pytest.mark.timeout(300)
async def test_worktrees_rewind_and_all_sessions_pass_axe_on_a_phone(
    emulated: Emulated, visit: Visit
) -> None:
    app = await worked(emulated, visit)
    report, server = Report("390: "), app.server
    prompt = app.transcript.get_by_role("article").filter(has_text="work").first
    await prompt.get_by_role("button", name="Message actions").tap()
    await app.page.get_by_role("menuitem", name="Rewind to here").tap()
    rewind = app.page.get_by_role("dialog", name="Rewind")
    await expect(rewind.get_by_role("region", name="Files")).to_contain_text("app.py")
    await report.look(app, "rewind")
    await app.page.keyboard.press("Escape")
    await expect(rewind).to_have_count(0)
    await variants(app, report)
    main = app.page.get_by_role("main")
    await main.get_by_role("list", name="Variants").get_by_role("link").first.tap()
    await app.expect_words("Fixed.")
    await app.more("Worktrees")
    await expect(app.page.get_by_role("dialog", name="Worktrees")).to_be_visible()
    await report.look(app, "worktrees")
    await all_sessions(app, server, report)
    report.check()


async def variants(app: AppPage, report: Report) -> None:
    """One message in two worktrees: the form, the board, a comparison, and taking one."""
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("fix it")
    await dialog.get_by_role("checkbox", name=re.compile("own worktree")).check()
    await app.select(dialog.get_by_role("combobox", name=re.compile(r"^Mode\b")), "acceptEdits")
    await dialog.get_by_role("button", name="Add a variant to compare").tap()
    await report.look(app, "form with variants")
    await dialog.get_by_role("button", name="Start").tap()
    main = app.page.get_by_role("main")
    board = main.get_by_role("list", name="Variants").get_by_role("listitem")
    for place in (0, 1):
        await expect(board.nth(place)).to_contain_text("1 file, +1 −0")
    await report.look(app, "board")
    await main.get_by_role("button", name="fixed.txt").tap()
    await expect(main.get_by_role("region", name=re.compile("fixed.txt$")).first).to_be_visible()
    await report.look(app, "comparison")
    await board.first.get_by_role("button", name="Take this one…").tap()
    take = app.page.get_by_role("dialog", name="Take this one")
    await expect(take).to_be_visible()
    await report.look(app, "taking a variant")
    await app.page.keyboard.press("Escape")
    await expect(take).to_have_count(0)


async def all_sessions(app: AppPage, server: AppServer, report: Report) -> None:
    """The page of all sessions, deleting one of them, and the offer to undo that."""
    await app.page.goto(f"{server.base}/sessions")
    main = app.page.get_by_role("main")
    await main.get_by_role("checkbox", name="Select work").check()
    await report.look(app, "sessions")
    bar = main.get_by_role("toolbar", name="Selected sessions")
    await bar.get_by_role("button", name="Tags…").tap()
    tags = app.page.get_by_role("dialog", name="Tags")
    await expect(tags).to_be_visible()
    await report.look(app, "tags")
    await app.page.keyboard.press("Escape")
    await bar.get_by_role("button", name="Delete…").tap()
    dialog = app.page.get_by_role("dialog", name="Delete 1 session")
    await report.look(app, "delete")
    await dialog.get_by_role("button", name="Delete 1 session").tap()
    await expect(app.page.get_by_text("Deleting “work”")).to_be_visible()
    await report.look(app, "undo of a deletion")
