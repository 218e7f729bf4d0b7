"""Stage, unstage and discard: what they do, and what they must not touch (docs/git.md)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from fairlead.git.errors import GitError, GitStale, GitTimeout
from fairlead.git.index import GitIndex, content_digest
from fairlead.git.repository import find_repository
from tests.git.hostile import ATTACKS, Attack
from tests.git.repositories import FilesBelow, commit_all, git, new_repository

TEXT = "".join(f"line {number}\n" for number in range(1, 61))
ODD = ":(glob)*", "-rf", "new\nline", 'quote"d', "späth", "star*", "\x1b[31mred"
"""Names that a shell, a pathspec or a terminal would understand otherwise."""


def index_of(folder: Path) -> GitIndex:
    repository = find_repository(folder)
    assert repository is not None
    return GitIndex(repository)


def messy(folder: Path) -> Path:
    """A repository with every kind of change at once."""
    new_repository(folder, {"target": TEXT, "other": TEXT, "gone": "x\n", ".gitignore": "*.log\n",
                            "dir/target": TEXT, **dict.fromkeys(ODD, TEXT)})  # fmt: skip
    changed = TEXT.replace("line 5\n", "five\n").replace("line 50\n", "fifty\n")
    for name in ("target", "other", "dir/target", *ODD):
        (folder / name).write_text(changed)
    (folder / "gone").unlink()
    (folder / "untracked").write_text("new\n")
    (folder / "ignored.log").write_text("log\n")
    (folder / "partly").write_text("staged\n")
    git(folder, "add", "partly")
    (folder / "partly").write_text("staged\nnot staged\n")
    return folder


def state(folder: Path) -> dict[str, object]:
    """Every file, and every entry of the index."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
    entries = git(folder, "ls-files", "--stage", "-z").split("\0")
    staged = {entry.partition("\t")[2]: entry.partition("\t")[0] for entry in entries if entry}
    return {**{f"file {name}": value for name, value in files.items()},
            **{f"index {name}": value for name, value in staged.items()}}  # fmt: skip


