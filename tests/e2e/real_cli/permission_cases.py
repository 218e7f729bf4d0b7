"""Generated rule sets, modes and calls, the same in every run: what the policy is tried on.

A group is one process of the CLI: rules spread over the scopes, a mode, and calls one after the
other. Everything is harmless: programs are stand-ins that print a word, files lie below the
folder of the test, and whatever asks is denied. `@P` stands for the project, `@O` for a folder
beside it, `@H` for the home.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

__all__ = ["GROUPS", "STAND_INS", "Call", "Group"]

STAND_INS = ("npm", "make", "lint", "deploy", "npmx", "sudo")
"""Programs that only print their name, found before any real one."""

GROUP_COUNT = 24
CALLS_PER_GROUP = 14
PLAN_CALLS = 6
"""Fewer while planning: 2.1.325 gives a turn up after ten refusals of its classifier."""

BASH_RULES = (
    "Bash(npm:*)", "Bash(npm run *)", "Bash(npm run build)", "Bash(make)", "Bash(make:*)",
    "Bash(lint *)", "Bash(deploy:*)", "Bash(* --version)", "Bash(git push:*)", "Bash(rm:*)",
    "Bash(touch:*)", "Bash(ls:*)", "Bash(cat:*)", "Bash(echo hi)", "Bash(npm test && make)",
)  # fmt: skip
FILE_RULES = (
    "Read(./secret.txt)", "Read(src/**)", "Read(/src/**)", "Read(/@O/**)", "Edit(src/**)",
    "Edit(/docs/**)", "Read(.env)", "Edit(/@O/**)", "Read(~/notes.txt)", "Edit(*.md)",
)  # fmt: skip
WHOLE_RULES = ("Bash", "Write", "Read", "WebFetch", "WebFetch(domain:example.invalid)")
FLAG_RULES = ("Bash(npm:*)", "Bash(make:*)", "Bash(lint:*)", "WebFetch(domain:example.invalid)")

COMMANDS = (
    "npm test", "npm run build", "npm run", "npm", "npmx test", "npm --version", "make", "make all",
    "lint src", "lint", "deploy now", "git push origin", "git status", "git log --oneline", "ls",
    "ls -la src", "cat a.txt", "cat secret.txt", "cat @O/x.txt", "cat .env", "echo hi", "pwd",
    "grep x secret.txt", "head src/a.py", "find . -name a.txt", "sed -n 1p a.txt", "wc -l a.txt",
    "cat ~/notes.txt", "ls @O", "cat src/../secret.txt", "sort a.txt", "ls ..", "which ls",
)  # fmt: skip
EDITS = ("rm old{n}.txt", "touch new{n}.txt", "mkdir dir{n}", "touch @O/t{n}", "touch src/t{n}")
SHAPES = (
    "{a}", "{a}", "{a}", "{a} && {b}", "{a}; {b}", "{a} | {b}", "{a} || {b}", "{a}\n{b}",
    "{a} > out{n}.txt", "{a} > src/out{n}.txt", "{a} 2>/dev/null", "{a} 2>&1", "timeout 5 {a}",
    "FOO=1 {a}", "NODE_ENV=test {a}", "{a} $(whoami)", "({a})", "{a} &", "env {a}", "nohup {a}",
    "{a} 'x;y'", "{a} `whoami`", "sudo {a}", "{a} > @O/out{n}.txt", "bash -c '{a}'", "! {a}",
    "{a} # why", "if true; then {a}; fi", "time {a}", "{a} <<'E'\nhi\nE", '{a} "$HOME"',
)  # fmt: skip
READS = (
    "@P/a.txt",
    "@P/secret.txt",
    "@P/src/a.py",
    "@O/x.txt",
    "@H/notes.txt",
    "@P/.env",
    "@P/link/x.txt",
)
WRITES = (
    "@P/w{n}.txt",
    "@P/src/w{n}.py",
    "@O/w{n}.txt",
    "@P/docs/w{n}.md",
    "@P/.git/w{n}",
    "@P/.bashrc",
)
URLS = (
    "https://example.invalid/a",
    "https://www.example.invalid/",
    "https://example.invalid.evil.invalid/",
)
MODES = ("default", "default", "acceptEdits", "dontAsk", "bypassPermissions", "plan")
PLACES = ("user", "project", "local", "flag")

QUESTION = {
    "questions": [
        {
            "question": "q?",
            "header": "H",
            "multiSelect": False,
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
        }
    ]
}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and its input, with placeholders."""

    tool: str
    input: dict[str, Any]

    def __str__(self) -> str:
        return str(self.input.get("command") or f"{self.tool} {self.input}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What one process is tried on."""

    number: int
    mode: str
    rules: tuple[tuple[str, str, str], ...]
    """Where (user, project, local, flag, allowedTools), behavior, rule."""
    calls: tuple[Call, ...]

    def __str__(self) -> str:
        return f"{self.number:02}-{self.mode}"


def _command(dice: random.Random, mode: str, number: int) -> str:
    shape = dice.choice(SHAPES)
    first, second = dice.choice(COMMANDS), dice.choice(COMMANDS)
    if dice.random() < 0.15:
        first, shape = dice.choice(EDITS), "{a}"
    return shape.replace("{a}", first).replace("{b}", second).replace("{n}", str(number))


def _call(dice: random.Random, mode: str, number: int) -> Call:
    kind = dice.random()
    if kind < 0.66:
        command = _command(dice, mode, number)
        return Call("Bash", {"command": command, "description": "d"})
    if kind < 0.78:
        return Call("Read", {"file_path": dice.choice(READS)})
    if kind < 0.92:
        path = dice.choice(WRITES).replace("{n}", str(number))
        return Call("Write", {"file_path": path, "content": "x"})
    if kind < 0.98:
        return Call("WebFetch", {"url": dice.choice(URLS), "prompt": "p"})
    return Call("AskUserQuestion", QUESTION)


def _rules(dice: random.Random) -> tuple[tuple[str, str, str], ...]:
    found = [
        (dice.choice(PLACES), dice.choice(("allow", "allow", "allow", "deny", "ask")), rule)
        for rule in dice.sample(BASH_RULES, 4) + dice.sample(FILE_RULES, 2)
    ]
    if dice.random() < 0.4:
        found.append((dice.choice(PLACES), "allow", dice.choice(WHOLE_RULES)))
    if dice.random() < 0.4:
        found.append(("allowedTools", "allow", dice.choice(FLAG_RULES)))
    # One leading slash in settings given on the command line starts nowhere: no use here.
    return tuple(
        ("project" if place == "flag" and "(/" in rule else place, behavior, rule)
        for place, behavior, rule in found
    )


def _group(number: int) -> Group:
    dice = random.Random(f"permissions {number}")
    mode = MODES[number % len(MODES)]
    count = PLAN_CALLS if mode == "plan" else CALLS_PER_GROUP
    return Group(
        number=number,
        mode=mode,
        rules=_rules(dice),
        calls=tuple(_call(dice, mode, n) for n in range(count)),
    )


GROUPS = tuple(_group(number) for number in range(GROUP_COUNT))
