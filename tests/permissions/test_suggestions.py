"""The CLI's own suggestions, against what real CLIs sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    Behavior,
    Family,
    PathContext,
    RuleBook,
    ToolCall,
    check,
    family_of,
    suggestions,
)

RECORDINGS = Path(__file__).parent.parent / "recordings"
VERSIONS = ("2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325")
DIRECTORIES = ("/workspace", "/workspace/outside", "/workspace/project")


def context(family: Family) -> PathContext:
    return PathContext(
        cwd="/workspace/project",
        home="/workspace/home",
        family=family,
        is_directory=DIRECTORIES.__contains__,
    )


def requests(version: str, name: str) -> Iterator[dict[str, Any]]:
    for line in (RECORDINGS / version / f"{name}.ndjson").read_text().splitlines():
        message = json.loads(line)["msg"]
        request = message.get("request", {}) if isinstance(message, dict) else {}
        if request.get("subtype") == "can_use_tool":
            yield request


CASES = [
    pytest.param(version, request, id=f"{version}-{name}-{number}")
    for version in VERSIONS
    for name in ("perm_suggestions", "mode_default", "perm_suggest_session")
    if (RECORDINGS / version / f"{name}.ndjson").exists()
    for number, request in enumerate(requests(version, name))
]


def test_there_are_recorded_requests() -> None:
    assert CASES


@pytest.mark.parametrize(("version", "request_"), CASES)
def test_P43_suggestions_are_those_that_the_cli_sent(
    version: str, request_: dict[str, Any]
) -> None:
    call = ToolCall(tool=request_["tool_name"], input=request_["input"])
    at = context(family_of(version))
    assert suggestions(call, RuleBook(), at) == request_.get("permission_suggestions")
    assert check(call, RuleBook(), at).behavior is Behavior.ASK


@pytest.mark.parametrize(
    ("command", "classic", "current"),
    [
        ("npm install x", ["npm install x"], ["npm install *"]),
        ("npm --version", ["npm --version"], ["npm --version"]),
        ("python3 x.py", ["python3 x.py"], ["python3 x.py"]),
        ("foo a.txt", ["foo a.txt"], ["foo a.txt"]),
        ("foo b-z", ["foo b-z"], ["foo b-z *"]),
        ("cat a.txt && foo x", ["foo x"], ["foo x *"]),
        ("npm run a && npm run b", ["npm run a", "npm run b"], ["npm run *"]),
        ("FOO=1 npm test", ["FOO=1 npm test"], ["FOO=1 npm test"]),
        ("NODE_ENV=test npm test", ["NODE_ENV=test npm test"], ["npm test *"]),
        ("foo \\\n bar", ["foo bar"], ["foo bar *"]),
    ],
)
def test_P43_a_command_is_suggested_as_the_cli_suggests_it(
    command: str, classic: list[str], current: list[str]
) -> None:
    for family, expected in ((CLASSIC, classic), (CURRENT, current)):
        found = suggestions(
            ToolCall(tool="Bash", input={"command": command}), RuleBook(), context(family)
        )
        assert found is not None
        contents = [rule["ruleContent"] for update in found for rule in update["rules"]]
        assert contents == expected


@pytest.mark.parametrize(
    ("command", "classic", "current"),
    [
        ("foo $(bar)", None, []),
        ("foo `bar`", [], []),
        ("(foo x)", None, None),
        ("foo x & bar", None, None),
        ("eval foo", ["Bash"], []),
        ("find . -delete", ["Bash"], []),
    ],
)
def test_P43_what_cannot_be_checked_has_no_suggestion(
    command: str, classic: list[str] | None, current: list[str] | None
) -> None:
    for family, expected in ((CLASSIC, classic), (CURRENT, current)):
        found = suggestions(
            ToolCall(tool="Bash", input={"command": command}), RuleBook(), context(family)
        )
        tools = (
            None if found is None else [r["toolName"] for update in found for r in update["rules"]]
        )
        assert tools == expected


def test_P43_what_a_rule_already_allows_is_not_suggested_again() -> None:
    book = RuleBook.of(allow=["Bash(npm:*)"])
    call = ToolCall(tool="Bash", input={"command": "npm --version && rm x"})
    found = suggestions(call, book, context(CURRENT))
    assert found is not None
    assert [update["type"] for update in found] == ["addRules", "addDirectories", "setMode"]
    assert found[0]["rules"] == [{"toolName": "Bash", "ruleContent": "npm --version && rm x"}]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("for i in 1 2; do echo $i; done", ["for i in 1 2", "do echo $i", "done"]),
        ("if npm a; then npm b; fi", ["if npm a", "then npm b", "fi"]),
        ("ls; { npm x; }", ["{ npm x", "}"]),
        ("if true; then\n npm a\nfi", ["if true", "then", "npm a", "fi"]),
        ("! npm a", ["! npm a"]),
        ("if", ["if"]),
    ],
)
def test_P43_old_versions_suggest_a_rule_for_each_part_of_a_loop(
    command: str, expected: list[str]
) -> None:
    call = ToolCall(tool="Bash", input={"command": command})
    found = suggestions(call, RuleBook(), context(CLASSIC))
    assert found is not None
    contents = [rule["ruleContent"] for update in found for rule in update["rules"]]
    assert contents == expected


def test_P43_parts_in_a_pipeline_of_a_loop_are_suggested_by_stage() -> None:
    command = "for i in 1; do ls | grep x; done"
    found = suggestions(
        ToolCall(tool="Bash", input={"command": command}), RuleBook(), context(CLASSIC)
    )
    assert found is not None
    contents = [[rule["ruleContent"] for rule in update["rules"]] for update in found]
    assert contents == [["for i in 1", "do ls"], ["done"]]
