"""Sessions in worktrees of their own, on a real repository: start, merge, discard, compare."""

from __future__ import annotations

import re

from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import commit_all, git, repository_with_author

SCRIPT = [
    scene("fix", use("Write", file_path="{{cwd}}/fixed.txt", content="fixed\n"), say("Fixed.")),
    scene(None, say("You said: {{prompt}}")),
]


async def dialog_of(app: AppPage, prompt: str) -> Locator:
    """The form for a new session, with the worktree chosen."""
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill(prompt)
    await dialog.get_by_role("checkbox", name=re.compile("own worktree")).check()
    return dialog


async def accessible(app: AppPage, state: str) -> None:
    report = Report()
    await report.look(app, state)
    report.check()


async def fixed(app: AppPage) -> None:
    """A session in its own worktree that wrote a file."""
    dialog = await dialog_of(app, "fix the bug")
    await dialog.get_by_role("button", name="Start").click()
    await app.decide("Allow once")
    await app.expect_words("Fixed.")
    await app.expect_rest()


async def test_U109_a_session_works_in_its_own_worktree_and_is_merged(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SCRIPT)
    project = repository_with_author(server.project)
    (project / ".env").write_text("KEY=1\n")
    (project / ".git" / "info" / "exclude").write_text(".env\n")
    app = await visit(server)
    dialog = await dialog_of(app, "fix the bug")
    await dialog.get_by_text("Preparing the worktree").click()
    await dialog.get_by_role("textbox", name=re.compile("^Setup command")).fill(
        "echo prepared; cat .env"
    )
    await dialog.get_by_role("textbox", name=re.compile("^Files to copy")).fill(".env")
    await dialog.get_by_role("button", name="Save for this repository").click()
    await expect(dialog.get_by_role("button", name="Save for this repository")).to_be_disabled()
    await accessible(app, "new worktree")
    await dialog.get_by_role("button", name="Start").click()
    await app.decide("Allow once")
    await app.expect_words("Fixed.")
    await app.expect_rest()
    assert not (project / "fixed.txt").exists()
    tree = project / ".claude" / "worktrees" / "fix-the-bug"
    assert (tree / "fixed.txt").read_text() == "fixed\n"
    section = app.page.get_by_role("region", name="Worktree")
    await expect(section).to_contain_text("fairlead/fix-the-bug")
    await section.get_by_text("Setup: done").click()
    await expect(section).to_contain_text("prepared KEY=1")
    await expect(app.listed("fix the bug")).to_contain_text("fairlead/fix-the-bug")
    await section.get_by_role("button", name="Merge…").click()
    merge = app.page.get_by_role("dialog", name="Merge worktree")
    await expect(merge.get_by_role("list", name="Uncommitted files")).to_contain_text("fixed.txt")
    await accessible(app, "merge")
    await merge.get_by_role("textbox", name=re.compile("^Commit message")).fill("Fix the bug.")
    await merge.get_by_role("button", name="Merge", exact=True).click()
    await expect(section).to_contain_text("Merged")
    assert (project / "fixed.txt").read_text() == "fixed\n"
    assert git(project, "log", "-1", "--format=%s") == "Fix the bug.\n"
    assert not tree.exists()
    assert git(project, "status", "--porcelain") == ""


async def test_U110_a_conflict_changes_nothing_and_a_discard_lists_what_is_lost(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SCRIPT)
    project = repository_with_author(server.project)
    app = await visit(server)
    await fixed(app)
    (project / "fixed.txt").write_text("fixed otherwise\n")
    main = commit_all(project)
    section = app.page.get_by_role("region", name="Worktree")
    await section.get_by_role("button", name="Merge…").click()
    merge = app.page.get_by_role("dialog", name="Merge worktree")
    await merge.get_by_role("button", name="Merge", exact=True).click()
    await expect(merge.get_by_role("alert")).to_contain_text("Nothing was changed")
    await expect(merge.get_by_role("list", name="Conflicts")).to_have_text("fixed.txt")
    assert git(project, "rev-parse", "main").strip() == main
    assert git(project, "status", "--porcelain") == ""
    await merge.get_by_role("button", name="Cancel").click()
    git(project, "worktree", "add", "-q", "-b", "old", str(project / ".claude" / "old"))
    await app.more("Worktrees")
    listed = app.page.get_by_role("dialog", name="Worktrees")
    stale = listed.get_by_role("listitem").filter(has_text="no session")
    await expect(stale).to_contain_text("old")
    await expect(listed.get_by_role("listitem")).to_have_count(2)
    await accessible(app, "worktrees")
    await stale.get_by_role("button", name="Remove…").click()
    remove = app.page.get_by_role("dialog", name="Discard worktree")
    await expect(remove).to_contain_text("nothing that")
    await remove.get_by_role("button", name="Discard", exact=True).click()
    await expect(remove).to_have_count(0)
    assert not (project / ".claude" / "old").exists()
    await section.get_by_role("button", name="Discard…").click()
    discard = app.page.get_by_role("dialog", name="Discard worktree")
    # The conflict left the file as it was: not committed.
    lost = discard.get_by_role("list", name="Uncommitted files")
    await expect(lost).to_have_text("fixed.txt")
    await expect(discard).to_contain_text("can't be undone")
    await accessible(app, "discard")
    await discard.get_by_role("button", name="Discard", exact=True).click()
    await expect(section).to_contain_text("Discarded")
    assert git(project, "branch", "--list", "fairlead/*") == ""
    assert git(project, "rev-parse", "main").strip() == main
    assert (project / "fixed.txt").read_text() == "fixed otherwise\n"


async def test_U111_one_task_runs_in_several_worktrees_and_one_of_them_is_taken(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(SCRIPT)
    project = repository_with_author(server.project)
    app = await visit(server)
    dialog = await dialog_of(app, "fix the bug")
    await app.select(dialog.get_by_role("combobox", name=re.compile(r"^Mode\b")), "acceptEdits")
    await dialog.get_by_role("button", name="Add a variant to compare").click()
    variant = dialog.get_by_role("group", name="Variant 2")
    await variant.get_by_role("combobox", name="Model of variant 2").fill("haiku")
    await dialog.get_by_role("button", name="Start").click()
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("heading", name="Compare variants")).to_be_visible()
    variants = main.get_by_role("list", name="Variants").get_by_role("listitem")
    await expect(variants).to_have_count(2)
    for place in (0, 1):
        await expect(variants.nth(place)).to_contain_text("1 file, +1 −0")
        await expect(variants.nth(place)).to_contain_text("$0.0")
    await expect(variants.nth(1)).to_contain_text("haiku")
    await main.get_by_role("button", name="fixed.txt").click()
    patches = main.get_by_role("region", name=re.compile("fixed.txt$"))
    await expect(patches).to_have_count(2)
    await expect(patches.first).to_contain_text("fixed")
    await accessible(app, "compare")
    await variants.nth(1).get_by_role("button", name="Take this one…").click()
    take = app.page.get_by_role("dialog", name="Take this one")
    await take.get_by_role("checkbox", name=re.compile("Discard the other")).check()
    await expect(take).to_contain_text("fixed.txt")
    await accessible(app, "take")
    await take.get_by_role("button", name="Merge and discard the others").click()
    await expect(variants.nth(0)).to_contain_text("discarded")
    await expect(variants.nth(1)).to_contain_text("merged")
    assert (project / "fixed.txt").read_text() == "fixed\n"
    assert git(project, "branch", "--list", "fairlead/*") == ""
    assert list((project / ".claude" / "worktrees").iterdir()) == []
