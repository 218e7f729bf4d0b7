"""The git branch of a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fairlead.server.branches import CACHED, FRESH_S, Branches, branch_of


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git("init", "-q", "-b", "main", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    return folder


def test_B60_the_branch_of_a_folder_a_worktree_and_a_detached_head(repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    assert branch_of(str(below)) == "main"
    git("checkout", "-q", "-b", "feature/one", cwd=repository)
    assert branch_of(str(repository)) == "feature/one"
    git("worktree", "add", "-q", "../other", "-b", "other", cwd=repository)
    assert branch_of(str(repository.parent / "other")) == "other"
    git("checkout", "-q", "--detach", cwd=repository)
    commit = (repository / ".git" / "HEAD").read_text().strip()
    assert branch_of(str(repository)) == commit[:8]


def test_B60_files_that_are_no_repository_name_no_branch(tmp_path: Path) -> None:
    assert branch_of("") is None
    assert branch_of(str(tmp_path / "missing")) is None
    (tmp_path / ".git").mkdir()
    head = tmp_path / ".git" / "HEAD"
    os.mkfifo(head)  # Opening it must not wait for a writer.
    assert branch_of(str(tmp_path)) is None
    head.unlink()
    head.symlink_to("/etc/hostname")
    assert branch_of(str(tmp_path)) is None
    head.unlink()
    head.write_text("ref: refs/heads/" + "x" * 100_000)
    assert len(branch_of(str(tmp_path)) or "") < 512


def test_B60_an_answer_is_used_again_for_some_seconds(repository: Path) -> None:
    now = 100.0
    branches = Branches(lambda: now)
    assert branches.of(str(repository)) == "main"
    git("checkout", "-q", "-b", "next", cwd=repository)
    assert branches.of(str(repository)) == "main"
    now += FRESH_S
    assert branches.of(str(repository)) == "next"


def test_B60_the_branches_of_a_limited_number_of_folders_are_cached(tmp_path: Path) -> None:
    branches = Branches(lambda: 100.0)
    for number in range(2 * CACHED):
        branches.of(str(tmp_path / str(number)))
    assert len(branches._known) == CACHED
