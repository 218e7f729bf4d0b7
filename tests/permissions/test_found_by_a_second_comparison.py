"""Differences that 4,516 generated calls of a new seed on 2.1.325 have shown."""

from __future__ import annotations

import pytest

from fairlead.permissions import Behavior, RuleBook
from tests.permissions.checking import CWD, behavior_of, context, tool

ALLOW, MAY_ASK, ASK, DENY = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK, Behavior.DENY
EVERYTHING = RuleBook.of(allow=["Bash"])


@pytest.mark.parametrize("command", ["echo $(})", "export X=$(| cat)", 'echo "$(} a)"', "X=$(} a)"])
def test_P137_a_substitution_that_is_not_bash_may_ask_under_every_rule(command: str) -> None:
    assert behavior_of(command, EVERYTHING) is MAY_ASK


@pytest.mark.parametrize("command", ["echo $(cat a.txt)", "echo $(echo })", "} cat a.txt"])
def test_P137_other_substitutions_are_covered(command: str) -> None:
    assert behavior_of(command, EVERYTHING) is ALLOW


@pytest.mark.parametrize("command", ["echo x > link/n.txt", "cat a.txt &> link/n.txt"])
def test_P138_a_write_through_a_link_out_of_the_folder_may_ask(command: str) -> None:
    linked = context(links={f"{CWD}/link": "/outside"})
    assert behavior_of(command, EVERYTHING, linked) is MAY_ASK
    assert behavior_of(command, EVERYTHING) is ALLOW
    inside = context(links={f"{CWD}/link": f"{CWD}/src"})
    assert behavior_of(command, EVERYTHING, inside) is ALLOW


@pytest.mark.parametrize("command", ["ls | xargs -r tail", "ls | xargs -n 1 grep x"])
def test_P139_xargs_may_ask_if_a_rule_denies_files(command: str) -> None:
    assert behavior_of(command, RuleBook()) is ALLOW
    assert behavior_of(command, RuleBook.of(deny=["Read(.env)"])) is MAY_ASK
    assert behavior_of(command, RuleBook.of(deny=["Bash(curl:*)"])) is ALLOW


@pytest.mark.parametrize("command", ["-- wc -l a.txt", "ls | xargs \twc a.txt"])
def test_P140_a_program_named_like_an_option_or_behind_a_tab_may_ask(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(*wc*)"])) is MAY_ASK


@pytest.mark.parametrize("option", ['-c="tee x"', "-c'tee x'", "-qc=tee", '--command="tee x"'])
def test_P141_a_deny_rule_matches_a_command_that_is_glued_to_its_option(option: str) -> None:
    assert (
        behavior_of(f"script {option}", RuleBook.of(deny=["Bash(tee *)"], allow=["Bash"])) is DENY
    )


@pytest.mark.parametrize("pattern", ["**//etc/hosts", "a//etc/*", "//etc//hosts"])
def test_P142_a_denying_pattern_has_no_double_slashes_inside(pattern: str) -> None:
    folder = "/etc" if pattern.startswith("//") else f"{CWD}/a/etc"
    call = tool("Write", file_path=f"{folder}/hosts", content="x")
    assert behavior_of(call, RuleBook.of(deny=[f"Edit({pattern})"], allow=["Edit"])) is DENY
