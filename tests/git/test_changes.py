"""What changed in a working tree, on real repositories (docs/git.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.git import ChangedFile, Changes, Patch, changes_since, file_patch
from fairlead.git.changes import branches, merge_base
from tests.git.repositories import FilesBelow, commit_all, git, new_repository, reader_of
from tests.matrix import examples

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


async def changes_of(folder: Path, base: str | None = None) -> Changes:
    return await changes_since(reader_of(folder), base, FilesBelow(folder))


async def patch_of(folder: Path, changes: Changes, path: str, **options: Any) -> Patch:
    (file,) = (file for file in changes.files if file.path == path)
    return await file_patch(reader_of(folder), changes.base, file, FilesBelow(folder), **options)


def by_path(changes: Changes) -> dict[str, ChangedFile]:
    return {file.path: file for file in changes.files}


async def test_G5_every_kind_of_change_is_listed_with_its_lines(tmp_path: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    folder = new_repository(
        tmp_path / "r", {"edited": "1\n2\n3\n", "gone": "x\n", "old": long, "link": "file\n"}
    )
    start = git(folder, "rev-parse", "HEAD").strip()
    (folder / "edited").write_text("1\ntwo\n3\n4\n")
    (folder / "gone").unlink()
    git(folder, "mv", "old", "new name")
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "staged").write_text("s\n")
    git(folder, "add", "staged")
    (folder / "picture.png").write_bytes(PNG)
    (folder / "notes").write_text("a\nb")
    changes = await changes_of(folder)
    assert changes.base == changes.status.commit == start
    assert changes.status.branch == "main"
    shown = {path: (file.kind, file.added, file.removed) for path, file in by_path(changes).items()}
    assert shown == {
        "edited": ("modified", 2, 1),
        "gone": ("deleted", 0, 1),
        "link": ("type_changed", 1, 1),
        "new name": ("renamed", 0, 0),
        "notes": ("untracked", 2, 0),
        "picture.png": ("untracked", None, None),
        "staged": ("added", 1, 0),
    }
    assert by_path(changes)["new name"].old_path == "old"
    assert by_path(changes)["picture.png"].binary
    # The target of a link is its content; the file that it leads to is not read.
    link = await patch_of(folder, changes, "link")
    assert link.hunks
    assert not any("root:" in line.text for hunk in link.hunks for line in hunk.lines)


async def test_G5_commits_since_the_base_count_and_the_base_can_be_a_branch(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1\n"})
    start = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "switch", "--quiet", "--create", "work")
    (folder / "b").write_text("2\n")
    commit_all(folder)
    (folder / "c").write_text("3\n")
    assert [file.path for file in (await changes_of(folder)).files] == ["c"]
    assert [file.path for file in (await changes_of(folder, start)).files] == ["b", "c"]
    git(folder, "switch", "--quiet", "main")
    (folder / "c").unlink()
    (folder / "d").write_text("4\n")
    commit_all(folder)
    git(folder, "switch", "--quiet", "work")
    reader = reader_of(folder)
    assert await merge_base(reader, "main") == start
    assert await merge_base(reader, "no such branch") is None
    assert await merge_base(reader, "--all") is None
    assert set(await branches(reader)) == {"main", "work"}


async def test_G5_a_repository_without_a_commit_has_only_new_files(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "a").write_text("1\n")
    (folder / "b").write_text("2\n")
    git(folder, "add", "b")
    changes = await changes_of(folder)
    assert changes.status.commit is None
    assert [(file.path, file.kind) for file in changes.files] == [
        ("a", "untracked"),
        ("b", "added"),
    ]
    patch = await patch_of(folder, changes, "b")
    assert [(line.kind, line.new, line.text) for line in patch.hunks[0].lines] == [("+", 1, "2")]


ODD = (
    "line\nbreak",
    "tab\there",
    "\x1b[31mred",
    'quo"te',
    "back\\slash",
    "-rf",
    ":(top)x",
    "ü",
    "*",
)


async def test_G5_any_file_name_is_listed_and_its_patch_is_found(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", dict.fromkeys(ODD, "1\n"))
    (folder / os.fsdecode(b"\xff\xfe")).write_text("1\n")
    commit_all(folder)
    names = {*ODD, os.fsdecode(b"\xff\xfe")}
    for name in names:
        (folder / name).write_text("2\n")
    changes = await changes_of(folder)
    assert set(by_path(changes)) == names
    for name in names:
        patch = await patch_of(folder, changes, name)
        assert [(line.kind, line.text) for line in patch.hunks[0].lines] == [("-", "1"), ("+", "2")]


async def test_G5_a_large_file_and_a_long_patch_are_cut(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"long": "x\n", "huge": "x\n"})
    (folder / "long").write_text("".join(f"{number}\n" for number in range(10_000)))
    with (folder / "huge").open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    with (folder / "untracked").open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    changes = await changes_of(folder)
    assert by_path(changes)["huge"].binary
    assert by_path(changes)["untracked"].added is None
    patch = await patch_of(folder, changes, "long", most_lines=100)
    assert patch.cut
    assert sum(len(hunk.lines) for hunk in patch.hunks) == 100
    assert (await patch_of(folder, changes, "untracked")).binary


@pytest.mark.matrix(target="faults", cases=0)
async def test_G5_the_beginning_of_a_large_new_file_is_shown_and_a_large_one_compared_on_request(
    tmp_path: Path,
) -> None:
    text = "".join(f"line {number}\n" for number in range(800_000))  # More than 8 MiB.
    folder = new_repository(tmp_path / "r", {"big.log": text})
    (folder / "big.log").write_text(text.replace("line 700000\n", "changed\n"))
    (folder / "new.log").write_text(text)
    with (folder / "huge").open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    git(folder, "add", "huge")
    changes = await changes_of(folder)
    new = await patch_of(folder, changes, "new.log", most_lines=50_000)
    assert (new.cut, new.binary, new.size) == (True, False, len(text))
    assert len(new.hunks[0].lines) == 50_000
    whole = await patch_of(folder, changes, "new.log", most_lines=10**9)
    assert whole.cut
    assert all(line.text == f"line {at}" for at, line in enumerate(whole.hunks[0].lines))
    big = await patch_of(folder, changes, "big.log")
    assert (big.hunks, big.binary, big.size) == ((), True, len(text) - 4)
    big = await patch_of(folder, changes, "big.log", large=True)
    assert [(line.kind, line.text) for line in big.hunks[0].lines if line.kind != " "] == [
        ("-", "line 700000"), ("+", "changed"),
    ]  # fmt: skip
    huge = await patch_of(folder, changes, "huge", large=True)
    assert (huge.hunks, huge.binary, huge.size) == ((), True, 500 * 1024 * 1024)


async def test_G5_too_many_untracked_files_are_shown_as_their_folders(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r")
    (folder / "many").mkdir()
    for number in range(300):
        (folder / "many" / f"{number:0100}").touch()
    changes = await changes_since(reader_of(folder), None, FilesBelow(folder), limit=20_000)
    assert changes.folded
    assert [file.path for file in changes.files] == ["many/"]


TEXTS = st.lists(
    st.sampled_from(["a", "b", "", "}", "@@ -1 +1 @@", "\\ x", "-", "+x"]), max_size=30
)


@settings(max_examples=examples(40), deadline=None)
@given(before=TEXTS, after=TEXTS, ended=st.booleans(), context=st.sampled_from([0, 3, 100]))
async def test_G6_the_lines_of_a_patch_rebuild_both_sides(
    before: list[str],
    after: list[str],
    ended: bool,
    context: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = new_repository(tmp_path_factory.mktemp("law"), {"f": "\n".join(before) + "\n"})
    new = "\n".join(after) + ("\n" if ended else "")
    (folder / "f").write_text(new)
    changes = await changes_of(folder)
    if not changes.files:
        assert new == "\n".join(before) + "\n"
        return
    patch = await patch_of(folder, changes, "f", context=context)
    lines = [line for hunk in patch.hunks for line in hunk.lines]
    old_side = ("\n".join(before) + "\n").split("\n")
    new_side = new.split("\n")
    for line in lines:
        if line.old is not None:
            assert old_side[line.old - 1] == line.text
        if line.new is not None:
            assert new_side[line.new - 1] == line.text
        assert (line.kind == "-") == (line.new is None)
        assert (line.kind == "+") == (line.old is None)
    (file,) = changes.files
    assert sum(line.kind == "+" for line in lines) == file.added
    assert sum(line.kind == "-" for line in lines) == file.removed
    if context == 100:
        rebuilt = "".join(line.text + "\n" * line.newline for line in lines if line.new is not None)
        assert rebuilt == new
