"""The git page on a real repository (docs/web.md)."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene
from tests.git.repositories import conflicting, git, new_repository

TEXT = "".join(f"line {number}\n" for number in range(1, 61))


async def changed(emulated: Emulated) -> AppServer:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    folder = new_repository(server.project, {"a.py": TEXT, "b.py": TEXT})
    git(folder, "config", "user.name", "Test")
    git(folder, "config", "user.email", "test@example.org")
    for name in ("a.py", "b.py"):
        text = TEXT.replace("line 5\n", "five\n").replace("line 50\n", "fifty\n")
        (folder / name).write_text(text)
    (folder / "new.py").write_text("new\n")
    return server


async def open_git(app: AppPage, session: str | None = None) -> Locator:
    if session is None:
        await app.start("hello")
        await app.expect_words("You said: hello")
        await app.more("Git")
    else:
        await app.page.goto(f"{app.server.base}/s/{session}/git")
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("region", name="Not staged")).to_be_visible()
    return main


async def test_U95_files_and_hunks_are_staged_and_committed(
    emulated: Emulated, visit: Visit
) -> None:
    server = await changed(emulated)
    app = await visit(server)
    main = await open_git(app)
    staged = main.get_by_role("region", name="Staged", exact=True)
    await main.get_by_role("button", name="Stage new.py").click()
    await expect(staged.get_by_role("button", name="new.py added")).to_be_visible()
    await main.get_by_role("button", name="a.py modified").click()
    second = main.get_by_role("region", name="Hunk 2")
    await expect(second).to_contain_text("fifty")
    await second.get_by_role("button", name="Stage hunk").click()
    await expect(staged.get_by_role("button", name="a.py modified")).to_be_visible()
    await expect(main.get_by_role("region", name="Hunk 2")).to_have_count(0)
    report = Report()
    await report.look(app, "git")
    report.check()
    await expect(main).to_contain_text("The repository has no hooks")
    await main.get_by_role("textbox", name="Commit message").fill("Half of it.")
    await main.get_by_role("button", name="Commit 2 files").click()
    await expect(staged).to_contain_text("Nothing is staged.")
    log = git(server.project, "log", "-1", "--format=%s", "--name-only")
    assert log == "Half of it.\n\na.py\nnew.py\n"
    assert "five" in (server.project / "a.py").read_text()
    assert git(server.project, "status", "--porcelain") == " M a.py\n M b.py\n"


async def test_U96_a_discard_lists_what_is_lost_and_asks_first(
    emulated: Emulated, visit: Visit
) -> None:
    server = await changed(emulated)
    app = await visit(server)
    main = await open_git(app)
    session = app.page.url.split("/")[4]
    await main.get_by_role("button", name="Discard changes to new.py").click()
    dialog = app.page.get_by_role("dialog", name="Discard changes")
    await expect(dialog).to_contain_text("new.py: the whole file (4 bytes)")
    await app.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    assert (server.project / "new.py").exists()
    await main.get_by_role("button", name="b.py modified").click()
    first = main.get_by_role("region", name="Hunk 1")
    await first.get_by_role("button", name="Discard hunk…").click()
    dialog = app.page.get_by_role("dialog", name="Discard hunk")
    await expect(dialog).to_contain_text("+five")
    await dialog.get_by_role("button", name="Discard hunk").click()
    await expect(main.get_by_role("region", name="Hunk 2")).to_have_count(0)
    assert (server.project / "b.py").read_text() == TEXT.replace("line 50\n", "fifty\n")
    assert "five" in (server.project / "a.py").read_text()
    # An operator stages, but has no button to discard.
    operator = await visit(server, role="operator", phone=True)
    there = await open_git(operator, session)
    await expect(there).to_contain_text("Only owners can discard changes.")
    await expect(there.get_by_role("button", name="Discard changes to a.py")).to_have_count(0)
    await there.get_by_role("button", name="Stage a.py").tap()
    # The other device sees it at once.
    staged = main.get_by_role("region", name="Staged", exact=True)
    await expect(staged.get_by_role("button", name="a.py modified")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U95_a_failing_hook_is_named_before_and_its_words_are_shown(
    emulated: Emulated, visit: Visit
) -> None:
    server = await changed(emulated)
    hook = server.project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'tests fail' >&2\nexit 1\n")
    hook.chmod(0o755)
    app = await visit(server)
    main = await open_git(app)
    await expect(main).to_contain_text("The commit runs this hook of the repository: pre-commit.")
    await main.get_by_role("region", name="Not staged").get_by_text("Stage all").click()
    await main.get_by_role("textbox", name="Commit message").fill("Try.")
    await main.get_by_role("button", name="Commit 3 files").click()
    await expect(main.get_by_role("alert")).to_contain_text("tests fail")
    # The message stays, so that the user can try again.
    await expect(main.get_by_role("textbox", name="Commit message")).to_have_value("Try.")
    assert git(server.project, "rev-list", "--count", "HEAD") == "1\n"


@pytest.mark.matrix(target="browser", cases=0)
async def test_U95_more_than_a_thousand_files_are_staged_at_once(
    emulated: Emulated, visit: Visit
) -> None:
    server = await changed(emulated)
    for number in range(1_050):
        (server.project / f"many{number:04}.txt").write_text("x\n")
    app = await visit(server)
    main = await open_git(app)
    unstaged = main.get_by_role("region", name="Not staged")
    await expect(unstaged.get_by_role("heading")).to_have_text("Not staged 1053")
    assert await unstaged.get_by_role("button").count() < 200  # Only what is in view is drawn.
    await unstaged.get_by_role("button", name="Stage all", exact=True).click()
    staged = main.get_by_role("region", name="Staged", exact=True)
    await expect(staged.get_by_role("heading")).to_have_text("Staged 1053", timeout=60_000)
    await expect(unstaged).to_contain_text("No changes.")
    await expect(main.get_by_role("button", name="Commit 1,053 files")).to_be_disabled()
    assert git(server.project, "diff", "--cached", "--name-only").count("\n") == 1_053


async def test_U148_conflicts_are_resolved_before_a_commit(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    folder = conflicting(server.project)
    app = await visit(server)
    main = await open_git(app)
    (folder / "other.py").write_text("other\n")
    await app.page.reload()
    staged = main.get_by_role("region", name="Staged", exact=True)
    await expect(staged.get_by_role("button", name="clean added")).to_be_visible()
    await expect(staged.get_by_role("button", name="both")).to_have_count(0)
    await main.get_by_role("textbox", name="Commit message").fill("Merge it.")
    commit = main.get_by_role("button", name="Commit 1 file")
    await expect(commit).to_be_disabled()
    await expect(main).to_contain_text("1 file has conflicts. Resolve them and stage the file")
    await main.get_by_role("button", name="both has conflicts").click()
    await expect(main.get_by_role("region", name="Hunks of both")).to_contain_text(
        "Resolve them in the file"
    )
    await main.get_by_role("button", name="Stage all", exact=True).click()
    await expect(staged.get_by_role("button", name="other.py added")).to_be_visible()
    await expect(main.get_by_role("button", name="Stage all", exact=True)).to_have_count(0)
    assert git(folder, "ls-files", "--unmerged") != ""
    (folder / "both").write_text("ours and theirs\n")
    await main.get_by_role("button", name="Stage both").click()
    await main.get_by_role("button", name="Commit 3 files").click()
    await expect(staged).to_contain_text("Nothing is staged.")
    assert git(folder, "log", "-1", "--format=%s %p").split()[:2] == ["Merge", "it."]
    assert len(git(folder, "log", "-1", "--format=%p").split()) == 2


@pytest.mark.matrix(target="browser", cases=0)
async def test_U148_without_a_branch_the_page_says_that_commits_belong_to_none(
    emulated: Emulated, visit: Visit
) -> None:
    server = await changed(emulated)
    git(server.project, "checkout", "--quiet", "--detach")
    app = await visit(server)
    main = await open_git(app)
    await expect(main).to_contain_text("Detached: commits belong to no branch")
