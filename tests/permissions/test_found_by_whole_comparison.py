"""Differences that the first comparison of 5,000 generated calls on each version has shown."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, Behavior, Mode, RuleBook, family_of
from tests.permissions.checking import CWD, behavior_of, context, tool

ALLOW, MAY_ASK, ASK, DENY = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK, Behavior.DENY


@pytest.mark.parametrize("word", ["done", "fi", "esac", "elif", "fi done"])
def test_P108_a_deny_rule_matches_behind_the_end_of_a_loop_or_condition(word: str) -> None:
    book = RuleBook.of(deny=["Bash(npm:*)"], allow=["Bash"])
    assert behavior_of(f"{word} npm test", book) is DENY
    assert behavior_of(f"ls; {word} npm test", book) is DENY


@pytest.mark.parametrize("command", ["cat a.txt", "ls src", "grep x a.txt", "head .env"])
def test_P109_a_pattern_for_all_files_denies_the_files_of_commands(command: str) -> None:
    for family in (None, CLASSIC):
        here = context(family) if family else context()
        assert behavior_of(command, RuleBook.of(deny=["Read(**)"], allow=["Bash"]), here) is DENY
        assert behavior_of(command, RuleBook.of(deny=["Read(*)"], allow=["Bash"]), here) is ALLOW


def test_P109_a_pattern_for_all_edits_denies_writes() -> None:
    book = RuleBook.of(deny=["Edit(**)"], allow=["Bash"])
    assert behavior_of(tool("Write", file_path=f"{CWD}/n.txt", content="x"), book) is DENY
    assert behavior_of("echo x > out.txt", book) is DENY


@pytest.mark.parametrize(
    "command", ["ls", "ls -la", "find -name x", "rg foo", "grep -rn foo", "git grep foo", "cd"]
)
def test_P110_a_command_without_files_reads_the_working_directory(command: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=["Read(//**)"], allow=["Bash"])) is DENY
    assert behavior_of(command, RuleBook.of(deny=["Read(src/**)"], allow=["Bash"])) is ALLOW


def test_P110_a_command_that_reads_its_input_names_no_folder() -> None:
    assert behavior_of("grep foo", RuleBook.of(deny=["Read(//**)"], allow=["Bash"])) is ALLOW


@pytest.mark.parametrize("rule", ["Read(a.txt)", "Read(./**)", "Edit(a.txt)", "Write(a.txt)"])
@pytest.mark.parametrize("command", ["cat a.txt", "echo x > a.txt", "cp a.txt b.txt"])
def test_P111_rules_that_ask_about_files_do_not_reach_commands(rule: str, command: str) -> None:
    assert behavior_of(command, RuleBook.of(ask=[rule], allow=["Bash"])) is ALLOW
    denied = RuleBook.of(deny=[rule], allow=["Bash"])
    reads = rule.startswith("Read") and ">" not in command
    writes = not rule.startswith("Read") and not command.startswith("cat")
    assert (behavior_of(command, denied) is DENY) is (reads or writes)


@pytest.mark.parametrize("before", ["", "nice -n 3 ", "timeout 5 ", "sudo "])
def test_P112_a_deny_rule_may_contain_the_quotes_of_a_command(before: str) -> None:
    book = RuleBook.of(deny=["Bash(npm \"a\"' b' *)"], mode=Mode.BYPASS)
    assert behavior_of(f"{before}npm \"a\"' b' c", book) is DENY


@pytest.mark.parametrize("command", ["-c x", "npm test", 'cat <<"E"\n$X\nE'])
def test_P113_a_rule_of_stars_only_is_not_certain(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(**)"]), context(CLASSIC)) in (MAY_ASK, ASK)
    assert behavior_of("ls", RuleBook.of(allow=["Bash(**)"]), context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    "command", ["if [ -d src ]; then ls src; fi 2>&1", "for i in 1 2; do ls; done > /dev/null"]
)
def test_P114_a_redirection_of_a_whole_condition_asks(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of("if [ -d src ]; then ls src; fi") is ALLOW


@pytest.mark.parametrize("option", ["-C src", "-c a=b", "--no-pager", "--git-dir=x"])
def test_P115_files_behind_the_options_of_git_are_checked(option: str) -> None:
    book = RuleBook.of(deny=[f"Read(/{CWD}/secret.txt)"], allow=["Bash"])
    assert behavior_of(f"git {option} diff {CWD}/secret.txt", book) is DENY


def test_P115_files_are_seen_from_the_folder_that_git_changes_to() -> None:
    book = RuleBook.of(deny=["Read(secret.txt)"], allow=["Bash"])
    assert behavior_of("git -C src diff ../secret.txt", book) is DENY
    assert behavior_of("git -C src diff other.txt", book) is ALLOW


@pytest.mark.parametrize("mode", [Mode.PLAN, Mode.AUTO])
@pytest.mark.parametrize(
    "command", ["bash -c 'npm test'", "sudo npm test", "'A=1 npm test'", "systemd-run npm test"]
)
def test_P116_an_ask_rule_that_the_cli_may_not_see_is_left_to_the_classifier(
    mode: Mode, command: str
) -> None:
    book = RuleBook.of(ask=["Bash(npm test)"], allow=["Bash"], mode=mode)
    assert behavior_of(command, book) is DENY
    assert behavior_of("npm test", book) is ASK


def test_P116_mode_auto_leaves_mcp_tools_to_the_classifier() -> None:
    assert behavior_of(tool("mcp__srv__echo", text="x"), RuleBook.of(mode=Mode.AUTO)) is DENY
    assert behavior_of(tool("mcp__srv__echo", text="x"), RuleBook.of(mode=Mode.PLAN)) is ASK


def test_P117_words_that_look_like_options_of_git_ask_in_2_1_38() -> None:
    assert behavior_of("echo git -c core.pager=cat log", at=context(CLASSIC)) is ASK
    assert behavior_of("echo 'git -c x'", at=context(CLASSIC)) is ASK
    assert behavior_of("echo git log", at=context(CLASSIC)) is ALLOW
    assert behavior_of("grep git -c a.txt", at=context(CLASSIC)) is ALLOW
    assert behavior_of("echo git -c core.pager=cat log") is ALLOW


@pytest.mark.parametrize(
    "command", ["tree", "tree -L 2", "tac a.txt", "readlink a.txt", "docker logs web"]
)
def test_P118_2_1_29_has_fewer_read_only_programs(command: str) -> None:
    assert behavior_of(command, at=context(family_of("2.1.29"))) is ASK
    assert behavior_of(command, at=context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    ("version", "plan", "auto"),
    [("2.1.120", ASK, DENY), ("2.1.220", DENY, DENY), ("2.1.325", DENY, DENY)],
)
def test_P119_mode_auto_has_a_classifier_since_2_1_120(
    version: str, plan: Behavior, auto: Behavior
) -> None:
    here = context(family_of(version))
    assert behavior_of("npm test", RuleBook.of(mode=Mode.PLAN), here) is plan
    assert behavior_of("npm test", RuleBook.of(mode=Mode.AUTO), here) is auto


def test_P120_a_here_document_with_an_open_quote_asks() -> None:
    assert behavior_of('cut -c 1 <<-"E\n\tx\nE') is ASK
    assert behavior_of('cut -c 1 <<"E"\nx\nE') is ALLOW


@pytest.mark.parametrize("command", ["log", "show", "rev-list", "shortlog", "for-each-ref"])
def test_P121_git_formats_that_a_setting_may_define_ask(command: str) -> None:
    for known in ("oneline", "'%h %s'", "format:x", "'tformat:%an'", "raw", '""'):
        assert behavior_of(f"git {command} --format={known}") is ALLOW
    for other in ("mine", "reference", "secret.txt", "mboxrd", "Oneline"):
        assert behavior_of(f"git {command} --format={other}") is ASK
        assert behavior_of(f"git {command} --format {other}") is ASK


@pytest.mark.parametrize("value", ["%G?", "x%GK", "%+GS", "% G", "%(signature)", "format:%G?"])
def test_P121_git_formats_that_verify_a_signature_ask(value: str) -> None:
    for option in ("--format", "--pretty"):
        assert behavior_of(f"git log {option}='{value}'") is ASK
    assert (
        behavior_of(f"git log --format='{value}'", RuleBook.of(allow=["Bash(git log:*)"])) is ALLOW
    )


def test_P121_the_number_of_git_branch_must_be_attached() -> None:
    assert behavior_of("git branch --abbrev=3") is ALLOW
    assert behavior_of("git branch --abbrev 3") is ASK


@pytest.mark.parametrize("option", ["-A x", "-LA", "-AL", "-H", "-tHx x", '"-A"'])
def test_P122_stat_that_sets_a_variable_asks_under_every_narrow_rule(option: str) -> None:
    assert behavior_of(f"stat {option} a.txt") is ASK
    assert behavior_of(f"stat {option} a.txt", RuleBook.of(allow=["Bash(stat:*)"])) is ASK
    assert behavior_of(f"stat {option} a.txt", RuleBook.of(allow=["Bash"])) is ALLOW
    assert behavior_of("stat -c %A a.txt") is ALLOW


@pytest.mark.parametrize("option", ["-../../x", "-Q'$X'", "--'`id`'", "--x=../../../y"])
@pytest.mark.parametrize("program", ["cat", "tail", "ls", "wc", "diff", "cut", "strings"])
def test_P123_an_option_behind_an_operand_is_a_file_too(program: str, option: str) -> None:
    assert behavior_of(f"{program} a.txt {option}") is ASK
    assert behavior_of(f"{program} a.txt -n") is ALLOW


def test_P123_a_lone_dash_is_no_value_of_an_option() -> None:
    for command in ("git log --since=-", "git log --author - x", "sort -k - a.txt", "grep -e=- x"):
        assert behavior_of(command) is ASK


def test_P123_man_reads_no_files_and_has_its_options_first() -> None:
    for command in ("man ls", "man -k ls", "man 3 printf", "man a.txt"):
        assert behavior_of(command) is ALLOW
    for command in ("man ls -k", "man a/b", "man ./x"):
        assert behavior_of(command) is ASK


def test_P124_tr_reads_what_follows_its_sets() -> None:
    for command in ("tr a b /etc/passwd", "tr -d a ../../x", "tr -cd a /etc/x", "tr a b '$X'"):
        assert behavior_of(command) is ASK
    for command in ("tr a /etc/passwd", "tr -d /etc/passwd", "tr '$X' a", "tr a b"):
        assert behavior_of(command) is ALLOW


@pytest.mark.parametrize("test", ["path", "ipath", "wholename", "lname", "ilname", "anewer"])
def test_P124_find_compares_with_files(test: str) -> None:
    assert behavior_of(f"find . -{test} ../x") is ASK
    assert behavior_of(f"find . -{test} './src'") is ALLOW
    assert behavior_of("find . -name ../x") is ALLOW


def test_P125_two_dashes_do_not_end_the_options_of_base64_and_git_blame() -> None:
    for program in ("base64", "git blame"):
        assert behavior_of(f"{program} -- a.txt") is ALLOW
        assert behavior_of(f"{program} -- a.txt -x") is ASK
    assert behavior_of("git blame -- a.txt -w") is ALLOW
    assert behavior_of("git log -- a.txt -x") is ALLOW
