"""Differences that 4,516 generated calls of a new seed on 2.1.325 have shown."""

from __future__ import annotations

import pytest

from fairlead.permissions import Behavior, RuleBook, family_of
from tests.permissions.checking import CWD, HOME, behavior_of, context, tool

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


@pytest.mark.parametrize("command", ['"" terraform apply', "'' terraform apply"])
def test_P143_no_pattern_covers_a_command_without_a_program(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(*terraform*)"])) is ASK
    assert behavior_of("x terraform apply", RuleBook.of(allow=["Bash(*terraform*)"])) is ALLOW


@pytest.mark.parametrize("word", ["''", '""', "'' ''"])
def test_P143_no_star_stands_for_an_empty_word_on_2_1_38(word: str) -> None:
    book = RuleBook.of(allow=["Bash(sudo * ls)"])
    assert behavior_of(f"sudo {word} ls", book, context(family_of("2.1.38"))) is ASK
    assert behavior_of("sudo x ls", book, context(family_of("2.1.38"))) is ALLOW


@pytest.mark.parametrize(
    ("rule", "folder"), [("Read(~/**)", "~"), ("Read(~/**)", "~/"), ("Read(//**)", "/")]
)
def test_P144_a_pattern_for_what_is_in_a_folder_does_not_cover_the_folder(
    rule: str, folder: str
) -> None:
    book = RuleBook.of(allow=[rule])
    assert behavior_of(f"ls {folder}", book) is ASK
    assert behavior_of(f"cat {folder.rstrip('/')}/notes.txt", book) is ALLOW


@pytest.mark.parametrize("tool_name", ["Read", "Write"])
def test_P144_the_pattern_for_the_home_folder_allows_nothing_on_2_1_38(tool_name: str) -> None:
    book = RuleBook.of(allow=["Read(~/**)", "Edit(~/**)"])
    call = tool(tool_name, file_path=f"{HOME}/notes.txt", content="x")
    assert behavior_of(call, book, context(family_of("2.1.38"))) is ASK
    assert behavior_of(call, book) is ALLOW


@pytest.mark.parametrize("target", ["> ~/n.txt", ">> ~/n.txt", '2> "~/n.txt"', "&> ~/n.txt"])
def test_P145_only_a_rule_for_bash_covers_a_redirection_to_the_home_folder(target: str) -> None:
    command = f"cat a.txt {target}"
    assert behavior_of(command, RuleBook.of(allow=["Edit(~/**)", "Edit(//**)"])) is ASK
    assert behavior_of(command, EVERYTHING) is ALLOW


@pytest.mark.parametrize("word", ["/usr/bin/A=1", "a/B=", "A=1"])
def test_P146_a_deny_rule_matches_behind_an_assignment_with_a_path(word: str) -> None:
    denying = RuleBook.of(deny=["Bash(tar xf x.tgz *)"], allow=["Bash"])
    assert behavior_of(f">({word} tar xf x.tgz)", denying) is DENY
