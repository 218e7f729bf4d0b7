"""The policy against recordings of real CLIs: every call in them, asked, denied or run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.permissions import (
    Behavior,
    Mode,
    PathContext,
    RuleBook,
    Scope,
    ToolCall,
    check,
    family_of,
    parse_mode,
)

RECORDINGS = Path(__file__).parent.parent / "recordings"
VERSIONS = ("2.1.29", "2.1.38", "2.1.325")
USER_FILE = "/workspace/home/.claude/settings.json"

# The settings that the recordings `rules` were made with (CLI-300).
RULES = RuleBook.of(
    allow=["Bash(npm:*)", "Bash(git status)", "Bash(make *)", "Read(/workspace/outside/**)"],
    deny=["Bash(npm publish:*)", "Read(./secret.txt)"],
    ask=["Bash(npm run deploy:*)", "Bash(ls:*)"],
    scope=Scope.USER,
    file=USER_FILE,
)
FLAGS = RuleBook.of(allow=["Bash(npm:*)"], deny=["Bash(make:*)", "Write"], scope=Scope.CLI_ARG)
BOOKS = {
    "rules": RULES,
    "rules_flag": FLAGS,
    "add_dir": RuleBook.of(directories=["/workspace/outside"], scope=Scope.CLI_ARG),
    "mode_default": RuleBook(),
    "mode_manual": RuleBook.of(mode=parse_mode("manual") or Mode.PLAN),
    "mode_delegate": RuleBook.of(mode=parse_mode("delegate") or Mode.PLAN),
    "mode_dontAsk": RuleBook.of(mode=Mode.DONT_ASK),
    "mode_plan": RuleBook.of(mode=Mode.PLAN),
    "mode_bypassPermissions": RuleBook.of(mode=Mode.BYPASS),
    "mode_skip_flag": RuleBook.of(mode=Mode.BYPASS),
}


def recorded(version: str, name: str) -> list[tuple[ToolCall, Behavior]]:
    """Each tool use of a recording, with what the CLI did about it."""
    uses: dict[str, ToolCall] = {}
    asked: set[str] = set()
    refused: set[str] = set()
    for line in (RECORDINGS / version / f"{name}.ndjson").read_text().splitlines():
        entry = json.loads(line)
        message: dict[str, Any] = entry["msg"]
        if entry["dir"] != "out":
            continue
        if message["type"] == "assistant":
            for block in message["message"]["content"]:
                if block["type"] == "tool_use":
                    uses[block["id"]] = ToolCall(tool=block["name"], input=block["input"])
        elif message["type"] == "control_request":
            asked.add(message["request"].get("tool_use_id", ""))
        elif message["type"] == "result":
            refused |= {denial["tool_use_id"] for denial in message["permission_denials"]}
        elif message["type"] == "user":
            refused |= {
                block["tool_use_id"]
                for block in message["message"]["content"]
                if isinstance(block, dict)
                and "tool_use_id" in block
                and any(
                    sign in str(block["content"]) for sign in ("No such tool", "is denied by your")
                )
            }
    return [
        (
            call,
            Behavior.ASK
            if use_id in asked
            else Behavior.DENY
            if use_id in refused
            else Behavior.ALLOW,
        )
        for use_id, call in uses.items()
    ]


CASES = [
    pytest.param(version, name, call, outcome, id=f"{version}-{name}-{number}")
    for version in VERSIONS
    for name in BOOKS
    if (RECORDINGS / version / f"{name}.ndjson").exists()
    for number, (call, outcome) in enumerate(recorded(version, name))
]


def test_there_are_recorded_calls_of_every_outcome() -> None:
    assert {case.values[3] for case in CASES} == {Behavior.ALLOW, Behavior.ASK, Behavior.DENY}


@pytest.mark.parametrize(("version", "name", "call", "outcome"), CASES)
def test_P55_recorded_clis_did_what_the_policy_says(
    version: str, name: str, call: ToolCall, outcome: Behavior
) -> None:
    context = PathContext(
        cwd="/workspace/project",
        home="/workspace/home",
        family=family_of(version),
        is_directory=("/workspace/outside", "/workspace/project").__contains__,
    )
    decision = check(call, BOOKS[name], context)
    assert decision.behavior is outcome, decision.words
