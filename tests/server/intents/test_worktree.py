"""Sessions in their own worktrees, on real repositories."""

from __future__ import annotations

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
from tests.server.intents.kept import files_below
from tests.server.stage import Stage, device


class Tree(NamedTuple):
    """A new worktree."""

    folder: Path
    branch: str
    base: str
    copied: list[str]

    @property
    def cwd(self) -> str:
        return str(self.folder)


async def made(stage: Stage, name: str = "Fix the login") -> Tree:
    """A repository as the project, and a worktree of it."""
    if not (stage.project / ".git").exists():
        repository_with_author(stage.project)
    result = await stage.act(AddWorktree(cwd=str(stage.project), name=name))
    assert result.ok, result
    made = result.result
    return Tree(Path(made["cwd"]), made["branch"], made["base"], made["copied"])


async def begun(stage: Stage, tree: Tree, **more: Any) -> str:
    """A session in a worktree."""
    result = await stage.act(NewSession(cwd=tree.cwd, worktree_base=tree.base, **more))
    assert result.ok, result
    return str(result.result["session"])


async def test_B81_a_session_starts_in_a_worktree_of_its_own(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        (stage.project / "deep").mkdir()
        repository_with_author(stage.project)
        tree = await made(stage)
        assert tree.branch == "fairlead/fix-the-login"
        assert tree.base == "main"
        path = stage.project / ".claude" / "worktrees" / "fix-the-login"
        assert tree.folder == path
        assert git(stage.project, "status", "--porcelain") == ""
        again = await made(stage)
        assert again.branch == "fairlead/fix-the-login-2"
        session = await begun(stage, tree, prompt="hello")
        await stage.state(session, "idle")
        row = stage.lobby("sessions")[session]
        assert row["cwd"] == str(path)
        assert row["branch"] == "fairlead/fix-the-login"
        assert row["worktree"]["base"] == "main"
        assert row["worktree"]["repository"] == str(stage.project)
        listed = (await stage.act(Worktrees(cwd=str(stage.project)))).result
        assert [each["session"] for each in listed["worktrees"]] == [session, None]
        refused = await stage.act(NewSession(cwd=str(stage.project), worktree_base="main"))
        assert refused.code == "conflict"


async def test_B81_a_viewer_or_approver_makes_no_worktree_and_only_an_owner_sets_the_command(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path) as stage:
        repository_with_author(stage.project)
        approver, operator = device("approver", "phone"), device("operator", "tablet")
        cwd = str(stage.project)
        assert (await stage.act(AddWorktree(cwd=cwd), who=approver)).code == "forbidden"
        assert (await stage.act(AddWorktree(cwd=cwd), who=operator)).ok
        setup = SetWorktreeSetup(cwd=cwd, setup="touch ran")
        assert (await stage.act(setup, who=operator)).code == "forbidden"
        for name in ("../x", "/etc/passwd", "a/../../b", ".git/config"):
            bad = SetWorktreeSetup(cwd=cwd, copy=(name,))
            assert (await stage.act(bad)).code == "bad_message", name
        outside = await stage.act(AddWorktree(cwd="/"))
        assert outside.code == "forbidden"


async def test_B82_the_setup_command_runs_before_the_agent_and_shows_its_output(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path) as stage:
        repository_with_author(stage.project)
        (stage.project / ".env").write_text("SECRET=1\n")
        (stage.project / "link").symlink_to("/etc/passwd")
        (stage.project / ".git" / "info" / "exclude").write_text(".env\nlink\n")
        settings = SetWorktreeSetup(
            cwd=str(stage.project),
            setup="echo preparing; cat .env; echo done > ready.txt",
            copy=(".env", "link", "missing"),
        )
        assert (await stage.act(settings)).ok
        tree = await made(stage)
        assert tree.copied == [".env"]
        session = await begun(stage, tree, prompt="hello")
        await stage.state(session, "idle")
        worktree = stage.lobby("sessions")[session]["worktree"]
        assert worktree["setup"] == "done"
        assert worktree["setup_output"] == "preparing\nSECRET=1\n"
        assert (tree.folder / "ready.txt").exists()
        await stage.act(SetWorktreeSetup(cwd=str(stage.project), setup="echo oh no; exit 3"))
        failed = await begun(stage, await made(stage), prompt="hello")
        await stage.state(failed, "idle")  # The agent starts anyway.
        worktree = stage.lobby("sessions")[failed]["worktree"]
        assert worktree["setup"] == "failed"
        assert "oh no" in worktree["setup_output"]
        assert "exit code 3" in worktree["setup_output"]


@pytest.mark.parametrize("choice", ["trust", "without"])
async def test_B82_the_setup_command_waits_for_the_trust_answer(
    tmp_path: Path, choice: str
) -> None:
    async with Stage(tmp_path) as stage:
        repository_with_author(stage.project)
        settings = stage.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
        )
        commit_all(stage.project)
        await stage.act(SetWorktreeSetup(cwd=str(stage.project), setup="touch ran.txt"))
        tree = await made(stage)
        refused = await stage.act(NewSession(cwd=tree.cwd, worktree_base="main", prompt="hi"))
        assert refused.result["check"] == "trust"
        ran = tree.folder / "ran.txt"
        assert not ran.exists()
        answer = TrustProject(cwd=tree.cwd, digest=refused.result["digest"], choice=choice)
        assert (await stage.act(answer)).ok
        session = await begun(stage, tree, prompt="hi")
        await stage.state(session, "idle")
        assert ran.exists() is (choice == "trust")
        if choice == "without":
            assert "not trusted" in stage.lobby("sessions")[session]["worktree"]["setup_output"]


