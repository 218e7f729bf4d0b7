"""One rule: parsed, printed, and why it may match nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.permissions import Behavior, Rule, RuleBook
from tests.permissions.checking import behavior_of

TOOL_NAMES = st.from_regex(r"[A-Z][A-Za-z]{0,11}|mcp__[a-z]{1,6}(__[a-z]{1,6})?", fullmatch=True)


@given(tool=TOOL_NAMES, content=st.none() | st.text())
def test_P1_a_printed_rule_is_read_back_as_the_same_rule(tool: str, content: str | None) -> None:
    rule = Rule(tool, content)
    assert Rule.parse(str(rule)) == rule


@given(text=st.text() | st.from_regex(r"[A-Z]\w*\([^a]*\)?"))
def test_P1_any_text_settles_after_it_was_read_once(text: str) -> None:
    rule = Rule.parse(text)
    assert Rule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "tool", "content"),
    [
        ("Read", "Read", None),
        ("Bash(npm:*)", "Bash", "npm:*"),
        ("Bash(wget (a))", "Bash", "wget (a)"),
        (r"Bash(pytest \(x\))", "Bash", "pytest (x)"),
        (r"Bash(a\ b)", "Bash", r"a\ b"),
        (r"Bash(a\\b)", "Bash", r"a\b"),
        ("mcp__s__t", "mcp__s__t", None),
        ("Bash(npm", "Bash(npm", None),
        ("(npm)", "(npm)", None),
        ("Bash(npm:*)x", "Bash(npm:*)x", None),
        ("Bash()", "Bash", ""),
        ("", "", None),
    ],
)
def test_P1_a_rule_is_a_tool_and_perhaps_a_content(
    text: str, tool: str, content: str | None
) -> None:
    assert Rule.parse(text) == Rule(tool, content)


@pytest.mark.parametrize("tool", ["Read", "WebSearch", "Bash"])
def test_P1_a_bare_tool_covers_every_use_of_it(tool: str) -> None:
    assert Rule(tool).whole_tool
    assert Rule("Bash", "*").whole_tool
    assert not Rule("Bash", "npm:*").whole_tool


@pytest.mark.parametrize(
    ("text", "part_of_the_reason"),
    [
        ("", "names no tool"),
        ("bash(npm:*)", "not the name of a tool"),
        (" Bash(npm:*)", "not the name of a tool"),
        ("Bash(npm:*) ", "parentheses do not match"),
        ("Bash(npm", "parentheses do not match"),
        ("Bash()", "empty"),
        ("Bash( )", "empty"),
        ("Bash(:*)", "before ':*'"),
        ("mcp__s__t(x)", "no parentheses"),
    ],
)
def test_P2_a_malformed_rule_says_why(text: str, part_of_the_reason: str) -> None:
    assert part_of_the_reason in (Rule.parse(text).problem or "")
    assert Rule.parse(text).problem_in_old == Rule.parse(text).problem


@pytest.mark.parametrize(
    ("text", "part_of_the_reason"),
    [
        ("Bash(npm:* x)", "at the very end"),
        ("Bash(go:*x)", "at the very end"),
        ("WebFetch(https://example.invalid)", "domain:HOST"),
        ("WebSearch(a*)", "no wildcards"),
        ("Read(secret.txt:*)", "only for Bash"),
        ("Edit(s*t.txt)", "edge of a name"),
        ("Bash(f())", "do not match"),
    ],
)
def test_P2_a_rule_that_only_an_old_cli_rejects_says_why(
    text: str, part_of_the_reason: str
) -> None:
    assert Rule.parse(text).problem is None
    assert part_of_the_reason in (Rule.parse(text).problem_in_old or "")


@pytest.mark.parametrize("text", ["bash(npm:*)", "Bash(npm", "Bash(:*)", "Bash()"])
def test_P2_a_malformed_rule_matches_nothing(text: str) -> None:
    assert behavior_of("npm test", RuleBook.of(allow=[text])) is Behavior.ASK
    assert (
        behavior_of("npm test", RuleBook.of(allow=["Bash(npm:*)"], deny=[text])) is Behavior.ALLOW
    )


@given(text=st.text())
def test_P2_reading_a_rule_never_fails(text: str) -> None:
    rule = Rule.parse(text)
    assert rule.problem is None or isinstance(rule.problem, str)
    assert isinstance(rule.whole_tool, bool)
