"""The permission policy compared with real CLIs: the same rules, modes and calls.

Each group of `permission_cases` runs in one process; the scripted model asks for one tool after
the other, every prompt is denied, and what is left to see is whether a call asked, was denied, or
ran. Differences must have a name (`permission_differences`) and be on the strict side.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import ToolUse, reply
from fairlead.permissions import (
    Behavior,
    RuleBook,
    Scope,
    SettingsFiles,
    ToolCall,
    check,
    family_of,
    load_settings,
    parse_mode,
    place_of,
)
from fairlead.testing.hermetic import trust
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.permission_cases import GROUPS, STAND_INS, Group
from tests.e2e.real_cli.permission_differences import DIFFERENCES, Case, Difference, named
from tests.e2e.real_cli.raw_cli import RawCli

Start = Callable[..., Awaitable[RawCli]]


class Grounds:
    """The folders of one group, and its rules as files."""

    def __init__(self, group: Group, project: Path, home: Path) -> None:
        self.group, self.project, self.home = group, project, home
        self.outside = project.parent / "outside"
        self._lay_out()

    def _lay_out(self) -> None:
        # No .git: 2.1.38 would ask its small model about the history first.
        for folder in ("src", "docs"):
            (self.project / folder).mkdir()
        self.outside.mkdir()
        for name in ("a.txt", "secret.txt", ".env", "src/a.py"):
            (self.project / name).write_text("x\n")
        (self.outside / "x.txt").write_text("x\n")
        (self.home / "notes.txt").write_text("x\n")
        (self.project / "link").symlink_to(self.outside)
        programs = self.project.parent / "programs"
        programs.mkdir()
        for name in STAND_INS:
            (programs / name).write_text(f"#!/bin/sh\necho {name}\n")
            (programs / name).chmod(0o755)
        trust(self.home, self.project)
        for place in ("user", "project", "local"):
            path = Path(self.files.paths[_SCOPES[place]])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.settings(place)))

    @property
    def files(self) -> SettingsFiles:
        paths = SettingsFiles.standard(str(self.project), str(self.home)).paths
        own = (Scope.USER, Scope.PROJECT, Scope.LOCAL)
        return SettingsFiles(paths={scope: paths[scope] for scope in own})

    def real(self, value: Any) -> Any:
        """The value with the folders put in for their placeholders."""
        if isinstance(value, str):
            for mark, path in (("@P", self.project), ("@O", self.outside), ("@H", self.home)):
                value = value.replace(mark, str(path))
            return value
        if isinstance(value, dict):
            return {key: self.real(inner) for key, inner in value.items()}
        return [self.real(inner) for inner in value] if isinstance(value, list) else value

    def settings(self, place: str) -> dict[str, Any]:
        permissions: dict[str, list[str]] = {}
        for where, behavior, rule in self.group.rules:
            if where == place:
                permissions.setdefault(behavior, []).append(self.real(rule))
        # Without it the CLI asks a server of its own before it fetches anything.
        return {"skipWebFetchPreflight": True, "permissions": permissions}

    @property
    def flags(self) -> list[str]:
        given = [
            "--permission-mode",
            self.group.mode,
            "--settings",
            json.dumps(self.settings("flag")),
        ]
        for where, _, rule in self.group.rules:
            if where == "allowedTools":
                given += ["--allowedTools", rule]
        return given

    def calls(self) -> list[ToolCall]:
        return [ToolCall(tool=call.tool, input=self.real(call.input)) for call in self.group.calls]

    def book(self) -> RuleBook:
        flag = self.settings("flag")["permissions"]
        book = load_settings(self.files).joined(
            RuleBook(rules=RuleBook.of(**flag, scope=Scope.FLAG).rules)
        )
        named = [rule for where, _, rule in self.group.rules if where == "allowedTools"]
        mode = parse_mode(self.group.mode)
        assert mode is not None
        return book.joined(RuleBook.of(allow=named, mode=mode, scope=Scope.CLI_ARG))


_SCOPES = {"user": Scope.USER, "project": Scope.PROJECT, "local": Scope.LOCAL}


async def outcomes(process: RawCli, count: int) -> list[Behavior]:
    """What the CLI did with each call."""
    ids = [f"toolu_case_{number}" for number in range(count)]
    asked: set[str] = set()
    refused: set[str] = set()
    reached: set[str] = set()
    while not set(ids) <= reached:
        before = len(reached)
        await _turn(process, asked, refused)
        reached = _used_in(process.seen)
        # A CLI that has refused too much gives the turn up, and goes on in the next one.
        assert len(reached) > before, "a call never reached the CLI"
    return [
        Behavior.ASK if one in asked else Behavior.DENY if one in refused else Behavior.ALLOW
        for one in ids
    ]


async def _turn(process: RawCli, asked: set[str], refused: set[str]) -> None:
    """One turn, in which every prompt is denied; adds what was asked about, and what refused."""
    process.say("go")
    while True:
        message = await process.until(lambda m: m["type"] in ("control_request", "user", "result"))
        if message["type"] == "control_request":
            asked.add(message["request"]["tool_use_id"])
            process.answer(message, {"behavior": "deny", "message": "no"})
        elif message["type"] == "user":
            refused |= _refused_by(message)
        else:
            refused |= {denial["tool_use_id"] for denial in message["permission_denials"]}
            return


def _used_in(messages: list[dict[str, Any]]) -> set[str]:
    return {
        block["id"]
        for message in messages
        if message["type"] == "assistant"
        for block in message["message"]["content"]
        if block["type"] == "tool_use"
    }


def _refused_by(message: dict[str, Any]) -> set[str]:
    """Calls that never came to a check, because a rule takes the tool or the file away."""
    content = message["message"]["content"]
    if not isinstance(content, list):
        return set()
    signs = ("No such tool available", "denied by your permission settings")
    return {
        block["tool_use_id"]
        for block in content
        if block.get("type") == "tool_result"
        and any(sign in json.dumps(block.get("content")) for sign in signs)
    }


def script(calls: list[ToolCall]) -> list[Any]:
    return [
        reply(ToolUse(name=call.tool, input=call.input, id=f"toolu_case_{number}"))
        for number, call in enumerate(calls)
    ]


@pytest.fixture
async def compare(
    cli: RealCli, model: ModelApi, raw: Start, cli_env: dict[str, str], project: Path, home: Path
) -> Callable[[Group], Awaitable[list[Case]]]:
    """Run a group both ways; gives every case, whether it came out alike or not."""

    async def run(group: Group) -> list[Case]:
        grounds = Grounds(group, project, home)
        calls, book = grounds.calls(), grounds.book()
        place = place_of(str(project), str(home), family_of(cli.version))
        ours = [check(call, book, place) for call in calls]
        model.push(*script(calls))
        path = f"{project.parent / 'programs'}:{cli_env['PATH']}"
        theirs = await outcomes(await raw(*grounds.flags, IS_SANDBOX="1", PATH=path), len(calls))
        return [
            Case(version=cli.version, mode=group.mode, call=call, ours=one, theirs=other)
            for call, one, other in zip(calls, ours, theirs, strict=True)
        ]

    return run


Compare = Callable[[Group], Awaitable[list[Case]]]


MEASURED = ("2.1.38", "2.1.325")
"""The versions that the policy's rules were measured on. On others it may say "may ask"."""


