"""PermissionUpdate, from and to the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import OptionError
from fairlead.permissions import (
    Behaviour,
    Mode,
    ModeUpdate,
    Rule,
    RuleBook,
    RuleUpdate,
    Scope,
    UnknownUpdate,
    apply_update,
    from_wire,
    to_wire,
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
    assert to_wire(from_wire(raw)) == raw


@given(
    raw=st.fixed_dictionaries(
        {"type": st.sampled_from(["addRules", "setMode", "addDirectories", "other"]) | JSON},
        optional=dict.fromkeys(("rules", "behavior", "destination", "mode", "directories"), JSON),
    )
)
def test_P42_any_update_is_read_and_kept(raw: dict[str, Any]) -> None:
    update = from_wire(raw)
    assert apply_update(RuleBook(), update) == RuleBook() or not isinstance(update, UnknownUpdate)
    if isinstance(update, UnknownUpdate):
        assert to_wire(update) == raw


@pytest.mark.parametrize("scope", [Scope.POLICY, Scope.FLAG, Scope.COMMAND])
def test_P42_nothing_goes_to_a_destination_that_a_cli_would_refuse(scope: Scope) -> None:
    with pytest.raises(OptionError):
        to_wire(ModeUpdate(Mode.PLAN, scope))


def test_P42_no_malformed_rule_is_sent() -> None:
    update = RuleUpdate(kind="addRules", rules=(Rule("Bash", ":*"),))
    with pytest.raises(OptionError, match="would be ignored"):
        to_wire(update)


def test_P42_an_update_of_an_unknown_kind_cannot_be_made() -> None:
    with pytest.raises(OptionError):
        RuleUpdate(kind="addEverything", rules=())


def test_P42_the_destination_can_be_changed() -> None:
    update = with_destination(from_wire(WIRE[0]), Scope.SESSION)
    assert to_wire(update)["destination"] == "session"
    unknown = UnknownUpdate({"type": "new"})
    assert with_destination(unknown, Scope.SESSION) is unknown


def test_P41_an_update_touches_only_its_own_scope_and_behaviour() -> None:
    book = RuleBook.of(allow=["Bash(a)"], deny=["Bash(a)"], scope=Scope.USER)
    replaced = apply_update(
        book, RuleUpdate(kind="replaceRules", rules=(), destination=Scope.LOCAL)
    )
    assert replaced.rules == book.rules
    removed = apply_update(
        book, RuleUpdate(kind="removeRules", rules=(Rule("Bash", "a"),), destination=Scope.USER)
    )
    assert [entry.behaviour for entry in removed.rules] == [Behaviour.DENY]
    assert apply_update(book, ModeUpdate(Mode.PLAN)).mode is Mode.PLAN
