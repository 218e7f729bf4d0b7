"""Sessions in their own worktrees, on real repositories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairlead.server.protocol.intents import NewSession, TrustProject
from fairlead.server.protocol.workbench_intents import (
    AddWorktree,
    FinishWorktree,
    SetWorktreeSetup,
    WorktreeLosses,
    Worktrees,
)
from tests.git.repositories import commit_all, git, repository_with_author
from tests.server.intents.stored_state import files_below
from tests.server.server_harness import ServerHarness, device


class Tree(NamedTuple):
    """A new worktree."""

    folder: Path
    branch: str
    base: str
    copied: list[str]

    @property
    def cwd(self) -> str:
        return str(self.folder)


async def made(harness: ServerHarness, name: str = "Fix the login") -> Tree:
    """A repository as the project, and a worktree of it."""
    if not (harness.project / ".git").exists():
        repository_with_author(harness.project)
    result = await harness.act(AddWorktree(cwd=str(harness.project), name=name))
    assert result.ok, result
    made = result.result
    return Tree(Path(made["cwd"]), made["branch"], made["base"], made["copied"])


async def begun(harness: ServerHarness, tree: Tree, **more: Any) -> str:
    """A session in a worktree."""
    result = await harness.act(NewSession(cwd=tree.cwd, worktree_base=tree.base, **more))
    assert result.ok, result
    return str(result.result["session"])


async def test_B81_a_session_starts_in_a_worktree_of_its_own(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        (harness.project / "deep").mkdir()
        repository_with_author(harness.project)
        tree = await made(harness)
        assert tree.branch == "fairlead/fix-the-login"
        assert tree.base == "main"
        path = harness.project / ".claude" / "worktrees" / "fix-the-login"
        assert tree.folder == path
        assert git(harness.project, "status", "--porcelain") == ""
        again = await made(harness)
        assert again.branch == "fairlead/fix-the-login-2"
        session = await begun(harness, tree, prompt="hello")
        await harness.state(session, "idle")
        row = harness.lobby("sessions")[session]
        assert row["cwd"] == str(path)
        assert row["branch"] == "fairlead/fix-the-login"
        assert row["worktree"]["base"] == "main"
        assert row["worktree"]["repository"] == str(harness.project)
        listed = (await harness.act(Worktrees(cwd=str(harness.project)))).result
        assert [each["session"] for each in listed["worktrees"]] == [session, None]
        refused = await harness.act(NewSession(cwd=str(harness.project), worktree_base="main"))
        assert refused.code == "conflict"


async def test_B81_a_viewer_or_approver_makes_no_worktree_and_only_an_owner_sets_the_command(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        repository_with_author(harness.project)
        approver, operator = device("approver", "phone"), device("operator", "tablet")
        cwd = str(harness.project)
        assert (await harness.act(AddWorktree(cwd=cwd), who=approver)).code == "forbidden"
        assert (await harness.act(AddWorktree(cwd=cwd), who=operator)).ok
        setup = SetWorktreeSetup(cwd=cwd, setup="touch ran")
        assert (await harness.act(setup, who=operator)).code == "forbidden"
        for name in ("../x", "/etc/passwd", "a/../../b", ".git/config"):
            bad = SetWorktreeSetup(cwd=cwd, copy=(name,))
            assert (await harness.act(bad)).code == "bad_message", name
        outside = await harness.act(AddWorktree(cwd="/"))
        assert outside.code == "forbidden"


async def test_B82_the_setup_command_runs_before_the_agent_and_shows_its_output(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        repository_with_author(harness.project)
        (harness.project / ".env").write_text("SECRET=1\n")
        (harness.project / "link").symlink_to("/etc/passwd")
        (harness.project / ".git" / "info" / "exclude").write_text(".env\nlink\n")
        settings = SetWorktreeSetup(
            cwd=str(harness.project),
            setup="echo preparing; cat .env; echo done > ready.txt",
            copy=(".env", "link", "missing"),
        )
        assert (await harness.act(settings)).ok
        tree = await made(harness)
        assert tree.copied == [".env"]
        session = await begun(harness, tree, prompt="hello")
        await harness.state(session, "idle")
        worktree = harness.lobby("sessions")[session]["worktree"]
        assert worktree["setup"] == "done"
        assert worktree["setup_output"] == "preparing\nSECRET=1\n"
        assert (tree.folder / "ready.txt").exists()
        await harness.act(SetWorktreeSetup(cwd=str(harness.project), setup="echo oh no; exit 3"))
        failed = await begun(harness, await made(harness), prompt="hello")
        await harness.state(failed, "idle")  # The agent starts anyway.
        worktree = harness.lobby("sessions")[failed]["worktree"]
        assert worktree["setup"] == "failed"
        assert "oh no" in worktree["setup_output"]
        assert "exit code 3" in worktree["setup_output"]


@pytest.mark.parametrize("choice", ["trust", "without"])
async def test_B82_the_setup_command_waits_for_the_trust_answer(
    tmp_path: Path, choice: str
) -> None:
    async with ServerHarness(tmp_path) as harness:
        repository_with_author(harness.project)
        settings = harness.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
        )
        commit_all(harness.project)
        await harness.act(SetWorktreeSetup(cwd=str(harness.project), setup="touch ran.txt"))
        tree = await made(harness)
        refused = await harness.act(NewSession(cwd=tree.cwd, worktree_base="main", prompt="hi"))
        assert refused.result["check"] == "trust"
        ran = tree.folder / "ran.txt"
        assert not ran.exists()
        answer = TrustProject(cwd=tree.cwd, digest=refused.result["digest"], choice=choice)
        assert (await harness.act(answer)).ok
        session = await begun(harness, tree, prompt="hi")
        await harness.state(session, "idle")
        assert ran.exists() is (choice == "trust")
        if choice == "without":
            assert "not trusted" in harness.lobby("sessions")[session]["worktree"]["setup_output"]


@pytest.mark.parametrize("how", ["merge", "rebase"])
async def test_B83_the_work_comes_into_the_base_and_the_worktree_is_gone(
    tmp_path: Path, how: str
) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        session = await begun(harness, tree, prompt="hello")
        await harness.state(session, "idle")
        (tree.folder / "a.txt").write_text("changed\n")
        (tree.folder / "new.txt").write_text("new\n")
        result = await harness.act(FinishWorktree(cwd=tree.cwd, how=how, message="Fix it."))
        assert result.ok, result
        assert (harness.project / "a.txt").read_text() == "changed\n"
        assert (harness.project / "new.txt").read_text() == "new\n"
        assert "Fix it." in git(harness.project, "log", "--format=%s", "main")
        assert not tree.folder.exists()
        assert git(harness.project, "branch", "--list", "fairlead/*") == ""
        row = harness.lobby("sessions")[session]
        assert row["worktree"]["state"] == "merged"
        assert not row["live"]


async def test_B83_a_conflict_names_the_files_and_changes_nothing(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        (tree.folder / "a.txt").write_text("theirs\n")
        commit_all(tree.folder)
        (harness.project / "a.txt").write_text("ours\n")
        commit_all(harness.project)
        before = files_below(harness.project)
        result = await harness.act(FinishWorktree(cwd=tree.cwd, how="merge"))
        assert result.code == "conflict"
        assert result.result["files"] == ["a.txt"]
        assert "Nothing was changed" in (result.message or "")
        after = files_below(harness.project)
        assert {n: h for n, h in after.items() if not n.startswith(".git/")} == {
            n: h for n, h in before.items() if not n.startswith(".git/")
        }


async def test_B84_discarding_deletes_only_what_was_listed_and_keep_keeps_the_branch(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree, other = await made(harness), await made(harness, "other")
        (tree.folder / "new.txt").write_text("new\n")
        (tree.folder / "a.txt").write_text("changed\n")
        commit_all(tree.folder, "Only here.")
        (tree.folder / "later.txt").write_text("not committed\n")
        lost = (
            await harness.act(WorktreeLosses(cwd=tree.cwd, repository=str(harness.project)))
        ).result
        assert [commit.split(" ", 1)[1] for commit in lost["commits"]] == ["Only here."]
        assert lost["files"] == ["later.txt"]
        (tree.folder / "even_later.txt").write_text("not seen\n")

        def discard(seen: str) -> FinishWorktree:
            return FinishWorktree(
                cwd=tree.cwd, how="discard", repository=str(harness.project), seen=seen
            )

        stale = await harness.act(discard(lost["seen"]))
        assert stale.code == "stale"
        operator = device("operator", "tablet")
        assert (await harness.act(discard(stale.result["seen"]), who=operator)).code == "forbidden"
        assert (tree.folder / "even_later.txt").exists()
        kept = {n: h for n, h in files_below(harness.project).items() if "fix-the-login" not in n}
        done = await harness.act(discard(stale.result["seen"]))
        assert done.ok, done
        assert not tree.folder.exists()
        left = files_below(harness.project)
        assert all(left[name] == kept[name] for name in kept if not name.startswith(".git/"))
        assert (other.folder / "a.txt").read_text() == "one\n"
        (other.folder / "kept.txt").write_text("kept\n")
        done = await harness.act(
            FinishWorktree(cwd=other.cwd, how="keep", repository=str(harness.project))
        )
        assert done.ok, done
        assert not other.folder.exists()
        assert git(harness.project, "show", "fairlead/other:kept.txt") == "kept\n"


async def test_B84_a_worktree_whose_folder_is_gone_is_listed_and_removed(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        shutil.rmtree(tree.cwd)
        listed = (await harness.act(Worktrees(cwd=str(harness.project)))).result["worktrees"]
        assert [(each["gone"], each["session"]) for each in listed] == [(True, None)]
        lost = await harness.act(WorktreeLosses(cwd=tree.cwd, repository=str(harness.project)))
        done = await harness.act(
            FinishWorktree(
                cwd=tree.cwd,
                how="discard",
                repository=str(harness.project),
                seen=lost.result["seen"],
            )
        )
        assert done.ok, done
        assert (await harness.act(Worktrees(cwd=str(harness.project)))).result["worktrees"] == []


async def test_B84_a_worktree_outside_of_the_roots_is_never_removed(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    async with ServerHarness(inner) as harness:
        repository_with_author(harness.project)
        outside = tmp_path / "outside"
        git(harness.project, "worktree", "add", "-q", "-b", "mine", str(outside))
        refused = await harness.act(
            FinishWorktree(cwd=str(outside), how="keep", repository=str(harness.project))
        )
        assert refused.code == "forbidden"
        assert outside.exists()


async def test_B83_a_conflict_with_uncommitted_files_leaves_them_uncommitted(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        (harness.project / "a.txt").write_text("ours\n")
        commit_all(harness.project)
        (tree.folder / "a.txt").write_text("theirs\n")
        (tree.folder / "staged.txt").write_text("staged\n")
        (tree.folder / "new.txt").write_text("new\n")
        git(tree.folder, "add", "staged.txt")
        state = git(tree.folder, "status", "--porcelain")
        tips = git(harness.project, "for-each-ref", "--format=%(refname) %(objectname)")
        for how in ("merge", "rebase"):
            result = await harness.act(
                FinishWorktree(cwd=tree.cwd, repository=str(harness.project), how=how)
            )
            assert result.code == "conflict"
            assert git(tree.folder, "status", "--porcelain") == state
            refs = git(harness.project, "for-each-ref", "--format=%(refname) %(objectname)")
            assert refs == tips
        assert (tree.folder / "a.txt").read_text() == "theirs\n"
        assert (tree.folder / "new.txt").read_text() == "new\n"


async def test_B83_a_rebase_that_would_overwrite_work_in_the_base_is_undone(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        (tree.folder / "a.txt").write_text("theirs\n")
        (harness.project / "b.txt").write_text("on main\n")
        commit_all(harness.project)
        (harness.project / "a.txt").write_text("not committed\n")
        tips = git(harness.project, "for-each-ref", "--format=%(refname) %(objectname)")
        result = await harness.act(
            FinishWorktree(cwd=tree.cwd, repository=str(harness.project), how="rebase")
        )
        assert not result.ok
        assert (harness.project / "a.txt").read_text() == "not committed\n"
        assert (tree.folder / "a.txt").read_text() == "theirs\n"
        assert (tree.folder / "b.txt").read_text() == "two\n"
        assert git(tree.folder, "status", "--porcelain") == " M a.txt\n"
        assert git(harness.project, "for-each-ref", "--format=%(refname) %(objectname)") == tips


async def test_B84_all_that_would_be_lost_is_listed(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree = await made(harness)
        (harness.project / ".git" / "info" / "exclude").write_text("*.log\nbuild/\n.claude/\n")
        for number in range(55):
            commit_all(tree.folder, f"Commit {number}.")
        (tree.folder / "x.log").write_text("1\n")
        (tree.folder / "build").mkdir()
        (tree.folder / "build" / "out").write_text("1\n")
        odd = tree.folder / os.fsdecode(b"odd\xff\n.txt")
        odd.write_text("x")
        asked = WorktreeLosses(cwd=tree.cwd, repository=str(harness.project))
        lost = (await harness.act(asked)).result
        assert (len(lost["commits"]), lost["more_commits"]) == (50, 5)
        assert lost["files"] == ["odd\\xff\n.txt"]
        assert lost["ignored"] == ["build/", "x.log"]
        # The same file with another content is something that the user has not seen.
        odd.write_text("xyz")
        assert (await harness.act(asked)).result["seen"] != lost["seen"]
        # Commits without a branch are lost with the worktree, too.
        git(tree.folder, "checkout", "-q", "--detach")
        commit_all(tree.folder, "On no branch.")
        git(harness.project, "checkout", "-q", "--detach")
        lost = (await harness.act(asked)).result
        assert [one.split(" ", 1)[1] for one in lost["commits"]] == ["On no branch."]


async def test_B84_removing_a_worktree_that_is_gone_forgets_no_other(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        tree, other = await made(harness), await made(harness, "on another disk")
        for each in (tree, other):
            shutil.rmtree(each.cwd)
        lost = await harness.act(WorktreeLosses(cwd=tree.cwd, repository=str(harness.project)))
        done = await harness.act(
            FinishWorktree(
                cwd=tree.cwd,
                how="discard",
                repository=str(harness.project),
                seen=lost.result["seen"],
            )
        )
        assert done.ok, done
        listed = (await harness.act(Worktrees(cwd=str(harness.project)))).result["worktrees"]
        assert [each["branch"] for each in listed] == [other.branch]
