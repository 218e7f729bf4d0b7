"""Rules for tools of MCP servers."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, Behavior, RuleBook, ToolCall, check
from tests.permissions.checking import behavior_of, context, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        ("mcp__s", "mcp__s__t", ALLOW),
        ("mcp__s__*", "mcp__s__t", ALLOW),
        ("mcp__s__t", "mcp__s__t", ALLOW),
        ("mcp__s__t", "mcp__s__tt", ASK),
        ("mcp__s__t", "mcp__s__t__x", ASK),
        ("mcp__s", "mcp__s2__t", ASK),
        ("mcp__s", "mcp__s__x__t", ASK),
        ("mcp__s__get*", "mcp__s__get_user", ALLOW),
        ("mcp__s__get*", "mcp__s__set_user", ASK),
        ("mcp__*", "mcp__s__t", ASK),
        ("mcp__s*", "mcp__s__t", ASK),
        ("mcp__S__t", "mcp__s__t", ASK),
        ("mcp__s(*)", "mcp__s__t", ASK),
    ],
)
def test_P23_an_allow_rule_covers_a_server_or_a_tool(
    rule: str, name: str, expected: Behavior
) -> None:
    assert behavior_of(tool(name), RuleBook.of(allow=[rule])) is expected


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        ("mcp__s", "mcp__s__t", DENY),
        ("mcp__s", "mcp__s__x__t", DENY),
        ("mcp__s__t", "mcp__s__t", DENY),
        ("mcp__s__t", "mcp__s__tt", ASK),
        ("mcp__*", "mcp__s__t", DENY),
        ("mcp__s__t*", "mcp__s__tt", DENY),
        ("mcp__s2", "mcp__s__t", ASK),
    ],
)
def test_P23_a_deny_rule_assumes_the_worst(rule: str, name: str, expected: Behavior) -> None:
    assert behavior_of(tool(name), RuleBook.of(deny=[rule])) is expected


def test_P23_the_server_settles_what_a_name_leaves_open() -> None:
    book = RuleBook.of(allow=["mcp__s"])
    of_s = ToolCall(tool="mcp__s__x__t", mcp_server="s")
    of_s_x = ToolCall(tool="mcp__s__x__t", mcp_server="s__x")
    assert check(of_s, book, context()).behavior is ALLOW
    assert check(of_s_x, book, context()).behavior is ASK


def test_P23_old_versions_know_no_star_in_a_tool_name() -> None:
    book = RuleBook.of(allow=["mcp__s__get*"])
    assert behavior_of(tool("mcp__s__get_user"), book, context(CLASSIC)) is ASK
