"""A theme: ordinary commands with redirections, in every compound form of the shell.

Each part alone is allowed, by a rule or because it only reads. What a CLI asks about is the
combination: a comment behind a redirection, a pipeline in a loop, a `cd` with an input.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.e2e.real_cli.policy.scenario import Call, PlacedRule

__all__ = ["compounds"]

_COMMANDS = (
    "ls", "ls -la src", "cat a.txt", "pwd", "git status", "git log -1", "echo hi", "echo 'a b'", "grep -n x a.txt", "wc -l a.txt", "true", "head -3 a.txt",
    "[ -f a.txt ]", "[[ -f a.txt ]]", "test -f a.txt", "find . -name x", "npm test", "make all", "mkdir -p out", "touch out.txt", "rm b.md", "cp a.txt c.txt",
    "sed -i s/a/b/ a.txt", "sort a.txt", "git diff --stat", "python3 x.py",
)  # fmt: skip
_REDIRECTIONS = (
    " 2>/dev/null", " > /dev/null", " >/dev/null 2>&1", " &>/dev/null", " 2>&1", " >&2", " 1>&2", " < a.txt", " 2>&1 >/dev/null", " >>/dev/null", " 2>>/dev/null",
    " >| /dev/null", " &>>/dev/null", " 1>/dev/null", " 0<a.txt", " <<'E'\nx\nE", " <<\"E\"\n$x\nE", " 2> /dev/null 1> /dev/null", " >& /dev/null", " 2>&1 2>/dev/null",
    " <<< x", " <<< 'a b'", " > /dev/stdout", " 2>/dev/stderr", " > out.txt", " >> out.txt", " 2> err.txt", " > out.txt 2>&1", " > src/out.txt", " >'out.txt'", " < src/a.py",
)  # fmt: skip
_JOINTS = (
    " && ", " || ", "; ", "\n", " | ", " |& ", ";\n", "&&", "||", ";", "|", " &&\n", " ;  ", " # c\n", "\n# it's\n", "\n\n", "; # x\n", " |\n", "\n  ",
)  # fmt: skip
_CONDITIONS = (
    "if {a}; then {b}; fi", "if {a}\nthen\n  {b}\nfi", "if {a}; then {b}; else {c}; fi", "if ! {a}; then {b}; elif {c}; then {a}; fi", "while {a}; do {b}; done",
    "until {a}; do {b}; done", "while {a}\ndo\n{b}\ndone", "for x in 1 2; do {b}; done", "! {a}", "if {a}; then {b}; fi && {c}", "if {a}; then {b}; fi | {c}", "{a} && {b} || {c}",
)  # fmt: skip
_ENDS = (" # c", " #c", " # don't", ' # "x', " # $(x)", "\n#", "\n# c", " #", " \\\n", " ;", "\n", " #'#", " ", "\t", " \\\n -x")  # fmt: skip
_STARTS = ("# c\n", "#!/bin/bash\n", "\n", " ", "\t", "  \n", "# a\n# b\n", "set -e\n", "# it's\n")
_FOLDERS = ("src", "./src", "src/", "'src'", '"src"', "@P/src", "@P", "docs", "src/up", ".")
_FILTERS = (
    "xargs", "xargs echo", "xargs -n 1 grep x", "xargs wc -l", "xargs -0 head", "xargs -r tail", "xargs -t echo a", "xargs cat", "sort | uniq -c", "tee /dev/null", "tee out.txt",
    "cat", "cat -", "head -5", "tail -n +2", "wc -l", "grep -v x", "cut -d, -f1", "tr a b", "sort -u", "awk 1", "jq .", "sed -n 1p", "rev", "tac", "nl", "column -t", "less", "xxd", "base64",
)  # fmt: skip
_TESTS = (
    "[ -n x ]", "[ a = b ]", "[ a == b ]", "[ ! -f x ]", "[ 1 -eq 1 ]", "[[ a == b ]]", "[[ a != b ]]", "[[ -n x ]]", "[[ ! -f x ]]", "[[ a < b ]]", "[[ a =~ b ]]", "[[ 1 -eq 1 ]]",
    "test a = b", "test 1 -lt 2", "test ! -d x", "[ x ]", "[[ x ]]", "test", "[ ]", "[ a -nt b ]", "[ -f /etc/passwd ]", "[ -f ../x ]", "[[ -f ~/x ]]", "test -f @O/x.txt",
    "[ 'a b' = \"a b\" ]", "[ -z '' ]", "[ -z \"\" ]", "[[ 10 -gt 9 ]]", "[ -t 1 ]", "[ -s a.txt ]", "[ -L a.txt ]",
)  # fmt: skip
_PREFIXES = (
    "time ", "nice ", "nohup ", "command ", "builtin ", "timeout 5 ", "timeout 1.5 ", "nice -n 5 ", "stdbuf -oL ", "LANG=C ", "NO_COLOR=1 ", "TZ=UTC ", "CI=1 ", "time -p ", "env ",
    "LC_ALL=C.UTF-8 ", "timeout --foreground 5 ", "command -p ", "command -- ", "TERM=xterm LANG=C ",
)  # fmt: skip
_RULES: tuple[PlacedRule, ...] = (
    ("user", "allow", "Bash(npm test:*)"),
    ("user", "allow", "Bash(make *)"),
    ("user", "allow", "Bash(python3:*)"),
    ("local", "allow", "Edit(src/**)"),
    ("user", "allow", "Edit(out.txt)"),
    ("user", "deny", "Bash(curl:*)"),
    ("user", "deny", "Read(.env)"),
)


def compounds(dice: random.Random) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Compound commands whose parts are allowed."""
    rules = tuple(rule for rule in _RULES if dice.random() < 0.6)
    mode = dice.choice(("default", "default", "acceptEdits", "acceptEdits", "dontAsk"))
    return rules, mode, lambda _: Call("Bash", {"command": _line(dice), "description": "d"})


