"""No regular expression of the package takes more than linear time, and each one is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.timing.generators import Generator
from tests.timing.growth import grows_badly
from tests.timing.patterns import Found, found_patterns

PATTERNS = found_patterns()
SIZE = 64 * 1024
LISTED = Path(__file__).with_name("patterns.txt").read_text().splitlines()


def test_R14_every_pattern_is_listed() -> None:
    """A new one is looked at by a person, then `python -m tests.timing.patterns` lists it."""
    assert [pattern.listed for pattern in PATTERNS] == LISTED


def test_the_patterns_are_found() -> None:
    assert any("token" in pattern.pattern for pattern in PATTERNS)


def use(found: Found) -> Callable[[str], Any]:
    compiled = re.compile(found.pattern, found.flags)

    def run(text: str) -> None:
        for method in found.methods:
            function = getattr(compiled, method)
            if method in ("sub", "subn"):
                function("", text)
            elif method == "finditer":
                list(function(text))
            else:
                function(text)

    return run


def adversarial(pattern: str) -> dict[str, Generator]:
    """Runs of what the pattern itself speaks of, and of pairs of these."""
    plain = re.sub(r"\(\?[a-zA-Z:=!<]+|\\[bBAZdDwWsS]|[\^$]", " ", pattern)
    literals = re.findall(r"[^\s()\[\]{}?*+|\\]{1,24}", plain)
    classes = [
        "a",
        "0",
        " ",
        "\n",
        "-",
        "_",
        ".",
        "/",
        '"',
        "'",
        "\\",
        "<",
        ">",
        "{",
        ",",
        "*",
        "|",
    ]
    units = list(dict.fromkeys([*literals[:8], *classes]))
    found = {f"{unit!r}": repeated("", unit) for unit in units}
    for first in literals[:6]:
        for second in (" ", "a", "\n", "-", *literals[:4]):
            found[f"{first + second!r}"] = repeated("", first + second)
            found[f"{first!r} then {second!r}"] = repeated(first, second)
    return found


def repeated(head: str, unit: str) -> Generator:
    return lambda size: head + unit * (size // len(unit)) + "\x00"


@pytest.mark.matrix(target="faults", cases=40)
@pytest.mark.parametrize("found", PATTERNS, ids=[pattern.listed for pattern in PATTERNS])
def test_R14_no_pattern_takes_more_than_linear_time(found: Found) -> None:
    bad = {}
    for name, text in adversarial(found.pattern).items():
        problem = grows_badly(use(found), text, SIZE)
        if problem is not None:
            bad[name] = problem
    assert not bad
