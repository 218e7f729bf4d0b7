"""Worktrees: adding, merging, rebasing and removing them, and what stays when something fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.git.errors import GitError
from fairlead.git.worktrees import (
    MergeConflict,
    add_worktree,
    commit_everything,
    commits_since,
    delete_branch,
    exclude_from_status,
    linked_worktrees,
    merge_into,
    rebase_onto,
    remove_worktree,
)
from tests.git.repositories import (
    commit_all,
    git,
    reader_of,
    repository_with_author,
)


async def test_G24_a_worktree_has_its_own_branch_and_the_main_one_stays_clean(
    tmp_path: Path,
) -> None:
    main = repository_with_author(tmp_path / "main")
    reader = reader_of(main)
    path = main / ".claude" / "worktrees" / "fix"
    await exclude_from_status(reader, ".claude/worktrees")
    await exclude_from_status(reader, ".claude/worktrees")
    await add_worktree(reader, path, "fairlead/fix", "main")
    assert (path / "a.txt").read_text() == "one\n"
    assert git(main, "status", "--porcelain") == ""
    assert (main / ".git" / "info" / "exclude").read_text().count("/.claude/worktrees/") == 1
    listed = await linked_worktrees(reader)
    assert [(each.branch, each.main) for each in listed] == [
        ("main", True),
        ("fairlead/fix", False),
    ]
    for branch in ("fairlead/fix", "-x", "a..b", "HEAD"):
        with pytest.raises(GitError):
            await add_worktree(reader, tmp_path / "other", branch, "main")
    assert not (tmp_path / "other").exists()
    await remove_worktree(reader, str(path))
    await delete_branch(reader, "fairlead/fix")
    assert len(await linked_worktrees(reader)) == 1


async def test_G24_nothing_of_the_repository_runs(tmp_path: Path) -> None:
    main = repository_with_author(tmp_path / "main")
    trace = tmp_path / "ran"
    hooks = main / ".git" / "hooks"
    for hook in (
        "post-checkout",
        "pre-commit",
        "post-commit",
        "post-merge",
        "pre-rebase",
        "reference-transaction",
    ):
        path = hooks / hook
        path.write_text(f"#!/bin/sh\necho {hook} >> {trace}\n")
        path.chmod(0o755)
    git(main, "config", "filter.evil.smudge", f"touch {trace}; cat")
    git(main, "config", "filter.evil.clean", f"touch {trace}; cat")
    (main / ".gitattributes").write_text("*.txt filter=evil\n")
    git(main, "-c", "core.hooksPath=/dev/null", "-c", "filter.evil.clean=cat", "add", "-A")
    git(main, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "attributes")
    trace.unlink(missing_ok=True)
    reader = reader_of(main)
    path = tmp_path / "tree"
    await add_worktree(reader, path, "work", "main")
    (path / "c.txt").write_text("new\n")
    await commit_everything(reader_of(path), "Work.")
    await merge_into(reader, "main", "work", "Merge.")
    assert (main / "c.txt").read_text() == "new\n"
    assert not trace.exists(), trace.read_text()


@pytest.mark.parametrize("how", ["merge", "rebase"])
async def test_G25_a_branch_comes_into_the_base_with_its_working_tree(
    tmp_path: Path, how: str
) -> None:
    main = repository_with_author(tmp_path / "main")
    reader, path = reader_of(main), tmp_path / "tree"
    await add_worktree(reader, path, "work", "main")
    (path / "a.txt").write_text("changed\n")
    (path / "new.txt").write_text("new\n")
    tree = reader_of(path)
    await commit_everything(tree, "Work.")
    (main / "b.txt").write_text("main went on\n")
    commit_all(main, "On main.")
    (main / "untracked.txt").write_text("mine\n")
    assert [each.subject for each in await commits_since(reader, "main", "work")] == ["Work."]
    if how == "merge":
        await merge_into(reader, "main", "work", "Merge work.")
    else:
        await rebase_onto(reader, tree, "main", "work")
    assert (main / "a.txt").read_text() == "changed\n"
    assert (main / "b.txt").read_text() == "main went on\n"
    assert (main / "new.txt").read_text() == "new\n"
    assert (main / "untracked.txt").read_text() == "mine\n"
    assert git(main, "status", "--porcelain") == "?? untracked.txt\n"
    parents = git(main, "rev-list", "--parents", "-1", "main").split()
    assert len(parents) == (3 if how == "merge" else 2)
    assert await commits_since(reader, "main", "work") == ()


@pytest.mark.parametrize("how", ["merge", "rebase"])
async def test_G25_a_conflict_is_named_and_nothing_is_left_half_done(
    tmp_path: Path, how: str
) -> None:
    main = repository_with_author(tmp_path / "main")
    reader, path = reader_of(main), tmp_path / "tree"
    await add_worktree(reader, path, "work", "main")
    tree = reader_of(path)
    (path / "a.txt").write_text("theirs\n")
    await commit_everything(tree, "Work.")
    (main / "a.txt").write_text("ours\n")
    commit_all(main, "On main.")
    before = [git(main, "rev-parse", name) for name in ("main", "work")]
    merging = (
        merge_into(reader, "main", "work", "Merge work.")
        if how == "merge"
        else rebase_onto(reader, tree, "main", "work")
    )
    with pytest.raises(MergeConflict) as conflict:
        await merging
    assert conflict.value.files == ("a.txt",)
    assert [git(main, "rev-parse", name) for name in ("main", "work")] == before
    for folder, text in ((main, "ours\n"), (path, "theirs\n")):
        assert git(folder, "status", "--porcelain") == ""
        assert (folder / "a.txt").read_text() == text
    assert not (main / ".git" / "MERGE_HEAD").exists()
    assert git(path, "rev-parse", "--abbrev-ref", "HEAD") == "work\n"


async def test_G25_uncommitted_changes_in_the_base_are_not_overwritten(tmp_path: Path) -> None:
    main = repository_with_author(tmp_path / "main")
    reader, path = reader_of(main), tmp_path / "tree"
    await add_worktree(reader, path, "work", "main")
    (path / "a.txt").write_text("theirs\n")
    await commit_everything(reader_of(path), "Work.")
    (main / "a.txt").write_text("not committed\n")
    before = git(main, "rev-parse", "main")
    with pytest.raises(GitError, match="overwritten"):
        await merge_into(reader, "main", "work", "Merge work.")
    assert (main / "a.txt").read_text() == "not committed\n"
    assert git(main, "rev-parse", "main") == before


async def test_G25_a_repository_with_its_own_merge_program_is_refused(tmp_path: Path) -> None:
    main = repository_with_author(tmp_path / "main")
    reader, path = reader_of(main), tmp_path / "tree"
    await add_worktree(reader, path, "work", "main")
    git(main, "config", "merge.evil.driver", f"touch {tmp_path}/ran")
    with pytest.raises(GitError, match="merge program"):
        await merge_into(reader, "main", "work", "Merge work.")
    assert not (tmp_path / "ran").exists()
