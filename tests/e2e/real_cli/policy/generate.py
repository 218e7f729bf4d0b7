"""Generates scenarios from a seed: the same seed gives the same scenario in every run.

Four mixes. `wild` takes everything that the vocabulary knows: any rule, any layout, any mode, and
commands nested in wrappers, assignments and operators; a quarter of it is `recombined`, which puts
commands together from fragments, word by word. `compounds` is one of its themes alone. `everyday` takes what people type in a
project, with rules that people have, in the modes default and acceptEdits; it measures how often
the policy is needlessly strict.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.e2e.real_cli.policy import grammar, more_words, words
from tests.e2e.real_cli.policy.compounds import compounds
from tests.e2e.real_cli.policy.everyday import EVERYDAY, everyday_command
from tests.e2e.real_cli.policy.layouts import LAYOUTS
from tests.e2e.real_cli.policy.mutations import changed, with_options
from tests.e2e.real_cli.policy.option_words import program_with_options
from tests.e2e.real_cli.policy.recombined import recombined
from tests.e2e.real_cli.policy.rule_texts import (
    BEHAVIORS,
    everyday_rules,
    matching_commands,
    matching_paths,
    wild_rules,
)
from tests.e2e.real_cli.policy.scenario import Call, PlacedRule, Scenario
from tests.e2e.real_cli.policy.themes import THEMES, Theme

__all__ = ["CALLS", "scenario", "scenarios"]

CALLS = 100
"""Calls in one scenario, which is one process of the CLI."""
RECOMBINED, THEMED = 0.25, 0.35
"""The shares of the wild scenarios that are recombined from fragments, and that have a theme."""

MODES = (
    "default", "default", "default", "default", "default", "acceptEdits", "acceptEdits", "bypassPermissions", "bypassPermissions",
    "dontAsk", "plan", "plan", "auto",
)  # fmt: skip
DIRECTORIES = (
    "@O",
    "@O",
    "@H/linked",
    "@O/sub",
    "~",
    "../outside",
    "/",
    "link",
    "@P/src",
    ".",
    "..",
    "@O/",
    "@H",
)
URLS = (
    "https://example.invalid/a", "https://www.example.invalid/", "https://example.invalid.evil.invalid/",
    "https://example.invalid:8080/a", "https://user@example.invalid/", "https://EXAMPLE.invalid/",
    "https://example.invalid./", "https://ex%61mple.invalid/a", "http://example.invalid/",
    "https://docs.python.org/3/", "https://DOCS.python.org/3/", "https://docs.python.org.evil.invalid/",
    "https://github.com/anthropics/claude-code", "https://evil.invalid/?https://example.invalid/",
    "https://evil.invalid\\@example.invalid/", "https://sub.example.invalid/", "https://127.0.0.1:1/",
    "https://docs.python.org@evil.invalid/", "https://docs%2epython.org/", "https://example.invalid%2f@x.invalid/",
)  # fmt: skip


def scenarios(seed: str, count: int, mix: str) -> Iterator[Scenario]:
    """Scenarios with `count` calls in all, or a few more."""
    number = calls = 0
    while calls < count:
        made = scenario(f"{seed}-{mix}-{number}", mix)
        yield made
        number, calls = number + 1, calls + len(made.calls)


def scenario(seed: str, mix: str) -> Scenario:
    """One scenario."""
    dice = random.Random(seed)
    if mix == "everyday":
        return _everyday(dice, seed)
    kind = dice.random()
    if mix == "compounds":
        return _themed(dice, seed, mix, compounds)
    if mix == "recombined" or kind < RECOMBINED:
        return _themed(dice, seed, mix, recombined)
    if kind < RECOMBINED + THEMED:
        return _themed(dice, seed, mix, dice.choice(THEMES))
    mode = dice.choice(MODES)
    places = ("user", "project", "local", "flag", "addDir")
    rules = _rules(dice)
    extra = [
        (dice.choice(places), dice.choice(DIRECTORIES))
        for _ in range(dice.choice((0, 0, 0, 0, 1, 1, 2)))
    ]
    return Scenario(
        seed=seed,
        mix=mix,
        layout=dice.choice(LAYOUTS),
        mode=mode,
        mode_from=dice.choice(("flag", "flag", "flag", "flag", "user", "project", "local")),
        trusted=dice.random() < 0.85,
        rules=rules,
        directories=tuple(extra),
        bypass_disabled=_disabled(dice),
        calls=tuple(_call(_Dice(dice, rules), number) for number in range(CALLS)),
    )


def _disabled(dice: random.Random) -> str:
    return dice.choice(("user", "project", "local", "flag")) if dice.random() < 0.08 else ""


def _themed(dice: random.Random, seed: str, mix: str, theme: Theme) -> Scenario:
    rules, mode, call = theme(dice)
    extra = [("user", dice.choice(DIRECTORIES))] if dice.random() < 0.15 else []
    return Scenario(
        seed=seed,
        mix=mix,
        layout=dice.choice(LAYOUTS),
        mode=mode,
        trusted=dice.random() < 0.9,
        rules=rules,
        directories=tuple(extra),
        bypass_disabled=_disabled(dice),
        calls=tuple(call(number) for number in range(CALLS)),
    )


def _rules(dice: random.Random) -> tuple[PlacedRule, ...]:
    """Rules from the vocabulary, rules derived from generated commands and paths, or both."""
    kind = dice.random()
    rules = wild_rules(dice) if kind < 0.75 else ()
    if kind < 0.45:
        return rules
    derived = [
        (dice.choice(("user", "local", "flag", "project")), dice.choice(BEHAVIORS), text)
        for text in (
            grammar.rules_from_command(grammar.simple(dice), dice),
            grammar.rules_from_command(dice.choice(EVERYDAY), dice),
            grammar.rules_from_command(grammar.simple(dice), dice),
            grammar.rules_from_path(grammar.path(dice), dice),
            grammar.rules_from_path(dice.choice(words.FILES), dice),
        )
        if dice.random() < 0.6
    ]
    return (*rules, *derived)


class _Dice(random.Random):
    """A source of choices that prefers what the scenario's own rules are about."""

    def __init__(self, dice: random.Random, rules: tuple[PlacedRule, ...]) -> None:
        super().__init__(dice.random())
        self._commands = [text for rule in rules for text in matching_commands(rule[2])]
        self._paths = [text for rule in rules for text in matching_paths(rule[2])]

    def command(self) -> str:
        """A simple command: one that a rule matches, or any."""
        if self.random() < 0.25:
            return grammar.simple(self)
        if self._commands and self.random() < 0.4:
            return self.choice(self._commands)
        if self.random() < 0.12:
            return with_options(self)
        groups = (words.LOOKING, words.LOOKING, words.WRITING, words.RUNNING)
        return self.choice(self.choice(groups))

    def path(self) -> str:
        """A path: one that a rule matches, or any."""
        if self._paths and self.random() < 0.4:
            return self.choice(self._paths)
        return self.choice(words.FILES)


