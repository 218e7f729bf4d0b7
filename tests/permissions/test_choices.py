"""What "always" can mean."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    AddRules,
    Behavior,
    Choice,
    Family,
    RuleBook,
    Scope,
    ToolCall,
    always_choices,
    apply_update,
    check,
    problem_of,
    suggestions,
)
from fairlead.permissions.choices import too_long_to_analyze
from tests.permissions.checking import CWD, bash, context, tool

OUTSIDE = tool("Read", file_path="/data/one/x.txt")


def choices(
    call: ToolCall, earlier: list[ToolCall] | None = None, family: Family = CURRENT
) -> tuple[Choice, ...]:
    at = context(family)
    suggested = suggestions(call, RuleBook(), at) or []
    return always_choices(call, suggested, earlier or [], RuleBook(), at)


def test_P44_the_exact_command_is_offered_first() -> None:
    narrow, wide = choices(bash("npm run build"))
    assert narrow.words == "allow Bash(npm run build) (this session)"
    assert narrow.lets_through == "Only this exact command: `npm run build`"
    assert (narrow.breadth, narrow.suggestion) == (0, None)
    assert wide.words == "allow Bash(npm run *) (this project, only for you)"
    assert wide.suggestion == 0


def test_P75_a_choice_says_why_the_cli_may_ask_again() -> None:
    narrow, wide = choices(bash("npm run build"))
    assert (narrow.may_ask, wide.may_ask) == ("", "")
    whole = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"}
    suggested = [{**whole, "destination": "session"}]
    (unsure,) = always_choices(bash("rm -rf $X/"), suggested, [], RuleBook(), context())
    assert unsure.may_ask == "it removes files that are known only when it runs"


def test_P44_a_file_is_offered_before_its_folder_and_a_mode_comes_last() -> None:
    words = [choice.words for choice in choices(OUTSIDE)]
    assert words == [
        "allow Read(//data/one/x.txt) (this session)",
        "allow Read(//data/one/**) (this session)",
    ]
    edit = [choice.words for choice in choices(tool("Write", file_path="/data/x"))]
    assert edit == [
        "allow Edit(//data/x) (this session)",
        "work in /data as well (this session)",
        "switch to mode acceptEdits (this session)",
    ]


CALLS = [
    bash("npm run build"),
    bash("npm test && git push origin main"),
    bash("rm -rf build"),
    bash("cat /etc/passwd"),
    tool("Write", file_path=f"{CWD}/a.txt"),
    OUTSIDE,
    tool("WebFetch", url="https://example.com/a"),
    tool("mcp__s__t"),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.tool}-{len(call.input)}")
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P44_each_choice_is_at_least_as_wide_as_the_one_before(
    call: ToolCall, family: Family
) -> None:
    breadths = [choice.breadth for choice in choices(call, family=family)]
    assert breadths
    assert breadths == sorted(breadths)


def test_P44_a_choice_can_be_sent_back_as_it_is() -> None:
    narrow, wide = choices(bash("npm run build"))
    assert [problem_of(update) for update in (*narrow.updates, *wide.updates)] == [None, None]
    assert [update.destination for update in narrow.updates if isinstance(update, AddRules)] == [
        "session"
    ]
    suggested = suggestions(bash("npm run build"), RuleBook(), context())
    assert [json.loads(msgspec.json.encode(update)) for update in wide.updates] == suggested


def test_P45_a_choice_shows_earlier_calls_that_it_would_have_let_through() -> None:
    earlier = [
        bash("npm run build"),
        bash("npm run deploy"),
        bash("npm run deploy"),
        bash("npm test"),
        bash("ls"),
        bash("npm run lint && rm x"),
        bash("npm run a"),
        bash("npm run b"),
        bash("npm run c"),
    ]
    narrow, wide = choices(bash("npm run build"), earlier)
    assert narrow.examples == ()
    assert wide.examples == ("npm run deploy", "npm run a", "npm run b")
    assert wide.lets_through == "Any command starting with `npm run`"


def test_P45_examples_are_files_and_edits_too() -> None:
    other = tool("Read", file_path="/data/one/y.txt")
    file, folder = choices(OUTSIDE, [other, tool("Read", file_path="/data/two/z")])
    assert file.examples == ()
    assert folder.examples == ("Read /data/one/y.txt",)
    assert folder.lets_through == "Read access to all files below /data/one"
    edits = choices(
        tool("Write", file_path=f"{CWD}/a"), [tool("Edit", file_path=f"{CWD}/b"), bash("rm c")]
    )
    assert edits[-1].examples == (f"Edit {CWD}/b", "rm c")


def test_P45_examples_of_a_file_are_the_calls_that_name_it() -> None:
    earlier = [
        bash("cat /data/one/x.txt"),
        tool("Grep", path="/data/one/x.txt", pattern="a"),
        tool("Read", file_path="/data/one/x.txt.old"),
        tool("Read", file_path="/data/one/y.txt"),
    ]
    file = choices(tool("Read", file_path="/data/one/x.txt"), earlier)[0]
    assert file.lets_through == "Read access to this file only: /data/one/x.txt"
    assert file.examples == ("cat /data/one/x.txt", "Grep /data/one/x.txt")


def test_P45_wide_choices_say_how_wide_they_are() -> None:
    (server_tool,) = choices(tool("mcp__s__t"))
    assert server_tool.lets_through == "Any use of mcp__s__t, with any input"
    (site,) = choices(tool("WebFetch", url="https://example.com/a"))
    assert site.lets_through == "Any page of example.com"


def test_P46_no_choice_switches_all_checks_off() -> None:
    forged: list[dict[str, Any]] = [
        {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
        {"type": "setMode", "mode": "bypassPermissions", "destination": "userSettings"},
        {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "policySettings"},
        {"type": "somethingNew", "destination": "session"},
    ]  # fmt: skip
    found = always_choices(bash("npm test"), forged, [], RuleBook(), context())
    assert [choice.words for choice in found] == ["allow Bash(npm test) (this session)"]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.tool}-{len(call.input)}")
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P46_a_choice_of_our_own_covers_the_call_it_is_offered_for(
    call: ToolCall, family: Family
) -> None:
    own = [choice for choice in choices(call, family=family) if choice.suggestion is None]
    for choice in own:
        book = RuleBook()
        for update in choice.updates:
            assert isinstance(update, AddRules)
            assert update.destination == Scope.SESSION
            book = apply_update(book, update)
        assert check(call, book, context(family)).behavior is Behavior.ALLOW


@pytest.mark.parametrize("command", ["npm $(x)", "(npm x)", "npm *", "", "eval x"])
def test_P46_what_cannot_be_remembered_narrowly_is_not_offered_by_us(command: str) -> None:
    found = choices(bash(command))
    assert all(choice.suggestion is not None for choice in found)


RULE = {"toolName": "Bash", "ruleContent": "npm run *"}
SUGGESTED = [
    {"type": "addRules", "rules": [RULE], "behavior": "allow", "destination": "localSettings"}
]


def offered(call: ToolCall, suggested: list[dict[str, Any]]) -> tuple[Choice, ...]:
    return always_choices(call, suggested, [], RuleBook(), context())


@pytest.mark.parametrize(
    "command",
    ["a;" * 3_000, "rm " + "a " * 2_000, "cd a;" * 1_000, "a=(" * 2_000, "echo " + "x" * 20_000],
)
def test_P57_what_is_too_long_to_analyze_is_not_offered_and_asks(command: str) -> None:
    call = bash(command)
    before = time.process_time()
    assert too_long_to_analyze(call)
    assert offered(call, SUGGESTED) == ()
    assert (
        check(call, RuleBook.of(allow=["Bash(a)", "Bash(rm:*)"]), context()).behavior
        is Behavior.ASK
    )
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    "named", ["secret.txt", "./secret.txt", '"secret.txt"', "--file=secret.txt"]
)
def test_P57_a_deny_rule_for_a_file_applies_to_a_command_of_any_length(named: str) -> None:
    command = f"cat {'a ' * 9_000} {named}"
    assert too_long_to_analyze(bash(command))
    book = RuleBook.of(allow=["Bash"], deny=["Read(secret.txt)"])
    assert check(bash(command), book, context()).behavior is Behavior.DENY
    assert (
        check(bash(command.replace("secret", "public")), book, context()).behavior
        is not Behavior.DENY
    )


def test_P57_no_rule_of_our_own_for_more_than_twenty_commands() -> None:
    def own(count: int) -> bool:
        line = " && ".join(f"make target{number}" for number in range(count))
        return any(choice.suggestion is None for choice in offered(bash(line), []))

    assert own(20)
    assert not own(21)


def test_P57_suggestions_without_end_are_cut() -> None:
    many = [{**SUGGESTED[0], "rules": [RULE] * 1_000}, *SUGGESTED * 1_000]
    before = time.process_time()
    found = offered(bash("npm run x"), many)
    assert time.process_time() - before < 0.5
    assert [len(choice.updates[0].rules) for choice in found] == [1, 1]  # type: ignore[union-attr]
