"""Gitignore patterns: the same answers as git gives, in linear time."""

from __future__ import annotations

import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from fairlead.permissions.rules.gitignore import IgnoreList, PathPattern, compiled

NAMES = (
    "a",
    "b",
    "ab",
    "aab",
    "abc",
    "a.c",
    "b.txt",
    "foo",
    "x*y",
    "[q]",
    "#h",
    "!n",
    "sp ace",
    "B",
)
PIECES = (
    "a", "b", "ab", "foo", "*", "**", "?", "*.c", "*.txt", "[ab]", "[!a]", "[^b]", "[a-c]", "a*b",
    "*a*", "**/", "/**", "/", "\\*", "\\[q]", "[[:alpha:]]", "[[:upper:]]", "[]a]", "[", "\\#h",
    "[a-", "???", "*a*b*", "#h", " ", "\\ ", "[\\]a]", "[a-a]", "***", "[[:nope:]]", "x\\*y",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A repository, and its files and folders."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    paths = []
    for first in NAMES:
        (root / first).mkdir()
        paths.append(first)
        for second in NAMES[:7]:
            if (len(first) + len(second)) % 3:
                (root / first / second).touch()
            else:
                (root / first / second).mkdir()
                (root / first / second / "b.txt").touch()
                (root / first / second / "foo").touch()
                paths += [f"{first}/{second}/b.txt", f"{first}/{second}/foo"]
            paths.append(f"{first}/{second}")
    return root, paths


def gits(root: Path, paths: list[str], text: str) -> set[str]:
    (root / ".gitignore").write_text(text)
    ran = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(paths).encode() + b"\0",
        capture_output=True,
        timeout=60,
        check=False,
    )
    return {entry for entry in ran.stdout.decode().split("\0") if entry}


def ours(root: Path, paths: list[str], text: str) -> set[str]:
    known = IgnoreList(text)
    found = set()
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            if known.verdict(part, is_dir=(root / part).is_dir()):
                found.add(path)  # What is below an ignored folder is ignored.
                break
    return found


def written(seed: int) -> str:
    chance = random.Random(seed)
    lines = []
    for _ in range(chance.choice((1, 1, 2, 4))):
        line = "".join(chance.choices(PIECES, k=chance.randint(1, 5)))
        # `/a**` depends on git's version: some cut the plain prefix off before they look around.
        line = re.sub(r"(?<=[^/*])\*{2,}", "*", line)
        if chance.random() < 0.2:
            line = "!" + line
        lines.append(line + chance.choice(("", "", "", " ", "/", "\r")))
    if chance.random() < 0.3:
        lines.insert(0, chance.choice(("*", "a*", "foo", "/ab/")))
    return "\n".join(lines) + chance.choice(("", "\n"))


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("start", range(0, 400, 100))
def test_P56_generated_patterns_mean_what_git_says(
    tree: tuple[Path, list[str]], start: int
) -> None:
    root, paths = tree
    different = {}
    for seed in range(start, start + 100):
        text = written(seed)
        want, have = gits(root, paths, text), ours(root, paths, text)
        if want != have:
            different[text] = sorted(want ^ have)[:5]
    assert not different


@pytest.mark.parametrize(
    "text",
    ["a/**/b.txt", "**/foo", "foo/**", "/a", "a/", "**", "/**", "**/", "a/*/foo", "/*/b", "!a\n*",
     "*\n!*/\n!foo", "a\\", "a \\ ", "\ufeffa", "a/**/**/foo", "***/foo", "ab/***", "[!/]b", "a[/]b"],
)  # fmt: skip
def test_P56_chosen_patterns_mean_what_git_says(tree: tuple[Path, list[str]], text: str) -> None:
    root, paths = tree
    assert ours(root, paths, text) == gits(root, paths, text)


def test_P56_a_pattern_covers_what_is_below_its_match() -> None:
    assert compiled("src/*.d").covers("src/x.d/deep/file")
    assert compiled("build").covers("a/build/b")
    assert not compiled("src/*.d").covers("other/src/x.d")
    assert compiled("**/a/**/b").covers("x/a/b/c")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 14 + "b", "a" * 200),
        ("*a" * 2_000 + "b", "a" * 4_000),
        ("**/a" * 1_000 + "/b", "a/" * 2_000 + "a"),
        ("?*" * 2_000 + "b", "a" * 4_000),
        ("[a-z]*" * 600 + "0", "a" * 4_000),
        ("/*" * 2_000 + "b", "a/" * 2_000 + "a"),
        ("**/*a" * 800 + "b", "a/" * 2_000 + "a"),
        ("[" * 4_000, "[" * 4_000),
        ("*" * 4_000 + "b", "a" * 4_000),
    ],
)
def test_P56_no_pattern_takes_long(pattern: str, path: str) -> None:
    before = time.process_time()
    assert not PathPattern(pattern).matches(path, is_dir=False)
    assert not compiled(pattern + "x").covers(path)
    assert time.process_time() - before < 0.5
