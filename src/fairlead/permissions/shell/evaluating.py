"""Arguments with which a program runs other programs, reads files or changes variables.

The CLI asks about such a command although an allow rule such as `Bash(awk:*)` covers it (CLI-345).
Pure data and one function.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

__all__ = ["asks_under_every_rule", "names_stat_variable"]

_COMPARISONS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NUMBER = re.compile(r"-?\d+")
_AWK_RUNS = re.compile(r"system\s*\(|\||@load|@include|\bgetline\b")
_AWK_FILES = re.compile(r"-[fieElL].*|--(?:file|include|load|source|exec)(?:=.*)?", re.DOTALL)
_JQ_FILES = re.compile(
    r"-[a-eg-zA-KM-Z]*[fL][a-zA-Z]*|--(?:from-file|rawfile|slurpfile|argfile|library-path)(?:=.*)?",
    re.DOTALL,
)
_JQ_MODULES = re.compile(r"\b(?:import|include|input_filename|system)\b")


def asks_under_every_rule(words: Sequence[str]) -> bool:
    """Whether no allow rule covers the command because of its arguments."""
    names = [posixpath.basename(word) for word in words]
    return any(
        check(words[position + 1 :])
        for position, name in enumerate(names)
        if (check := _CHECKS.get(name)) is not None
    )


def _awk(arguments: Sequence[str]) -> bool:
    return any(_AWK_RUNS.search(word) or _AWK_FILES.fullmatch(word) for word in arguments)


def _test(arguments: Sequence[str]) -> bool:
    if {"-a", "-o", "-v", "-R"}.intersection(arguments):
        return True
    for position, word in enumerate(arguments):
        if word in _COMPARISONS:
            sides = (*arguments[max(0, position - 1) : position], *arguments[position + 1 :][:1])
            if not all(map(_NUMBER.fullmatch, sides)):
                return True
    return False


def _jq(arguments: Sequence[str]) -> bool:
    return any(_JQ_FILES.fullmatch(word) or _JQ_MODULES.search(word) for word in arguments)


def _printf(arguments: Sequence[str]) -> bool:
    return any(word.startswith("-v") or "[" in word for word in arguments)


def _cd(arguments: Sequence[str]) -> bool:
    return len(arguments) != 1 or arguments[0] == "--"


def _find(arguments: Sequence[str]) -> bool:
    return any(word.startswith("-files0-from") for word in arguments)


def _stat(arguments: Sequence[str]) -> bool:
    # In zsh, `stat -A name` and `stat -H name` set a variable (CLI-1717).
    return any(map(names_stat_variable, arguments))


def _always(arguments: Sequence[str]) -> bool:
    return True


_CHECKS: dict[str, Callable[[Sequence[str]], bool]] = {
    "[": _test,
    "[[": _test,
    "awk": _awk,
    "cd": _cd,
    "find": _find,
    "gawk": _awk,
    "jq": _jq,
    "mawk": _awk,
    "nawk": _awk,
    "printf": _printf,
    "read": _always,
    "shopt": _always,
    "stat": _stat,
    "test": _test,
}


def names_stat_variable(option: str) -> bool:
    """Whether an option of stat, or one of several in one word, is `-A` or `-H`.

    What follows `-c` is its format.
    """
    if option[:1] != "-" or option[1:2] in ("", "-", "c"):
        return False
    return "A" in option or "H" in option
