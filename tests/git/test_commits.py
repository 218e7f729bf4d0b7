"""Commits: with hooks, and only what the user saw (docs/git.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.git.commits import GitCommits
from fairlead.git.errors import GitError, GitStale, GitTimeout
from fairlead.git.repository import find_repository
from tests.git.repositories import ENVIRONMENT, git, new_repository


def commits_of(folder: Path, deadline_s: float = 60.0) -> GitCommits:
    repository = find_repository(folder)
    assert repository is not None
    return GitCommits(repository, deadline_s=deadline_s)


async def commit(folder: Path, message: str, deadline_s: float = 60.0) -> str:
    commits = commits_of(folder, deadline_s)
    _, hooks = await commits.hooks()
    staged = await commits.staged_digest()
    return await commits.commit(message, hooks=hooks, staged=staged, environment=ENVIRONMENT)


def staged_repository(folder: Path) -> Path:
    new_repository(folder, {"a": "1\n", "b": "1\n"})
    for name in ("a", "b"):
        (folder / name).write_text("2\n")
    git(folder, "add", "a")
    return folder


def hook(folder: Path, name: str, script: str) -> None:
    path = folder / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


async def test_G14_a_commit_contains_what_is_staged_and_the_message_as_it_was_written(
    tmp_path: Path,
) -> None:
    folder = staged_repository(tmp_path)
    done = await commit(folder, "--amend is not an option\n\nBödy with 'quotes' and $(touch x)")
    assert git(folder, "rev-parse", "HEAD").strip() == done
    assert git(folder, "log", "-1", "--format=%B").strip() == (
        "--amend is not an option\n\nBödy with 'quotes' and $(touch x)"
    )
    assert git(folder, "show", "--name-only", "--format=", "HEAD") == "a\n"
    assert git(folder, "status", "--porcelain") == " M b\n"
    assert git(folder, "rev-list", "--count", "HEAD") == "2\n"


async def test_G14_hooks_run_and_a_failing_hook_stops_the_commit_with_its_words(
    tmp_path: Path,
) -> None:
    folder = staged_repository(tmp_path)
    hook(folder, "pre-commit", "touch hook-ran; echo 'lint: line 3 is bad' >&2; exit 1")
    hooks, _ = await commits_of(folder).hooks()
    assert [one.name for one in hooks] == ["pre-commit"]
    with pytest.raises(GitError, match="lint: line 3 is bad"):
        await commit(folder, "Try.")
    assert (folder / "hook-ran").exists()
    assert git(folder, "rev-list", "--count", "HEAD") == "1\n"


async def test_G14_another_folder_of_hooks_is_found(tmp_path: Path) -> None:
    folder = staged_repository(tmp_path)
    git(folder, "config", "core.hooksPath", ".husky")
    path = folder / ".husky" / "commit-msg"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\ntouch commit-msg-ran\n")
    path.chmod(0o755)
    hooks, _ = await commits_of(folder).hooks()
    assert [one.name for one in hooks] == ["commit-msg"]
    await commit(folder, "With a hook.")
    assert (folder / "commit-msg-ran").exists()


async def test_G15_nothing_is_committed_if_a_hook_or_the_index_changed_since(
    tmp_path: Path,
) -> None:
    folder = staged_repository(tmp_path)
    commits = commits_of(folder)
    _, hooks = await commits.hooks()
    staged = await commits.staged_digest()
    hook(folder, "pre-commit", "touch planted-hook-ran")
    with pytest.raises(GitStale, match="hooks"):
        await commits.commit("No.", hooks=hooks, staged=staged, environment=ENVIRONMENT)
    assert not (folder / "planted-hook-ran").exists()
    (folder / ".git" / "hooks" / "pre-commit").unlink()
    git(folder, "add", "b")
    with pytest.raises(GitStale, match="staged"):
        await commits.commit("No.", hooks=hooks, staged=staged, environment=ENVIRONMENT)
    assert git(folder, "rev-list", "--count", "HEAD") == "1\n"


async def test_G15_an_empty_commit_an_empty_message_and_no_identity_are_refused_with_a_reason(
    tmp_path: Path,
) -> None:
    folder = staged_repository(tmp_path / "repository")
    with pytest.raises(GitError, match="needs a message"):
        await commit(folder, " \n ")
    commits = commits_of(folder)
    _, hooks = await commits.hooks()
    staged = await commits.staged_digest()
    nobody = {"PATH": ENVIRONMENT["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1",
              "EMAIL": "", "GIT_AUTHOR_EMAIL": ""}  # fmt: skip
    with pytest.raises(GitError):
        await commits.commit("Anonymous.", hooks=hooks, staged=staged, environment=nobody)
    git(folder, "reset", "--quiet")
    with pytest.raises(GitError):
        await commit(folder, "Nothing.")


async def test_G15_a_signing_program_of_the_repository_does_not_run(tmp_path: Path) -> None:
    folder = staged_repository(tmp_path / "repository")
    program = tmp_path / "signer"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/signed\nexit 1\n")
    program.chmod(0o755)
    git(folder, "config", "commit.gpgSign", "true")
    git(folder, "config", "gpg.program", str(program))
    git(folder, "config", "core.fsmonitor", f"touch {tmp_path}/monitored; false")
    try:
        await commit(folder, "Signed?")
    except GitError:
        pass  # The user's gpg is missing or has no key.
    assert not (tmp_path / "signed").exists()
    assert not (tmp_path / "monitored").exists()


async def test_G15_a_hook_that_hangs_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    folder = staged_repository(tmp_path)
    hook(folder, "pre-commit", "sleep 600 & wait")
    with pytest.raises(GitTimeout):
        await commit(folder, "Hangs.", deadline_s=3.0)
    assert not (folder / ".git" / "index.lock").exists()
