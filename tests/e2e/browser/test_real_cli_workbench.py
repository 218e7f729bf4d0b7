"""Worktrees, variants and rewinding against the real CLI 2.1.325 under a scripted model, in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import expect

from fairlead.model_api.replies import Reply, reply, use
from fairlead.model_api.request import ModelRequest
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.real_cli_server import Real, real
from tests.git.repositories import git, repository_with_author

__all__ = ["real"]


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U109_the_real_cli_works_in_the_worktree_and_its_change_is_merged(
    real: Real, visit: Visit
) -> None:
    there = await real()
    project = repository_with_author(there.project)
    tree = project / ".claude" / "worktrees" / "write-it"
    there.model.push(
        use("Write", file_path=str(tree / "new.txt"), content="from the worktree\n"),
        reply("Written."),
    )
    app = await visit(there.server)
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("write it")
    await dialog.get_by_role("checkbox", name=re.compile("own worktree")).check()
    await dialog.get_by_role("button", name="Start").click()
    await expect(app.page.get_by_role("region", name="Worktree")).to_be_visible()
    await expect(app.card(re.compile("new.txt"))).to_be_visible(timeout=120_000)
    await app.decide("Allow once")
    await app.expect_words("Written.")
    await app.expect_rest()
    assert str(tree) in there.heard(0) + str(there.model.requests[0].body)
    assert not (project / "new.txt").exists()
    section = app.page.get_by_role("region", name="Worktree")
    await section.get_by_role("button", name="Merge…").click()
    merge = app.page.get_by_role("dialog", name="Merge worktree")
    await expect(merge.get_by_role("list", name="Uncommitted files")).to_contain_text("new.txt")
    await merge.get_by_role("checkbox", name=re.compile("^Rebase")).check()
    await merge.get_by_role("button", name="Rebase", exact=True).click()
    await expect(section).to_contain_text("Merged")
    assert (project / "new.txt").read_text() == "from the worktree\n"
    assert git(project, "status", "--porcelain") == ""
    assert not tree.exists()


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U112_the_real_cli_rewinds_files_and_conversation_and_nothing_else(
    real: Real, visit: Visit
) -> None:
    there = await real()
    notes, kept = there.project / "notes.txt", there.project / "kept.txt"
    notes.write_text("one\n")
    kept.write_text("mine\n")
    there.model.push(
        reply("Hello."),
        use("Read", file_path=str(notes)),
        use("Write", file_path=str(notes), content="two\nthree\n"),
        use("Write", file_path=str(there.project / "made.txt"), content="made\n"),
        reply("Changed."),
    )
    app = await visit(there.server)
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.expect_rest()
    await app.say("change it")
    await app.decide("Allow once")
    await app.decide("Allow once")
    await app.expect_words("Changed.")
    await app.expect_rest()
    kept.write_text("mine, and changed by hand\n")
    (there.project / "later.txt").write_text("made by hand\n")
    prompt = app.transcript.get_by_role("article").filter(has_text="change it").first
    await prompt.hover()
    await prompt.get_by_role("button", name="Message actions").click()
    await app.page.get_by_role("menuitem", name="Rewind to here").click()
    dialog = app.page.get_by_role("dialog", name="Rewind")
    files = dialog.get_by_role("region", name="Files")
    await expect(files).to_contain_text("notes.txt")
    await expect(files).to_contain_text("made.txt")
    await expect(files).to_contain_text(re.compile(r"\+\d+\s+−\d+"))
    assert notes.read_text() == "two\nthree\n"  # The preview changes nothing.
    before = app.page.url
    await dialog.get_by_role("button", name="Restore both").click()
    await expect(app.page).not_to_have_url(before)
    await expect(app.composer).to_have_value("change it")
    await app.expect_words("Hello.")
    await expect(app.transcript.get_by_text("Changed.")).to_have_count(0)
    assert notes.read_text() == "one\n"
    assert not (there.project / "made.txt").exists()
    assert kept.read_text() == "mine, and changed by hand\n"
    assert (there.project / "later.txt").read_text() == "made by hand\n"


def write_in_its_worktree(request: ModelRequest) -> Reply:
    """Write a file into the working directory that the CLI names, which says which model was asked."""
    if request.tool_results:
        return reply("Fixed.")
    tree = re.findall(r"/[\w./-]*/\.claude/worktrees/[\w-]+", json.dumps(request.body))[0]
    return use("Write", file_path=f"{tree}/fixed.txt", content=f"by {request.body['model']}\n")


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U111_variants_run_on_the_real_cli_with_their_models_and_one_is_taken(
    real: Real, visit: Visit
) -> None:
    there = await real()
    project = repository_with_author(there.project)
    there.model.push(*[write_in_its_worktree] * 4)
    app = await visit(there.server)
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill("fix it")
    await dialog.get_by_role("checkbox", name=re.compile("own worktree")).check()
    await app.select(dialog.get_by_role("combobox", name=re.compile(r"^Mode\b")), "acceptEdits")
    await dialog.get_by_role("button", name="Add a variant to compare").click()
    await dialog.get_by_role("combobox", name="Model of variant 2").fill("haiku")
    await dialog.get_by_role("button", name="Start").click()
    main = app.page.get_by_role("main")
    variants = main.get_by_role("list", name="Variants").get_by_role("listitem")
    for place in (0, 1):
        await expect(variants.nth(place)).to_contain_text("1 file, +1 −0", timeout=120_000)
        await expect(variants.nth(place)).to_contain_text("Your turn", timeout=120_000)
    await variants.filter(has_text="haiku").get_by_role("button", name="Take this one…").click()
    take = app.page.get_by_role("dialog", name="Take this one")
    await take.get_by_role("checkbox", name=re.compile("Discard the other")).check()
    await take.get_by_role("button", name="Merge and discard the others").click()
    await expect(variants.filter(has_text="haiku")).to_contain_text("merged")
    await expect(variants.filter(has_not_text="haiku")).to_contain_text("discarded")
    assert "haiku" in (project / "fixed.txt").read_text()
    assert git(project, "branch", "--list", "fairlead/*") == ""
    assert list((project / ".claude" / "worktrees").iterdir()) == []