def _agree(case: Case) -> bool:
    if case.ours.behavior is Behavior.MAY_ASK and str(case.version) not in MEASURED:
        return case.theirs is not Behavior.DENY
    return case.ours.behavior is case.theirs


@pytest.mark.matrix(target="conformance", cases=8)
@pytest.mark.parametrize("group", GROUPS, ids=str)
async def test_P55_the_cli_decides_as_the_policy_predicts(group: Group, compare: Compare) -> None:
    cases = await compare(group)
    different = [case for case in cases if not _agree(case)]
    unnamed = [str(case) for case in different if named(case) is None]
    assert unnamed == []
    assert len(different) <= len(cases) // 3, "most calls must simply agree"


@pytest.mark.matrix(target="conformance", cases=6)
@pytest.mark.parametrize(
    ("cli", "known"),
    [
        pytest.param(version, known, id=f"{known.name}-{version}")
        for known in DIFFERENCES
        for version in known.versions
    ],
    indirect=["cli"],
)
async def test_P55_a_listed_difference_exists_and_the_policy_is_stricter(
    known: Difference, compare: Compare
) -> None:
    case = (await compare(known.example))[-1]
    assert (case.ours.behavior, case.theirs) == (known.ours, known.theirs)
    assert known.ours.strictness > known.theirs.strictness
    assert known.explains(case)


def test_P55_some_300_cases_are_tried() -> None:
    assert 280 <= sum(len(group.calls) for group in GROUPS) <= 350
    modes = {"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"}
    assert {group.mode for group in GROUPS} == modes


def test_P55_every_difference_has_its_own_name_and_a_reason() -> None:
    names = [known.name for known in DIFFERENCES]
    assert len(set(names)) == len(names)
    assert all(len(known.reason) > 40 for known in DIFFERENCES)
