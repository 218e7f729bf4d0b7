"""Effects of a host's answer: edited input, rules in every scope, denials (CLI-307)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead import Allow, Deny, Destination
from fairlead.host.options.groups import SettingsSources
from fairlead.model_api.replies import use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import PermissionDenial, Result
from fairlead.wire.system import PermissionDenied, Status
from fairlead.wire.updates import (
    DESTINATIONS,
    AddRules,
    PermissionUpdate,
    RemoveRules,
    ReplaceRules,
    RuleValue,
)
from tests.e2e.real_cli.cli_harness import (
    CliHarness,
    HeldRequests,
    ScriptedDecisions,
    all_of,
    one_of,
    tool_lines,
)
from tests.e2e.real_cli.recording_observer import ended


async def test_an_allowed_tool_runs_with_the_original_or_the_edited_input(
    harness: CliHarness,
) -> None:
    """CLI-310: userModified is false, even when the host changed the input."""
    file = harness.project / "a.txt"
    edited = {"file_path": str(file), "content": "from the host"}
    decisions = ScriptedDecisions(Allow(), Allow(edited))
    async with harness.session(on_permission=decisions) as session:
        await harness.use(session, "Write", file_path=str(file), content="from the model")
        assert file.read_text() == "from the model"
        ran = await harness.use(session, "Write", file_path=str(file), content="from the model")
    assert file.read_text() == "from the host"
    ((line, block),) = tool_lines(ran)
    assert block.is_error is not True
    assert line.tool_use_result["content"] == "from the host"
    assert line.tool_use_result.get("userModified") in (None, False)


async def test_returned_suggestions_take_effect_immediately(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-303: updatedPermissions with the suggestions echoed back, in their own scope."""
    command = harness.script()
    decisions = AlwaysAllows()
    async with harness.session(on_permission=decisions) as session:
        await harness.use(session, "Bash", command=f"{command} one", description="d")
        await harness.use(session, "Bash", command=f"{command} one", description="d")
        assert decisions.tools == ["Bash"]
        written = await harness.use(session, "Write", **new_file(harness, "a.txt"))
        await harness.use(session, "Write", **new_file(harness, "b.txt"))
    assert decisions.tools == ["Bash", "Write"]
    modes = [status.permission_mode for status in all_of(Status, written)]
    assert "acceptEdits" in modes
    kept = rules_in(harness.project / ".claude" / "settings.local.json")
    wildcard = " *" if cli.key >= (2, 1, 120) else ""
    assert kept == {"allow": [f"Bash({command} one{wildcard})"]}
    assert (harness.project / "b.txt").read_text() == "x"


async def test_suggestions_for_the_session_change_no_file(harness: CliHarness) -> None:
    """CLI-305: for "this session" the destination of the suggestions is overwritten."""
    command = harness.script()
    decisions = AlwaysAllows("session")
    async with harness.session(on_permission=decisions) as session:
        await harness.use(session, "Bash", command=f"{command} one", description="d")
        await harness.use(session, "Bash", command=f"{command} one", description="d")
    assert decisions.tools == ["Bash"]
    assert not (harness.project / ".claude").exists()


class AlwaysAllows(ScriptedDecisions):
    """Allows, and takes over what is suggested."""

    def __init__(self, destination: Destination | None = None) -> None:
        super().__init__()
        self._destination = destination

    async def __call__(self, request: Any) -> Allow | Deny:
        self.asked.append(request)
        return Allow.always(request, self._destination)


