"""Reading a repository runs nothing of it and leaves its folder alone (docs/git.md)."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from fairlead.git import (
    GitError,
    GitMissing,
    changes_since,
    file_patch,
    find_repository,
)
from fairlead.git.errors import GitOutputTooLarge, GitTimeout
from tests.git.hostile import ATTACKS, Attack
from tests.git.repositories import FilesBelow, commit_all, git, new_repository, reader_of


async def read_everything(folder: Path) -> None:
    """All reads that the server does."""
    reader = reader_of(folder)
    files = FilesBelow(folder)
    changes = await changes_since(reader, None, files)
    for file in changes.files:
        await file_patch(reader, changes.base, file, files)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_G1_a_repository_starts_no_program_when_it_is_read(
    attack: Attack, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    folder = new_repository(tmp_path / "repository")
    attack.prepare(folder, f"touch {shlex.quote(str(mark))}")
    for command in attack.commands:
        git(folder, *command, check=False)
    assert mark.exists(), "plain git does not fall for this, so it proves nothing"
    mark.unlink()
    attack.prepare(new_repository(tmp_path / "again"), f"touch {shlex.quote(str(mark))}")
    mark.unlink(missing_ok=True)
    try:
        await read_everything(tmp_path / "again")
    except GitError:
        assert attack.name == "promisor remote"  # The object is missing, and stays missing.
    assert not mark.exists()


async def test_G1_the_users_own_filter_stays_and_the_repositorys_does_not_replace_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[filter "upper"]\n\tclean = tr a-z A-Z\n')
    monkeypatch.setenv("HOME", str(home))
    folder = new_repository(tmp_path / "repository", {".gitattributes": "*.txt filter=upper\n"})
    git(folder, "config", "filter.upper.clean", f"touch {mark}; cat")
    (folder / "a.txt").write_text("WORD\n")
    commit_all(folder)
    mark.unlink(missing_ok=True)
    (folder / "a.txt").write_text("word\n")
    changes = await changes_since(reader_of(folder), None, FilesBelow(folder))
    assert not mark.exists()
    assert changes.files == ()  # The user's filter makes the same content of it.


async def test_G2_the_working_tree_is_the_folder_with_dot_git_whatever_the_configuration_says(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "README.md").write_text("secret\n")
    (secret / "key").write_text("secret\n")
    folder = new_repository(tmp_path / "repository")
    git(folder, "config", "core.worktree", str(secret))
    assert "key" in git(folder, "status", "--porcelain")
    changes = await changes_since(reader_of(folder), None, FilesBelow(folder))
    assert changes.files == ()


def test_G2_a_git_file_leads_elsewhere_only_if_that_folder_points_back(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repository")
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "other")
    linked = find_repository(tmp_path / "linked")
    assert linked is not None
    assert linked.top == tmp_path / "linked"
    thief = tmp_path / "thief"
    thief.mkdir()
    for target in (folder / ".git", linked.git_dir):
        (thief / ".git").write_text(f"gitdir: {target}\n")
        assert find_repository(thief) is None


def test_G2_links_pipes_and_unfinished_folders_are_no_repository(tmp_path: Path) -> None:
    real = new_repository(tmp_path / "real")
    for name in ("link", "pipe", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / ".git").symlink_to(real / ".git")
    os.mkfifo(tmp_path / "pipe" / ".git")
    (tmp_path / "empty" / ".git").mkdir()
    for name in ("link", "pipe", "empty"):
        assert find_repository(tmp_path / name) is None
    inner = real / "a" / "b"
    inner.mkdir(parents=True)
    found = find_repository(inner)
    assert found is not None
    assert found.top == real


async def test_G3_reading_changes_no_file_of_the_repository(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repository", {"a": "1\n", "b": "2\n"})
    (folder / "a").write_text("changed\n")
    (folder / "b").touch()
    (folder / "new").write_text("3\n")
    before = _contents(folder)
    await read_everything(folder)
    assert _contents(folder) == before
    changes = await changes_since(reader_of(folder), None, FilesBelow(folder))
    assert [file.path for file in changes.files] == ["a", "new"]  # `b` was only touched.
    (folder / "b").chmod(0o755)
    changes = await changes_since(reader_of(folder), None, FilesBelow(folder))
    assert [file.path for file in changes.files if file.mode_changed] == ["b"]


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


async def test_G4_a_slow_or_talkative_git_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repository")
    program = tmp_path / "slow-git"
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    # Its child holds the pipe open for as long as it lives.
    program.write_text(f"#!/bin/sh\n(exec sleep 600) > {fifo} &\nsleep 600\n")
    program.chmod(0o755)
    end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(GitTimeout, match="did not finish within"):
        await reader_of(folder, program=str(program), deadline_s=0.5).read("status")
    os.set_blocking(end, True)
    assert os.read(end, 1) == b""  # The end of the pipe: the child is gone.
    os.close(end)
    program.write_text('#!/bin/sh\ncase "$*" in *config*) exit 0;; esac\nexec yes\n')
    with pytest.raises(GitOutputTooLarge, match="more than 1,000 bytes"):
        await reader_of(folder, program=str(program)).read("status", limit=1_000)


async def test_G4_without_git_the_error_says_what_to_install(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repository")
    with pytest.raises(GitMissing, match="Install git on the server's machine"):
        await reader_of(folder, program="no-such-git").read("status")
    reader = reader_of(folder)
    (folder / ".git" / "config").write_text("[broken\n")
    with pytest.raises(GitError, match="configuration is invalid"):
        await reader.read("status")
