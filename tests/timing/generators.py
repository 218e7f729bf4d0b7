"""Texts that make careless parsers slow: long runs, repeated openings, nested pairs, mutations.

Each is a function of a length, so that the time for n, 2n and 4n characters can be compared.
Seeded: the same text every time.
"""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["Generator", "generators"]

Generator = Callable[[int], str]

UNITS = (
    "a", " ", "\n", "\t", "\\", "*", "?", "[", "(", "{", "<", ">", "|", "/", ".", "-", "_", "=",
    ",", ":", ";", "'", '"', "`", "$", "#", "!", "@", "&", "%", "0", "é", "\u202e", "a b", "a\n",
    "()", "[]", "{}", "<a>", "a/", "../", "**/", "*a", "a;", "a|", "a&&", "$(", "${", "\\\n", "~/",
    "{,", "[!a]*", "token", "token=", "eyJ-", "Session ID ", "bearer ", "sk-", "<command-name>",
    "<status>", "<local-command-stdout>", "| ", "|1k|", "**Tokens:** ", "\x1b[", "\x1b[31m",
    "//", "/*", "cd a;", "xargs ", "sudo ", "find -exec ", "bash -c ", "a=(", "domain:*.", "a.",
)  # fmt: skip
PAIRS = (
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<a>", "</a>"),
    ("$(", ")"),
    ("'", "'"),
    ('{"a":', "}"),
)
HEADS = ("", "a", '"', "'", "[", "<", "Bash(", "domain:", "https://", "!", "# ", "/", "-")


def _repeated(head: str, unit: str, tail: str) -> Generator:
    return lambda size: head + unit * (size // len(unit)) + tail


def _nested(opening: str, closing: str) -> Generator:
    def text(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return text


def _mixed(seed: int) -> Generator:
    """Four units in random order; a text of any size begins and ends in the same way."""

    def text(size: int) -> str:
        chance = random.Random(seed)
        units = chance.sample(UNITS, 4)
        end = chance.choice(units)
        return "".join(chance.choices(units, k=size // 2))[: size - len(end)] + end

    return text


def generators(mixtures: int, seed: int = 0) -> dict[str, Generator]:
    """All generators by name, with this number of random mixtures of units."""
    texts: dict[str, Generator] = {}
    for unit in UNITS:
        texts[f"{unit!r} repeated"] = _repeated("", unit, "")
        texts[f"{unit!r} repeated, then another end"] = _repeated("", unit, "\x00b")
    for head in HEADS:
        for unit in ("a", " ", "\n", "a-", "a.", "\\", "*a"):
            texts[f"{head!r}, then {unit!r}"] = _repeated(head, unit, "!")
    for opening, closing in PAIRS:
        texts[f"{opening!r} nested"] = _nested(opening, closing)
    for number in range(mixtures):
        texts[f"mixture {seed + number}"] = _mixed(seed + number)
    return texts
