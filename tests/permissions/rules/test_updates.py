"""A PermissionUpdate: read, checked, and applied to a rule book."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import OptionError
from fairlead.permissions import (
    AddRules,
    Behavior,
    Mode,
    PermissionUpdate,
    RemoveRules,
    ReplaceRules,
    RuleBook,
    RuleValue,
    Scope,
    SetMode,
    UnknownUpdate,
    apply_update,
    problem_of,
    read_update,
    with_destination,
)

WIRE: list[dict[str, Any]] = [
    {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "npm run *"}], "behavior": "allow",
     "destination": "localSettings"},
    {"type": "addRules", "rules": [{"toolName": "mcp__s__t"}], "behavior": "deny", "destination": "session"},
    {"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "ask", "destination": "userSettings"},
    {"type": "replaceRules", "rules": [], "behavior": "allow", "destination": "projectSettings"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    {"type": "addDirectories", "directories": ["/a"], "destination": "cliArg"},
    {"type": "removeDirectories", "directories": ["/a", "/b"], "destination": "session"},
]  # fmt: skip

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("raw", WIRE, ids=lambda raw: raw["type"])
def test_P42_what_is_read_is_written_back(raw: dict[str, Any]) -> None:
    update = read_update(raw)
    assert json.loads(msgspec.json.encode(update)) == raw
    assert problem_of(update) is None


@given(
    raw=st.fixed_dictionaries(
        {"type": st.sampled_from(["addRules", "setMode", "addDirectories", "other"]) | JSON},
        optional=dict.fromkeys(("rules", "behavior", "destination", "mode", "directories"), JSON),
    )
)
def test_P42_any_update_is_read_and_kept(raw: dict[str, Any]) -> None:
    update = read_update(raw)
    assert apply_update(RuleBook(), update) == RuleBook() or not isinstance(update, UnknownUpdate)
    if isinstance(update, UnknownUpdate):
        assert update.data == raw


@pytest.mark.parametrize("scope", [Scope.POLICY, Scope.FLAG, Scope.COMMAND])
def test_P42_nothing_goes_to_a_destination_that_a_cli_would_refuse(scope: Scope) -> None:
    problem = problem_of(SetMode(mode="plan", destination=scope.value))
    assert problem == f"{scope.value!r} is read-only or no destination"


def test_P42_no_malformed_rule_is_sent() -> None:
    update = AddRules(rules=(RuleValue("Bash", ":*"),), behavior="allow", destination="session")
    assert "would be ignored" in str(problem_of(update))


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "addEverything", "destination": "session"},
        {**WIRE[0], "destination": "everywhere"},
        {**WIRE[0], "behavior": "defaultMode"},
        {**WIRE[0], "rules": [{"toolName": "Bash", "ruleContent": 5}]},
        {"type": "setMode", "mode": "yolo", "destination": "session"},
        ["addRules"],
        None,
    ],
)
def test_P42_an_unknown_update_changes_nothing_and_is_not_sent(raw: Any) -> None:
    update = read_update(raw)
    assert isinstance(update, UnknownUpdate)
    assert update.data == raw
    assert problem_of(update) is not None
    assert apply_update(RuleBook(), update) == RuleBook()


def test_P42_an_alias_of_a_mode_is_read_as_the_mode() -> None:
    update = read_update({"type": "setMode", "mode": "manual", "destination": "session"})
    assert update == SetMode(mode="default", destination="session")


@pytest.mark.parametrize(
    "update",
    [
        AddRules(rules=(RuleValue("Bash"),), behavior="defaultMode", destination="localSettings"),
        AddRules(rules=(RuleValue("Bash"),), behavior="allow", destination="everywhere"),
        SetMode(mode="yolo", destination="localSettings"),
    ],
)
def test_P41_a_value_that_no_cli_knows_changes_no_book(update: PermissionUpdate) -> None:
    with pytest.raises(OptionError):
        apply_update(RuleBook(), update)


def test_P42_the_destination_can_be_changed() -> None:
    update = with_destination(read_update(WIRE[0]), "session")
    assert isinstance(update, AddRules)
    assert update.destination == "session"
    unknown = read_update({"type": "new"})
    assert with_destination(unknown, "session") is unknown


def test_P41_an_update_touches_only_its_own_scope_and_behavior() -> None:
    book = RuleBook.of(allow=["Bash(a)"], deny=["Bash(a)"], scope=Scope.USER)
    replaced = apply_update(
        book, ReplaceRules(rules=(), behavior="allow", destination="localSettings")
    )
    assert replaced.rules == book.rules
    rules = (RuleValue("Bash", "a"),)
    removed = apply_update(
        book, RemoveRules(rules=rules, behavior="allow", destination="userSettings")
    )
    assert [entry.behavior for entry in removed.rules] == [Behavior.DENY]
    assert apply_update(book, SetMode(mode="plan", destination="session")).mode is Mode.PLAN
