"""Documents, sources and the user interface use no word that a reader has to look up.

The words below come from idioms that were once common in this repository; each has a plain one.
CONTRIBUTING.md says how we write.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUFFIXES = {".py", ".ts", ".svelte", ".md"}

PLAIN = {
    "anew": "again",
    "whoever": "the user, the client",
    "somebody": "a user, a client",
    "for ever": "forever",
    "goes on": "continues",
    "mend": "fix",
    "the like of": "similar",
    "who comes": "a new client",
    "stands here": "is here",
    "made again": "created again",
    "so many of": "n",
}
"""Idiom -> a plain word in its place."""
FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
FOLDERS = ("src/fairlead", "web/src", "docs", "bench")


def written() -> list[tuple[str, str]]:
    """The name and text of every file that readers see."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    paths = [path for path in paths if path.suffix in SUFFIXES and "out" not in path.parts]
    paths += [ROOT / name for name in FILES]
    return [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths]


WRITTEN = written()


@pytest.mark.parametrize("idiom", PLAIN)
def test_no_text_uses_an_idiom_that_has_a_plain_word(idiom: str) -> None:
    pattern = re.compile(rf"\b{idiom}s?\b", re.IGNORECASE)
    used = [name for name, text in WRITTEN if pattern.search(text)]
    assert used == [], f"write {PLAIN[idiom]!r} instead of {idiom!r}"


def test_the_texts_are_found() -> None:
    names = {name for name, _ in WRITTEN}
    assert {"README.md", "docs/server.md", "src/fairlead/live.py", "web/src/view/keys.ts"} <= names
