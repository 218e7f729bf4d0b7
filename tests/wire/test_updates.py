"""Permission updates on their way out: W57 of docs/wire.md."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.errors import UsageError
from fairlead.wire.encode import encode
from fairlead.wire.inputs import Answer
from fairlead.wire.modes import MODES
from fairlead.wire.updates import (
    BEHAVIORS,
    DESTINATIONS,
    AddDirectories,
    AddRules,
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    RuleValue,
    SetMode,
    UnknownUpdate,
    check,
    with_destination,
)

LS = RuleValue("Bash", "ls *")


def rules(**changes: Any) -> AddRules:
    return AddRules(**{"rules": (LS,), "behavior": "allow", "destination": "session", **changes})


RIGHT: list[PermissionUpdate] = [
    *(rules(destination=destination) for destination in DESTINATIONS),
    *(rules(behavior=behavior) for behavior in BEHAVIORS),
    *(SetMode(mode=mode, destination="session") for mode in MODES),
    RemoveRules(rules=(RuleValue("Bash"),), behavior="deny", destination="localSettings"),
    ReplaceRules(rules=(LS,), behavior="ask", destination="userSettings"),
    ReplaceRules(rules=(), behavior="ask", destination="session"),
    AddDirectories(directories=("/workspace",), destination="session"),
    RemoveDirectories(directories=("/workspace",), destination="session"),
]

WRONG: list[tuple[Any, str]] = [
    (rules(destination="everywhere"), "destination 'everywhere' is not one of session"),
    (rules(destination=None), "destination None is not one of"),
    (rules(behavior="maybe"), "behavior 'maybe' is not one of allow, deny, ask"),
    (rules(rules=()), "without rules changes nothing"),
    (rules(rules="Bash"), "is a tuple of RuleValue"),
    (rules(rules=[LS]), "is a tuple of RuleValue"),
    (rules(rules=({"toolName": "Bash"},)), "is a tuple of RuleValue"),
    (rules(rules=(LS, RuleValue(""))), "needs the name of a tool"),
    (rules(rules=(RuleValue(5),)), "needs the name of a tool"),  # type: ignore[arg-type]
    (rules(rules=(RuleValue("Bash", 5),)), "is a text, not 5"),  # type: ignore[arg-type]
    (RemoveRules(rules=(), behavior="allow", destination="session"), "changes nothing"),
    (
        SetMode(mode="nonsense", destination="session"),
        "mode 'nonsense' is not one of plan, dontAsk, default",
    ),
    (SetMode(mode="delegate", destination="session"), "mode 'delegate' is not one of"),
    (SetMode(mode="plan", destination="policySettings"), "destination 'policySettings'"),
    (AddDirectories(directories=(), destination="session"), "changes nothing"),
    (AddDirectories(directories=("",), destination="session"), "is a tuple of str"),
    (AddDirectories(directories="/workspace", destination="session"), "is a tuple of str"),  # type: ignore[arg-type]
    (UnknownUpdate("lendRules", {"type": "lendRules"}), "'lendRules' cannot be sent"),
    ({"type": "setMode"}, "a dict is not a permission update"),
    (None, "a NoneType is not a permission update"),
]


@pytest.mark.parametrize("update", RIGHT, ids=repr)
def test_W57_an_update_that_every_cli_takes_as_it_is_meant_passes(update: PermissionUpdate) -> None:
    check(update)
    assert encode(Answer(request_id="r", response={"updatedPermissions": [update]}))


@pytest.mark.parametrize(
    ("update", "problem"), WRONG, ids=lambda v: v if isinstance(v, str) else ""
)
def test_W57_any_other_update_is_refused_in_words(update: Any, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        check(update)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    "update", [update for update, _ in WRONG if isinstance(update, PermissionUpdate)], ids=repr
)
def test_W57_an_answer_with_a_wrong_update_is_not_written(update: PermissionUpdate) -> None:
    with pytest.raises(UsageError):
        encode(Answer(request_id="r", response={"updatedPermissions": [update]}))


def test_W57_an_update_is_written_in_the_words_of_the_cli() -> None:
    update = rules(rules=(LS, RuleValue("Read")), destination="localSettings")
    line = encode(Answer(request_id="r", response={"updatedPermissions": [update]}))
    assert (
        b'{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"},'
        b'{"toolName":"Read"}],"behavior":"allow","destination":"localSettings"}'
    ) in line


def test_only_for_this_session_is_the_same_update_with_another_destination() -> None:
    lasting = rules(destination="localSettings")
    assert with_destination(lasting, "session") == rules(destination="session")
    unknown = UnknownUpdate("lendRules", {"type": "lendRules"})
    assert with_destination(unknown, "session") is unknown


def test_a_rule_is_shown_as_settings_files_write_it() -> None:
    assert str(LS) == "Bash(ls *)"
    assert str(RuleValue("Read")) == "Read"
    assert str(RuleValue("Read", "")) == "Read()"
