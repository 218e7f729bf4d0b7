"""Removals that the CLI asks about in every mode and in spite of every allow rule.

`rm` and `rmdir` of the root, a home folder, the working directory, a folder above one of them or a
top-level folder ask (measured on 2.1.38 and 2.1.325). A target that is known only when the command
runs may be one of these, so the answer for it is uncertain. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from enum import Enum

from fairlead.permissions.rules.paths import PathContext, spellings
from fairlead.permissions.shell.commands import CommandLine
from fairlead.permissions.shell.wrappers import deny_views

__all__ = ["Removal", "removal_in"]

_REMOVERS = frozenset(("rm", "rmdir"))
_MENTION = re.compile(r"(?<![\w.-])rm(?:dir)?(?![\w.-])", re.IGNORECASE)
_UNCLEAR = re.compile(r"[$`*?\[\]{}\\()<>|;&\"']|\s|:")
"""Characters in a target that a shell, or another system's shell, may turn into something else."""
_FINAL_STARS = re.compile(r"/*+(?:\*++/++)++")
"""`/*` or `/*/**/` at the end of a path, read backwards: forwards it would take quadratic time."""


class Removal(Enum):
    """How the CLI treats the removals of a command line."""

    NONE = "none"
    PLAIN = "plain"
    UNCLEAR = "unclear"
    DANGEROUS = "dangerous"


def removal_in(line: CommandLine, place: PathContext) -> Removal:
    """The most dangerous removal of the line."""
    kinds = [_kind(target, line, place) for target in _targets(line)]
    if Removal.DANGEROUS in kinds:
        return Removal.DANGEROUS
    bare = line.text.replace("\\", "").replace("'", "").replace('"', "")
    mentioned = _MENTION.search(line.text) or _MENTION.search(bare)
    if Removal.UNCLEAR in kinds or (mentioned and (line.doubts or not kinds)):
        return Removal.UNCLEAR
    return Removal.PLAIN if kinds else Removal.NONE


def _targets(line: CommandLine) -> Iterator[str]:
    for command in line.everything:
        for words in deny_views(command):
            if posixpath.basename(words[0]).lower() in _REMOVERS:
                yield from _operands(words[1:])


def _operands(words: tuple[str, ...]) -> Iterator[str]:
    ended = False
    for word in words:
        if word == "--" and not ended:
            ended = True
        elif ended or not word.startswith("-"):
            yield word


def _kind(target: str, line: CommandLine, place: PathContext) -> Removal:
    stem = _without_final_stars(target)
    if (
        stem.startswith("//")
        or _UNCLEAR.search(stem)
        or (target.startswith("~") and not re.match(r"~(?:/|$)", target))
    ):
        bare = target.strip("\"'").rstrip("/")
        return Removal.DANGEROUS if bare in ("$HOME", "${HOME}", "*") else Removal.UNCLEAR
    if stem != target and not stem:
        stem = "/"
    relative = not stem.startswith(("/", "~"))
    if relative and any(words.words and words.words[0].value == "cd" for words in line.everything):
        return Removal.UNCLEAR
    if any(_is_critical(path, place) for path in spellings(stem, place)):
        return Removal.DANGEROUS
    return Removal.PLAIN if stem == target else Removal.UNCLEAR


def _is_critical(path: str, place: PathContext) -> bool:
    """Whether the path is a top-level folder, or is or contains the home or working directory."""
    if path.count("/") < 2:
        return True
    return any(
        own == path or own.startswith(path + "/")
        for folder in (place.home, place.cwd)
        for own in spellings(folder, place)
    )


def _without_final_stars(target: str) -> str:
    final = _FINAL_STARS.match(target[::-1])
    return target if final is None else target[: len(target) - final.end()]
