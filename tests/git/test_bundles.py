"""Working trees as bundles: what travels, and what a hostile bundle cannot do."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.git.bundles import bundle_work, preview_work, unbundle
from fairlead.git.errors import GitError
from fairlead.git.reader import GitReader
from fairlead.git.repository import Repository, find_repository


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@localhost", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    folder = tmp_path / "source"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=work")
    (folder / ".gitignore").write_text("secret.env\n")
    (folder / "staged.txt").write_text("1\n")
    (folder / "changed.txt").write_text("1\n")
    (folder / "deleted.txt").write_text("1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    git(folder, "remote", "add", "origin", "https://me:token@example.org/repo.git")
    (folder / "staged.txt").write_text("2\n")
    git(folder, "add", "staged.txt")
    (folder / "changed.txt").write_text("2\n")
    (folder / "deleted.txt").unlink()
    (folder / "new ä.txt").write_text("new\n")
    (folder / "secret.env").write_text("password\n")
    found = find_repository(folder)
    assert found is not None
    return found


async def test_N24_a_bundle_has_the_history_and_the_uncommitted_work_and_changes_nothing(
    source: Repository, tmp_path: Path
) -> None:
    before = git(source.top, "status", "--porcelain")
    work = await bundle_work(source, tmp_path / "work.bundle")
    assert git(source.top, "status", "--porcelain") == before
    assert git(source.top, "for-each-ref", "refs/fairlead") == ""

    made = await unbundle(tmp_path / "work.bundle", tmp_path / "target", work)
    assert git(made.top, "status", "--porcelain") == before
    assert git(made.top, "log", "--format=%s") == "first\n"
    assert git(made.top, "symbolic-ref", "--short", "HEAD") == "work\n"
    assert (made.top / "new ä.txt").read_text() == "new\n"
    assert not (made.top / "deleted.txt").exists()
    assert not (made.top / "secret.env").exists()
    assert git(made.top, "config", "remote.origin.url") == "https://example.org/repo.git\n"


async def test_N24_a_preview_lists_what_travels_and_what_does_not(source: Repository) -> None:
    seen = await preview_work(GitReader(source))
    assert (seen.branch, seen.commits) == ("work", 1)
    assert set(seen.files) == {"staged.txt", "changed.txt", "deleted.txt", "new ä.txt"}
    assert seen.ignored == ("secret.env",)
    assert seen.file_bytes == 2 + 2 + 4
    assert seen.history_bytes > 0


async def test_N24_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    found = find_repository(tmp_path)
    assert found is not None
    with pytest.raises(GitError, match="no commit yet"):
        await bundle_work(found, tmp_path / "b")


async def test_N24_names_from_another_machine_are_checked(
    source: Repository, tmp_path: Path
) -> None:
    work = await bundle_work(source, tmp_path / "b")
    with pytest.raises(GitError, match="not the id of a commit"):
        await unbundle(tmp_path / "b", tmp_path / "t1", replace(work, head="--upload-pack=x"))
    hostile = replace(work, branch="--help", remote="ext::sh -c evil")
    made = await unbundle(tmp_path / "b", tmp_path / "t2", hostile)
    assert git(made.top, "symbolic-ref", "--short", "HEAD") == "main\n"
    assert git(made.top, "config", "--list", "--local").count("remote") == 0