async def test_a_rule_can_be_saved_in_each_of_the_five_scopes(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-305: destinations; 2.1.325 ignores an allow rule in the files of an untrusted project."""
    command = harness.script()
    calls = {destination: f"{command} {destination}" for destination in DESTINATIONS}
    decisions = ScriptedDecisions()
    async with harness.session(on_permission=decisions) as session:
        for destination, call in calls.items():
            decisions.decide_next(Allow(updates=[allow(call, destination)]))
            await harness.use(session, "Bash", command=call, description="d")
        assert len(decisions.asked) == len(DESTINATIONS)
        for call in calls.values():
            await harness.use(session, "Bash", command=call, description="d")
    asked_again = [request.input["command"] for request in decisions.asked[len(DESTINATIONS) :]]
    assert asked_again == ([calls["projectSettings"]] if cli.key >= (2, 1, 220) else [])
    files = {
        "localSettings": harness.project / ".claude" / "settings.local.json",
        "projectSettings": harness.project / ".claude" / "settings.json",
        "userSettings": harness.home / ".claude" / "settings.json",
    }
    for destination, path in files.items():
        assert rules_in(path) == {"allow": [f"Bash({calls[destination]})"]}


async def test_later_answers_add_remove_and_replace_rules(harness: CliHarness) -> None:
    """CLI-300: addRules, removeRules, replaceRules."""
    command = harness.script()
    one, two = RuleValue("Bash", f"{command} one"), RuleValue("Bash", f"{command} two")
    scope: dict[str, Any] = {"behavior": "allow", "destination": "session"}
    decisions = ScriptedDecisions(
        Allow(updates=[AddRules(rules=(one,), **scope)]),
        Allow(updates=[RemoveRules(rules=(one,), **scope), AddRules(rules=(two,), **scope)]),
        Allow(updates=[ReplaceRules(rules=(one,), **scope)]),
    )
    async with harness.session(on_permission=decisions) as session:
        for words in ("one", "one", "other", "two", "one", "one", "two"):
            await harness.use(session, "Bash", command=f"{command} {words}", description="d")
    asked = [str(request.input["command"]).split()[-1] for request in decisions.asked]
    assert asked == ["one", "other", "one", "two"]


async def test_an_allow_can_include_a_rule_that_denies_later_calls(harness: CliHarness) -> None:
    """CLI-307: this call runs, the next is denied without a prompt."""
    command = f"{harness.script()} never"
    never = AddRules(rules=(RuleValue("Bash", command),), behavior="deny", destination="session")
    decisions = ScriptedDecisions(Allow(updates=[never]))
    async with harness.session(on_permission=decisions) as session:
        first = await harness.use(session, "Bash", command=command, description="d")
        second = await harness.use(session, "Bash", command=command, description="d")
    assert len(decisions.asked) == 1
    assert tool_lines(first)[0][1].is_error is not True
    assert tool_lines(second)[0][1].is_error is True


async def test_a_result_lists_the_denials_of_its_own_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-307: permission_denials, of a host and of a rule; 2.1.325 also reports the latter."""
    command = harness.script()
    settings = {"permissions": {"deny": [f"Bash({command} ruled)"]}}
    decisions = ScriptedDecisions(Deny("not today"))
    async with harness.session(
        on_permission=decisions, settings=SettingsSources(value=settings)
    ) as session:
        asked = await harness.use(session, "Bash", command=f"{command} asked", description="d")
        ruled = await harness.use(session, "Bash", command=f"{command} ruled", description="d")
        allowed = await harness.use(session, "Bash", command=f"{command} allowed", description="d")
    assert harness.model.requests[1].tool_results[0].text == "not today"
    (denial,) = one_of(Result, asked).permission_denials
    assert denial == PermissionDenial(
        tool_name="Bash",
        tool_use_id=decisions.asked[0].tool_use_id,
        tool_input={"command": f"{command} asked", "description": "d"},
    )
    (by_rule,) = one_of(Result, ruled).permission_denials
    assert by_rule.tool_input["command"] == f"{command} ruled"
    assert one_of(Result, allowed).permission_denials == ()
    assert [request.input["command"] for request in decisions.asked] == [
        f"{command} asked",
        f"{command} allowed",
    ]
    told = [denied.tool_use_id for denied in all_of(PermissionDenied, ruled)]
    assert told == ([by_rule.tool_use_id] if cli.key >= (2, 1, 220) else [])


def new_file(harness: CliHarness, name: str) -> dict[str, str]:
    return {"file_path": str(harness.project / name), "content": "x"}


def allow(command: str, destination: str) -> PermissionUpdate:
    rules = (RuleValue("Bash", command),)
    return AddRules(rules=rules, behavior="allow", destination=destination)


def rules_in(path: Path) -> Any:
    return json.loads(path.read_text())["permissions"]


@pytest.mark.only(since="2.1.325")
async def test_deny_rules_given_as_settings_hold_at_once(harness: CliHarness) -> None:
    """CLI-334: also in the middle of a turn, and for a call that the mode allows."""
    asked = harness.script()
    harness.model.push(use("Bash", command="touch a.txt"))
    harness.model.push(use("Bash", command=asked))
    harness.model.push(use("Bash", command="touch b.txt"))
    decisions = HeldRequests()
    async with harness.session(on_permission=decisions, permission_mode="acceptEdits") as session:
        turn = await session.send("go")
        await decisions.arrived(1)
        await session.apply_flag_settings({"permissions": {"deny": ["Bash(touch *)"]}})
        decisions.answer(decisions.asked[0], Deny("No."))
        await ended(turn)
    assert (harness.project / "a.txt").exists()
    assert not (harness.project / "b.txt").exists()
    assert len(decisions.asked) == 1