def differences(before: dict[str, object], after: dict[str, object]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


async def changed_by(folder: Path, act: Callable[[], Awaitable[None]]) -> set[str]:
    before = state(folder)
    await act()
    return differences(before, state(folder))


@pytest.mark.parametrize("name", ["target", "dir/target", "gone", "untracked", "partly", *ODD])
async def test_G10_staging_and_unstaging_a_file_touch_its_entry_in_the_index_only(
    tmp_path: Path, name: str
) -> None:
    folder = messy(tmp_path)
    index = index_of(folder)
    before = state(folder)
    assert await changed_by(folder, lambda: index.stage([name])) == {f"index {name}"}
    assert await changed_by(folder, lambda: index.unstage([name])) == {f"index {name}"}
    if name != "partly":
        assert differences(before, state(folder)) == set()


async def test_G10_unstaging_works_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a").write_text("1\n")
    index = index_of(tmp_path)
    await index.stage(["a"])
    assert await changed_by(tmp_path, lambda: index.unstage(["a"])) == {"index a"}
    assert (tmp_path / "a").read_text() == "1\n"


async def test_G10_an_ignored_file_and_one_outside_are_refused(tmp_path: Path) -> None:
    folder = messy(tmp_path / "repository")
    (tmp_path / "outside").write_text("x\n")
    (folder / "link").symlink_to(tmp_path)
    index = index_of(folder)
    before = state(folder)
    for name in ("ignored.log", "../outside", "link/outside", "nothing"):
        with pytest.raises(GitError):
            await index.stage([name])
    assert differences(before, state(folder)) == set()


@pytest.mark.parametrize("name", ["target", "dir/target", *ODD])
async def test_G11_a_hunk_is_staged_unstaged_and_discarded_without_the_others(
    tmp_path: Path, name: str
) -> None:
    folder = messy(tmp_path)
    index = index_of(folder)
    first, second = (await index.hunks(name, staged=False)).hunks
    assert await changed_by(folder, lambda: index.stage_hunk(name, second.digest)) == {
        f"index {name}"
    }
    staged = git(folder, "show", f":{name}")
    assert "fifty\n" in staged
    assert "five\n" not in staged
    (taken,) = (await index.hunks(name, staged=True)).hunks
    await index.unstage_hunk(name, taken.digest)
    assert git(folder, "show", f":{name}") == TEXT
    assert await changed_by(folder, lambda: index.discard_hunk(name, first.digest)) == {
        f"file {name}"
    }
    assert (folder / name).read_text() == TEXT.replace("line 50\n", "fifty\n")


async def test_G11_a_hunk_that_has_changed_since_is_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    folder = messy(tmp_path)
    index = index_of(folder)
    first, second = (await index.hunks("target", staged=False)).hunks
    (folder / "target").write_text((folder / "target").read_text().replace("five\n", "5\n"))
    before = state(folder)
    for act in (index.stage_hunk, index.discard_hunk, index.unstage_hunk):
        with pytest.raises(GitStale):
            await act("target", first.digest)
    assert differences(before, state(folder)) == set()
    await index.stage_hunk("target", second.digest)


async def test_G11_line_ends_missing_newlines_and_modes_survive(tmp_path: Path) -> None:
    folder = new_repository(tmp_path, {"dos": "a\r\nb\r\nc\r\n", "end": "a\nb"})
    (folder / "dos").write_bytes(b"a\r\nB\r\nc\r\n")
    (folder / "end").write_bytes(b"a\nB")
    (folder / "dos").chmod(0o755)
    index = index_of(folder)
    for name in ("dos", "end"):
        (hunk,) = (await index.hunks(name, staged=False)).hunks
        await index.stage_hunk(name, hunk.digest)
    git(folder, "-c", "core.autocrlf=false", "diff", "--quiet", "--exit-code", "--", "end")
    entry = git(folder, "ls-files", "--stage", "dos")
    assert entry.startswith("100644")
    (folder / "dos").chmod(0o644)
    assert git(folder, "status", "--porcelain") == "M  dos\nM  end\n"


@pytest.mark.parametrize("name", ["target", "dir/target", "partly", *ODD])
async def test_G12_discarding_a_file_loses_what_is_not_staged_in_it_and_nothing_else(
    tmp_path: Path, name: str
) -> None:
    folder = messy(tmp_path)
    index, files = index_of(folder), FilesBelow(folder)
    digest = content_digest(files, name)
    touched = await changed_by(
        folder, lambda: index.discard(name, untracked=False, content=digest, files=files)
    )
    assert touched == {f"file {name}"}
    assert (folder / name).read_text() == git(folder, "show", f":{name}")


async def test_G12_an_untracked_file_is_deleted_alone_and_a_deleted_one_comes_back(
    tmp_path: Path,
) -> None:
    folder = messy(tmp_path)
    index, files = index_of(folder), FilesBelow(folder)
    digest = content_digest(files, "untracked")
    touched = await changed_by(
        folder, lambda: index.discard("untracked", untracked=True, content=digest, files=files)
    )
    assert touched == {"file untracked"}
    digest = content_digest(files, "gone")
    await index.discard("gone", untracked=False, content=digest, files=files)
    assert (folder / "gone").read_text() == "x\n"


async def test_G12_a_file_that_has_changed_since_it_was_confirmed_is_not_discarded(
    tmp_path: Path,
) -> None:
    folder = messy(tmp_path)
    index, files = index_of(folder), FilesBelow(folder)
    digests = {name: content_digest(files, name) for name in ("target", "untracked")}
    for name in digests:
        (folder / name).write_text("work of the last second\n")
    before = state(folder)
    for name, digest in digests.items():
        with pytest.raises(GitStale):
            await index.discard(name, untracked=name == "untracked", content=digest, files=files)
    assert differences(before, state(folder)) == set()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_G13_no_change_of_the_index_runs_a_program_of_the_repository(
    tmp_path: Path, attack: Attack
) -> None:
    folder = new_repository(tmp_path / "repository", {"README.md": "hello\n", "other": "x\n"})
    marks = tmp_path / "marks"
    marks.mkdir()
    attack.prepare(folder, f"touch {marks}/ran")
    for left in marks.iterdir():
        left.unlink()  # Preparing it ran it.
    (folder / "new").write_text("new\n")
    index, files = index_of(folder), FilesBelow(folder)
    refused = []
    for path in ("README.md", "new"):
        for act in (index.stage, index.unstage):
            try:
                await act([path])
            except GitError as error:
                refused.append(str(error))
    digest = content_digest(files, "README.md")
    try:
        await index.discard("README.md", untracked=False, content=digest, files=files)
    except GitError as error:
        refused.append(str(error))
    # A filter of the repository applies, or an object is missing; else everything works.
    explained = ("filter", "promisor")
    assert all("filter" in each or attack.name.startswith(explained) for each in refused)
    assert list(marks.iterdir()) == []


async def test_G13_a_change_that_takes_too_long_leaves_no_lock_behind(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "repository")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    lock = folder / ".git" / "index.lock"
    slow.write_text(
        f"#!/bin/sh\ncase \"$*\" in *' add '*) touch {lock}; trap 'rm -f {lock}; exit 1' TERM;"
        ' sleep 60 & wait;; *) exec git "$@";; esac\n'
    )
    slow.chmod(0o755)
    repository = find_repository(folder)
    assert repository is not None
    index = GitIndex(repository, program=str(slow), deadline_s=3.0)
    with pytest.raises(GitTimeout):
        await index.stage(["README.md"])
    assert not lock.exists()


async def test_G13_the_users_own_filters_still_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_repository(
        tmp_path / "repository", {"a": "1\n", ".gitattributes": "a filter=up\n"}
    )
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[filter "up"]\n\tclean = tr a-z A-Z\n')
    monkeypatch.setenv("HOME", str(home))
    (folder / "a").write_text("hello\n")
    await index_of(folder).stage(["a"])
    assert git(folder, "show", ":a") == "HELLO\n"
    assert os.environ["HOME"] == str(home)
    commit_all(folder)