@pytest.mark.parametrize("how", ["merge", "rebase"])
async def test_B83_the_work_comes_into_the_base_and_the_worktree_is_gone(
    tmp_path: Path, how: str
) -> None:
    async with Stage(tmp_path) as stage:
        tree = await made(stage)
        session = await begun(stage, tree, prompt="hello")
        await stage.state(session, "idle")
        (tree.folder / "a.txt").write_text("changed\n")
        (tree.folder / "new.txt").write_text("new\n")
        result = await stage.act(FinishWorktree(cwd=tree.cwd, how=how, message="Fix it."))
        assert result.ok, result
        assert (stage.project / "a.txt").read_text() == "changed\n"
        assert (stage.project / "new.txt").read_text() == "new\n"
        assert "Fix it." in git(stage.project, "log", "--format=%s", "main")
        assert not tree.folder.exists()
        assert git(stage.project, "branch", "--list", "fairlead/*") == ""
        row = stage.lobby("sessions")[session]
        assert row["worktree"]["state"] == "merged"
        assert not row["live"]


async def test_B83_a_conflict_names_the_files_and_changes_nothing(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        tree = await made(stage)
        (tree.folder / "a.txt").write_text("theirs\n")
        commit_all(tree.folder)
        (stage.project / "a.txt").write_text("ours\n")
        commit_all(stage.project)
        before = files_below(stage.project)
        result = await stage.act(FinishWorktree(cwd=tree.cwd, how="merge"))
        assert result.code == "conflict"
        assert result.result["files"] == ["a.txt"]
        assert "Nothing was changed" in (result.message or "")
        after = files_below(stage.project)
        assert {n: h for n, h in after.items() if not n.startswith(".git/")} == {
            n: h for n, h in before.items() if not n.startswith(".git/")
        }


async def test_B84_discarding_deletes_only_what_was_listed_and_keep_keeps_the_branch(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path) as stage:
        tree, other = await made(stage), await made(stage, "other")
        (tree.folder / "new.txt").write_text("new\n")
        (tree.folder / "a.txt").write_text("changed\n")
        commit_all(tree.folder, "Only here.")
        (tree.folder / "later.txt").write_text("not committed\n")
        lost = (await stage.act(WorktreeLosses(cwd=tree.cwd, repository=str(stage.project)))).result
        assert [commit.split(" ", 1)[1] for commit in lost["commits"]] == ["Only here."]
        assert lost["files"] == ["later.txt"]
        (tree.folder / "even_later.txt").write_text("not seen\n")

        def discard(seen: str) -> FinishWorktree:
            return FinishWorktree(
                cwd=tree.cwd, how="discard", repository=str(stage.project), seen=seen
            )

        stale = await stage.act(discard(lost["seen"]))
        assert stale.code == "stale"
        operator = device("operator", "tablet")
        assert (await stage.act(discard(stale.result["seen"]), who=operator)).code == "forbidden"
        assert (tree.folder / "even_later.txt").exists()
        kept = {n: h for n, h in files_below(stage.project).items() if "fix-the-login" not in n}
        done = await stage.act(discard(stale.result["seen"]))
        assert done.ok, done
        assert not tree.folder.exists()
        left = files_below(stage.project)
        assert all(left[name] == kept[name] for name in kept if not name.startswith(".git/"))
        assert (other.folder / "a.txt").read_text() == "one\n"
        (other.folder / "kept.txt").write_text("kept\n")
        done = await stage.act(
            FinishWorktree(cwd=other.cwd, how="keep", repository=str(stage.project))
        )
        assert done.ok, done
        assert not other.folder.exists()
        assert git(stage.project, "show", "fairlead/other:kept.txt") == "kept\n"


async def test_B84_a_worktree_whose_folder_is_gone_is_listed_and_removed(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        tree = await made(stage)
        shutil.rmtree(tree.cwd)
        listed = (await stage.act(Worktrees(cwd=str(stage.project)))).result["worktrees"]
        assert [(each["gone"], each["session"]) for each in listed] == [(True, None)]
        lost = await stage.act(WorktreeLosses(cwd=tree.cwd, repository=str(stage.project)))
        done = await stage.act(
            FinishWorktree(
                cwd=tree.cwd,
                how="discard",
                repository=str(stage.project),
                seen=lost.result["seen"],
            )
        )
        assert done.ok, done
        assert (await stage.act(Worktrees(cwd=str(stage.project)))).result["worktrees"] == []


async def test_B84_a_worktree_outside_of_the_roots_is_never_removed(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    async with Stage(inner) as stage:
        repository_with_author(stage.project)
        outside = tmp_path / "outside"
        git(stage.project, "worktree", "add", "-q", "-b", "mine", str(outside))
        refused = await stage.act(
            FinishWorktree(cwd=str(outside), how="keep", repository=str(stage.project))
        )
        assert refused.code == "forbidden"
        assert outside.exists()