def _everyday(dice: random.Random, seed: str) -> Scenario:
    files = ("a.txt", "src/a.py", "docs/readme.md", ".env", "@O/x.txt", "new.py", "src/new.py")

    def call() -> Call:
        if dice.random() < 0.85:
            return _bash(everyday_command(dice))
        path = dice.choice(files)
        path = path if path.startswith("@") else f"@P/{path}"
        if dice.random() < 0.5:
            return Call("Read", {"file_path": path})
        return Call("Write", {"file_path": path + ".new", "content": "x"})

    return Scenario(
        seed=seed,
        mix="everyday",
        layout=dice.choice(("plain", "repo")),
        mode=dice.choice(("default", "default", "acceptEdits")),
        rules=everyday_rules(dice),
        calls=tuple(call() for _ in range(CALLS)),
    )


def _bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "d"})


def _path(dice: _Dice) -> str:
    path = dice.path()
    half = max(1, len(path) // 2)
    spelling = dice.choice(words.SPELLINGS) if dice.random() < 0.5 else "{p}"
    for mark, text in (("{p}", path), ("{a}", path[:half]), ("{b}", path[half:])):
        spelling = spelling.replace(mark, text)
    return spelling


def _simple(dice: _Dice) -> str:
    return dice.command().replace("{p}", _path(dice))


def _command(dice: _Dice, depth: int = 0) -> str:
    if depth == 0 and dice.random() < 0.3:
        return grammar.line(dice, lambda: _simple(dice))
    kind = dice.random()
    if depth > 2 or kind < 0.42:
        return program_with_options(dice) if dice.random() < 0.15 else _simple(dice)
    if kind < 0.57:
        shape = dice.choice(words.WRAPPERS)
    elif kind < 0.63:
        shape = dice.choice(words.ASSIGNMENTS)
    elif kind < 0.82:
        shape = dice.choice(words.SHAPES)
    else:
        shape = dice.choice(more_words.FORMS)
    command = shape.replace("{p}", _path(dice)) if "{p}" in shape else shape
    for mark in ("{c}", "{d}"):
        command = command.replace(mark, _command(dice, depth + 1)) if mark in command else command
    return command


def _bash_call(dice: _Dice, number: int) -> Call:
    command = _command(dice)
    if dice.random() < 0.25:
        command = changed(command, dice)
    call = _bash(_long(command, dice) if dice.random() < 0.01 else command)
    extra: dict[str, Any] = {}
    if dice.random() < 0.04:
        extra = dice.choice(({"run_in_background": True}, {"timeout": 5000}))
    return Call("Bash", {**call.input, **extra})


def _long(command: str, dice: random.Random) -> str:
    part = dice.choice(("x", "x ", " x", "; ls", "é", " && ls", " $X", " 'a'"))
    length = dice.choice((900, 2_000, 4_100, 8_200, 9_990, 10_010, 12_000))
    return f"{command} " + part * (length // len(part))


def _file(dice: _Dice, number: int) -> str:
    if dice.random() < 0.3:
        return grammar.path(dice)
    path = dice.path().replace("~/", "@H/")
    if dice.random() < 0.3:
        return dice.choice(more_words.PLACES).replace("{p}", path)
    if dice.random() < 0.5 and not path.startswith(("/", "@", "~")):
        path = f"@P/{path}"
    return path


def _read(dice: _Dice, number: int) -> Call:
    return Call("Read", {"file_path": _file(dice, number)})


def _search(dice: _Dice, number: int) -> Call:
    tool = dice.choice(("Glob", "Grep"))
    given: dict[str, Any] = {"pattern": dice.choice(("*.txt", "x", "**/*", "@O/*", "../**"))}
    if dice.random() < 0.6:
        given["path"] = _file(dice, number)
    return Call(tool, given)


def _write(dice: _Dice, number: int) -> Call:
    path = _file(dice, number) + dice.choice(("", f"{number}", "/w", ".new", f"/w{number}.md"))
    if dice.random() < 0.6:
        return Call("Write", {"file_path": path, "content": "x"})
    return Call("Edit", {"file_path": path, "old_string": "", "new_string": "x"})


def _fetch(dice: _Dice, number: int) -> Call:
    url = dice.choice(URLS) if dice.random() < 0.4 else more_words.url(dice)
    return Call("WebFetch", {"url": url, "prompt": "p"})


def _other(dice: _Dice, number: int) -> Call:
    kind = dice.choice(("Explore", "Plan", "general-purpose", "own"))
    agent: dict[str, Any] = {"description": "d", "prompt": "p", "subagent_type": kind}
    if dice.random() < 0.4:
        agent["model"] = dice.choice(("opus", "haiku"))
    skill = {"skill": dice.choice(SKILL_NAMES)}
    if dice.random() < 0.2:
        skill["args"] = "x"
    return dice.choice(
        (
            Call("Task", agent),
            Call("Skill", skill),
            Call("Skill", skill),
            Call("mcp__srv__echo", {"text": "x"}),
            Call("mcp__other__echo", {"text": "x"}),
            Call("mcp__srv__x__echo", {"text": "x"}),
            Call("NotebookEdit", {"notebook_path": _file(dice, number), "new_source": "x"}),
            Call("TodoWrite", {"todos": []}),
            Call("WebSearch", {"query": "something"}),
            Call("Monitor", {"command": _command(dice), "description": "d", "timeout_ms": 1000}),
            Call("ListMcpResourcesTool", {}),
            Call("AskUserQuestion", QUESTION),
        )
    )


SKILL_NAMES = (
    "plain", "tools", "hooked", "agentic", "/plain", "missing", "shelly", "fenced", "modeled", "mine", "command",
    "pinned", "plain x", " plain", "quiet", "empty",
)  # fmt: skip
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

_KINDS: tuple[tuple[float, Callable[[_Dice, int], Call]], ...] = (
    (0.70, _bash_call),
    (0.77, _read),
    (0.80, _search),
    (0.90, _write),
    (0.94, _fetch),
    (1.01, _other),
)


def _call(dice: _Dice, number: int) -> Call:
    kind = dice.random()
    make = next(make for limit, make in _KINDS if kind < limit)
    return make(dice, number)