def _command(dice: random.Random) -> str:
    redirection = dice.choice(_REDIRECTIONS) if dice.random() < 0.6 else ""
    return dice.choice(_COMMANDS) + redirection


def _line(dice: random.Random, depth: int = 0) -> str:
    if depth > 1 or dice.random() < 0.3:
        return _command(dice)
    return dice.choice(_FORMS)(dice, depth + 1)


def _joined(dice: random.Random, depth: int) -> str:
    return _line(dice, depth) + dice.choice(_JOINTS) + _line(dice, depth)


def _condition(dice: random.Random, depth: int) -> str:
    form = dice.choice(_CONDITIONS)
    for mark in ("{a}", "{b}", "{c}"):
        form = form.replace(mark, _line(dice, depth) if mark == "{b}" else _command(dice))
    return form


def _ended(dice: random.Random, depth: int) -> str:
    return _line(dice, depth) + dice.choice(_ENDS)


def _started(dice: random.Random, depth: int) -> str:
    return dice.choice(_STARTS) + _line(dice, depth)


def _moved(dice: random.Random, depth: int) -> str:
    joint = dice.choice((" && ", "; ", " || ", "\n"))
    return f"cd {dice.choice(_FOLDERS)}{joint}{_command(dice)}"


def _filtered(dice: random.Random, depth: int) -> str:
    return f"{_command(dice)} | {dice.choice(_FILTERS)}"


def _tested(dice: random.Random, depth: int) -> str:
    follows = dice.choice(("", " && ", " || ", "; "))
    return dice.choice(_TESTS) + (follows + _command(dice) if follows else "")


def _prefixed(dice: random.Random, depth: int) -> str:
    return dice.choice(_PREFIXES) + _command(dice)


_FORMS: tuple[Callable[[random.Random, int], str], ...] = (
    _joined, _joined, _condition, _condition, _ended, _started, _moved, _filtered, _tested, _prefixed,
)  # fmt: skip
