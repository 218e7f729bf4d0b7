"""The host's own policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.permissions import CLASSIC, Behavior, Decider, Guard, Mode, RuleBook, Scope, ToolCall
from tests.permissions.checking import CWD, HOME, bash, context, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
EDIT = tool("Write", file_path=f"{CWD}/a.txt")
CALLS = st.sampled_from(
    [bash("npm test"), bash("ls"), bash("npm $(x)"), EDIT, tool("mcp__s__t"), tool("New"),
     tool("WebFetch", url="https://example.com/"), tool("AskUserQuestion"), tool("ExitPlanMode")]
)  # fmt: skip


def test_P47_a_rule_of_the_host_answers_and_is_named() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash(npm:*)"], deny=["Bash(rm:*)"], scope=Scope.POLICY))
    allowed = guard.answer(bash("npm test"), context())
    assert (allowed.behavior, allowed.decider, allowed.final) == (ALLOW, Decider.RULE, True)
    assert allowed.decision.rule is not None
    assert str(allowed.decision.rule.rule) == "Bash(npm:*)"
    denied = guard.answer(bash("npm test && sudo rm x"), context())
    assert (denied.behavior, denied.decider) == (DENY, Decider.RULE)
    assert "Bash(rm:*)" in denied.words


def test_P47_a_host_without_rules_leaves_everything_to_the_person() -> None:
    for call in (bash("npm test"), EDIT, tool("mcp__s__t")):
        verdict = Guard().answer(call, context())
        assert (verdict.behavior, verdict.final) == (ASK, False)


@pytest.mark.parametrize("call", [bash("ls"), tool("Read", file_path=f"{CWD}/a"), tool("Task")])
def test_P48_what_looks_harmless_is_still_asked_once_the_cli_asks(call: ToolCall) -> None:
    assert Guard().answer(call, context()).behavior is ASK


def test_P48_an_ask_rule_of_the_host_brings_the_person_in() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash"], ask=["Bash(git push:*)"]))
    verdict = guard.answer(bash("git push"), context())
    assert verdict.behavior is ASK
    assert "Bash(git push:*)" in verdict.words


def test_P48_a_bypass_mode_in_the_rules_of_the_host_is_not_obeyed() -> None:
    guard = Guard(rules=RuleBook.of(mode=Mode.BYPASS))
    assert guard.answer(bash("npm test"), context()).behavior is ASK


def test_P48_the_host_asks_about_protected_files_whatever_the_version() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Write", "Bash"]))
    for call in (tool("Write", file_path=f"{CWD}/.git/hooks/x"), bash("touch .git/hooks/x")):
        assert guard.answer(call, context(CLASSIC)).behavior is ASK


@pytest.mark.parametrize(
    "call",
    [
        EDIT,
        tool("Edit", file_path="/elsewhere/x"),
        tool("NotebookEdit", notebook_path=f"{CWD}/n.ipynb"),
        bash("npm test"),
        bash("rm x"),
        bash("echo x > o"),
        bash("ls $(rm x)"),
        tool("Write", file_path=f"{HOME}/.claude/plans/../settings.json"),
        tool("Write", file_path=f"{HOME}/.claude/plans/x.sh"),
    ],
)
def test_P49_a_planning_host_denies_what_changes_something(call: ToolCall) -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash", "Edit", "Write"]), plan_only=True)
    verdict = guard.answer(call, context())
    assert (verdict.behavior, verdict.decider) == (DENY, Decider.PLAN_MODE)
    assert "planning" in verdict.words


def test_P49_a_planning_host_lets_looking_and_the_plan_itself_be() -> None:
    guard = Guard(plan_only=True)
    plan = tool("Write", file_path=f"{HOME}/.claude/plans/brave-fox.md")
    for call in (plan, bash("ls"), tool("Read", file_path="/etc/hosts"), tool("ExitPlanMode")):
        assert guard.answer(call, context()).behavior is ASK
    linked = context(links={f"{HOME}/.claude/plans/brave-fox.md": f"{CWD}/a.md"})
    assert guard.answer(plan, linked).behavior is DENY


@given(call=CALLS, budget=st.floats(0, 100), over=st.floats(0, 10))
def test_P50_a_spent_budget_denies_everything(call: ToolCall, budget: float, over: float) -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash", "Write"]), budget_usd=budget)
    verdict = guard.answer(call, context(), spent_usd=budget + over)
    assert (verdict.behavior, verdict.decider) == (DENY, Decider.BUDGET)


def test_P50_money_left_denies_nothing() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash"]), budget_usd=1.0)
    assert guard.answer(bash("npm test"), context(), spent_usd=0.99).behavior is ALLOW


@pytest.mark.parametrize("name", ["AskUserQuestion", "ExitPlanMode"])
def test_P51_a_question_to_a_person_stays_with_the_person(name: str) -> None:
    guard = Guard(rules=RuleBook.of(allow=[name], deny=[]), plan_only=True)
    verdict = guard.answer(tool(name), context())
    assert (verdict.behavior, verdict.decider) == (ASK, Decider.PERSON)
