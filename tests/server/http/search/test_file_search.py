"""File names that match some characters, and only those that the device may see."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.server.http.search.file_search import Finder, fit, folders_like
from tests.server.conftest import Served


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in (
        "README.md", "src/app/main.py", "src/app/Composer.svelte", "src/compost.txt",
        "node_modules/x/index.js", ".git/config", "build/out.js", "src/app/cache/kept.log",
        "src/app/cache/other.log", "notes.log",
    ):  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "src" / "app" / ".gitignore").write_text("!cache/kept.log\n")
    return root


def names(root: Path, letters: str = "", **options: float) -> list[str]:
    return [found.path for found in Finder(**options).find(str(root), letters, 50)[0]]  # type: ignore[arg-type]


def test_B26_what_git_ignores_is_not_found_and_what_it_keeps_is(tree: Path) -> None:
    found = names(tree)
    assert "src/app/main.py" in found
    assert "src/app/cache/kept.log" in found
    assert not [each for each in found if each.startswith(("build", ".git/", "node_modules"))]
    assert not {"notes.log", "src/app/cache/other.log"} & set(found)


def test_B26_names_near_the_root_come_first_and_folders_end_with_a_slash(tree: Path) -> None:
    found = names(tree)
    assert found[:3] == [".gitignore", "README.md", "src/"]
    assert found.index("src/app/") < found.index("src/app/main.py")


def test_B26_a_link_out_of_the_folder_is_not_followed(tree: Path) -> None:
    (tree.parent / "secret").mkdir()
    (tree.parent / "secret" / "canary.txt").write_text("")
    (tree / "away").symlink_to(tree.parent / "secret")
    (tree / "loop").symlink_to(tree)
    found = names(tree)
    assert not [each for each in found if "canary" in each or each.startswith("loop/")]


def test_B26_a_gitignore_that_is_no_file_is_passed_by(tree: Path) -> None:
    (tree / "src" / ".gitignore").symlink_to("/dev/zero")
    os.mkfifo(tree / "src" / "app" / "pipe")
    (tree / "src" / "app" / ".gitignore").unlink()
    os.mkfifo(tree / "src" / "app" / ".gitignore")
    assert "src/app/main.py" in names(tree)


def test_B26_a_name_that_would_break_the_line_is_left_out(tree: Path) -> None:
    (tree / "two\nlines.txt").write_text("")
    (tree / "right\u202etxt.exe").write_text("")
    assert not [name for name in names(tree) if "two" in name or "right" in name]


def test_B26_a_huge_tree_is_looked_at_in_part(tree: Path) -> None:
    for n in range(300):
        (tree / f"many{n}").mkdir()
        (tree / f"many{n}" / "file").write_text("")
    listing = Finder(entries=100).listing(str(tree))
    assert (len(listing.paths), listing.whole) == (100, False)
    assert "README.md" in listing.paths
    times = iter(float(n) for n in range(1000))
    assert not Finder(seconds=3.0, clock=lambda: next(times)).listing(str(tree)).whole


def test_a_tree_is_remembered_for_some_seconds(tree: Path) -> None:
    now = 0.0
    finder = Finder(fresh_s=5.0, clock=lambda: now)
    finder.listing(str(tree))
    (tree / "fresh.txt").write_text("")
    assert "fresh.txt" not in finder.listing(str(tree)).paths
    now = 6.0
    assert "fresh.txt" in finder.listing(str(tree)).paths


@pytest.mark.parametrize(
    ("letters", "first"),
    [
        ("main", "src/app/main.py"), ("comp", "src/compost.txt"), ("compsv", "src/app/Composer.svelte"),
        ("README", "README.md"), ("app/ma", "src/app/main.py"), ("sampy", "src/app/main.py"),
    ],
)  # fmt: skip
def test_the_best_name_comes_first(tree: Path, letters: str, first: str) -> None:
    assert names(tree, letters)[0] == first


def test_characters_that_do_not_match_find_nothing(tree: Path) -> None:
    assert names(tree, "zzz") == []


@given(st.text(max_size=20), st.text(max_size=40))
def test_characters_match_where_they_are_adjacent(letters: str, path: str) -> None:
    rest = iter(path.lower())
    assert (fit(letters, path) is not None) == all(each in rest for each in letters.lower())


def test_B27_folders_are_completed_below_the_roots_only(tmp_path: Path) -> None:
    for name in ("root/alpha", "root/Albatross", "root/.hidden", "root-evil/alpha"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "root" / "alone.txt").write_text("")
    root = str(tmp_path / "root")
    assert folders_like("", [root], 9) == [root]
    assert folders_like(f"{root}/al", [root], 9) == [f"{root}/Albatross", f"{root}/alpha"]
    assert folders_like(f"{root}/", [root], 1) == [f"{root}/Albatross"]
    assert folders_like(f"{root}/.h", [root], 9) == [f"{root}/.hidden"]
    assert folders_like(str(tmp_path)[:-1], [root], 9) == [root]
    for typed in (f"{tmp_path}/root-evil/", f"{root}/../root-evil/", "/etc/", "relative", "/\0"):
        assert folders_like(typed, [root], 9) == []


async def test_B26_names_are_asked_for_by_session(served: Served) -> None:
    (served.project / "a.txt").write_text("hello")
    (served.project.parent / "secret.txt").write_text("secret")
    client = await served.client()
    session = await client.new_session()
    bearer = {"authorization": f"Bearer {client.token}"}
    status, body, _ = await served.http(f"/api/sessions/{session}/names?q=txt", **bearer)
    assert status == 200
    answer = json.loads(body)
    assert answer == {"names": [{"path": "a.txt", "is_folder": False}], "whole": True}
    assert (await served.http("/api/sessions/none/names?q=a", **bearer))[0] == 404
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    assert (await served.http(f"/api/sessions/{session}/names?q=a", **viewer))[0] == 403


async def test_B27_folders_are_asked_for_by_their_beginning(served: Served) -> None:
    bearer = {"authorization": f"Bearer {await served.token('operator')}"}
    asked = f"/api/folders?path={served.project.parent}/pro"
    answer = json.loads((await served.http(asked, **bearer))[1])
    assert answer == {"folders": [str(served.project)]}
    outside = json.loads((await served.http("/api/folders?path=/etc/", **bearer))[1])
    assert outside == {"folders": []}


async def test_B63_a_folder_is_described_for_a_session_that_does_not_exist_yet(
    served: Served,
) -> None:
    (served.project / "a.txt").write_text("a")
    (served.project / ".git").mkdir()
    (served.project / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    bearer = {"authorization": f"Bearer {await served.token('operator')}"}
    names = json.loads((await served.http(f"/api/names?cwd={served.project}&q=txt", **bearer))[1])
    assert names == {"names": [{"path": "a.txt", "is_folder": False}], "whole": True}
    branch = json.loads((await served.http(f"/api/branch?cwd={served.project}", **bearer))[1])
    assert branch == {"branch": "topic"}
    for path in ("names", "branch"):
        assert (await served.http(f"/api/{path}?cwd=/etc", **bearer))[0] != 200
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    assert (await served.http(f"/api/branch?cwd={served.project}", **viewer))[0] == 403
