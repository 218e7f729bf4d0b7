"""Differences that generated calls with a theme have shown (CLI-1508 and later)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    Behavior,
    Family,
    Mode,
    RuleBook,
    Scope,
    SettingsFiles,
    explain,
    load_settings,
    place_of,
)
from tests.permissions.checking import CWD, bash, behavior_of, context, tool

ALLOW, MAY_ASK, ASK, DENY = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK, Behavior.DENY


@pytest.mark.parametrize(
    "command",
    [
        'env -S"npm test"',
        'env -iS"npm test"',
        'env --split-string="npm test"',
        '"" npm test',
        "'' '' npm test",
        "} npm test",
        "sudo '' npm test",
    ],
)
def test_P84_a_deny_rule_matches_behind_empty_words_and_split_strings(command: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=["Bash(npm test)"], allow=["Bash"])) is DENY


def test_P84_strings_of_other_programs_are_no_commands() -> None:
    book = RuleBook.of(deny=["Bash(npm test)"], allow=["Bash"])
    assert behavior_of('echo -S"npm test"', book) is ALLOW


@pytest.mark.parametrize("name", ["Write", "Edit", "NotebookEdit"])
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.BYPASS])
def test_P85_no_file_tool_writes_through_a_symbolic_link(name: str, mode: Mode) -> None:
    link = f"{CWD}/link"
    here = context(links={link: f"{CWD}/a.txt"}, is_link=lambda path: path == link)
    field = "notebook_path" if name == "NotebookEdit" else "file_path"
    assert behavior_of(tool(name, **{field: link}), RuleBook.of(mode=mode), here) is DENY
    asked = RuleBook.of(ask=["Edit"], mode=mode)
    assert behavior_of(tool(name, **{field: link}), asked, here) in (ASK, DENY)
    below = f"{link}/x.txt"
    assert behavior_of(tool(name, **{field: below}), RuleBook.of(mode=mode), here) is not DENY


def test_P85_a_link_may_be_read_and_2_1_38_may_write_through_it() -> None:
    link = f"{CWD}/link"
    links = {link: f"{CWD}/a.txt"}
    new = context(links=links, is_link=lambda path: path == link)
    assert behavior_of(tool("Read", file_path=link), at=new) is ALLOW
    old = context(CLASSIC, links, is_link=lambda path: path == link)
    assert behavior_of(tool("Write", file_path=link, content="x"), at=old) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "timeout 5 touch new.txt",
        "command touch new.txt",
        "builtin mkdir x",
        "touch new.txt <<< x",
        "rm a.txt < b.txt",
    ],
)
def test_P86_accepted_edits_are_plain_commands(command: str) -> None:
    book = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of(command, book) is ASK
    assert behavior_of("touch new.txt", book) is ALLOW


@pytest.mark.parametrize("command", ["\\\nls src", "ls\\\n src", "ls \\\n\\\n src", "ls src \\\n"])
def test_P87_a_backslash_that_joins_lines_at_an_unusual_place_may_ask(command: str) -> None:
    assert behavior_of(command) in (MAY_ASK, ASK)


def test_P87_options_on_a_second_line_are_certain() -> None:
    book = RuleBook.of(allow=["Bash(npm:*)"])
    assert behavior_of("npm run build \\\n  --silent", book) is ALLOW


def test_P88_in_2_1_38_an_unquoted_letter_that_is_not_ascii_asks() -> None:
    assert behavior_of("echo é", at=context(CLASSIC)) in (MAY_ASK, ASK)


@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P89_a_settings_file_can_disable_the_mode_that_bypasses_permissions(
    family: Family, tmp_path: Path
) -> None:
    settings = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(settings))
    book = load_settings(SettingsFiles(paths={Scope.PROJECT: str(file)}))
    bypass = RuleBook.of(mode=Mode.BYPASS, scope=Scope.CLI_ARG)
    assert behavior_of("npm test", bypass, context(family)) is ALLOW
    assert behavior_of("npm test", book.joined(bypass), context(family)) is ASK
    assert "disables" in explain(bash("npm test"), bypass.joined(book), context(family))


def test_P90_mode_auto_denies_what_goes_to_a_classifier_that_is_missing() -> None:
    book = RuleBook.of(
        allow=["Bash(npm:*)", "Bash"], ask=["Bash(rm:*)"], deny=["Bash(git:*)"], mode=Mode.AUTO
    )
    assert behavior_of("npm test", book) is ALLOW
    assert behavior_of("rm a.txt", book) is ASK
    assert behavior_of("git push", book) is DENY
    assert behavior_of("curl x", book) is DENY
    assert behavior_of("ls", book) is ALLOW
    assert behavior_of(tool("WebFetch", url="https://example.invalid/", prompt="p"), book) is DENY
    assert behavior_of(tool("Task", subagent_type="Explore", prompt="p"), book) is DENY
    assert behavior_of(tool("Write", file_path="/etc/x", content="x"), book) is DENY
    assert behavior_of("curl x", book, context(classifier=True)) in (ASK, MAY_ASK)


def test_P91_a_rule_that_denies_a_command_in_a_skill_denies_the_skill(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "skills" / "shelly"
    folder.mkdir(parents=True)
    text = "---\nname: shelly\ndescription: d\n---\nSay !`ls -la`.\n```!\nnpm test\n```\n"
    (folder / "SKILL.md").write_text(text)
    here = place_of(str(tmp_path), str(tmp_path / "home"))
    call = tool("Skill", skill="shelly")
    assert behavior_of(call, at=here) is ASK
    assert behavior_of(call, RuleBook.of(deny=["Bash(ls *)"]), here) is DENY
    assert behavior_of(call, RuleBook.of(deny=["Bash(npm:*)"]), here) is DENY
    assert behavior_of(call, RuleBook.of(deny=["Bash(git:*)"]), here) is ASK


def test_P92_the_source_of_a_copy_counts_as_changed() -> None:
    assert behavior_of("cp .git/config b.md", RuleBook.of(allow=["Bash"])) is ASK
    assert behavior_of("cp a.txt b.md", RuleBook.of(deny=["Edit(a.txt)"], allow=["Bash"])) is DENY
    assert behavior_of("cp a.txt b.md", RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ALLOW


def test_P93_an_agent_without_a_type_is_the_general_one() -> None:
    call = tool("Task", description="d", prompt="p")
    assert behavior_of(call, RuleBook.of(deny=["Agent(general-purpose)"])) is DENY


@pytest.mark.parametrize("end", ["11>&1", "<>/dev/null", "2>&-", "<&3"])
def test_P94_an_unusual_redirection_may_ask(end: str) -> None:
    book = RuleBook.of(allow=["Bash(npm run:*)"])
    assert behavior_of(f"npm run x {end}", book) in (MAY_ASK, ASK)
    assert behavior_of(f"cat a.txt {end}") in (MAY_ASK, ASK)


@pytest.mark.parametrize(
    "end", ["2>&1 1>/dev/null", "2>&1 2>&1", ">&/dev/null", "2>&3", ">|/dev/null", "&>/dev/null"]
)
def test_P94_2_1_38_knows_fewer_redirections(end: str) -> None:
    book = RuleBook.of(allow=["Bash(npm run:*)"])
    assert behavior_of(f"npm run x {end}", book, context(CLASSIC)) in (MAY_ASK, ASK)
    assert behavior_of(f"npm run x {end}", book) is ALLOW


@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
@pytest.mark.parametrize(
    "end", ["2>&1", ">/dev/null 2>&1", "2>/dev/null", "1>&2", "2>&1 >/dev/null"]
)
def test_P94_everyday_redirections_are_certain(end: str, family: Family) -> None:
    book = RuleBook.of(allow=["Bash(npm run:*)"])
    assert behavior_of(f"npm run x {end}", book, context(family)) is ALLOW


def test_P94_an_option_with_a_letter_that_is_not_ascii_may_ask() -> None:
    assert behavior_of("grep x -é") in (MAY_ASK, ASK)


def test_P93_the_name_of_an_agent_is_compared_in_any_case() -> None:
    call = tool("Task", description="d", prompt="p", subagent_type="explore")
    assert behavior_of(call, RuleBook.of(deny=["Task(Explore)"])) is DENY


@pytest.mark.parametrize("command", ["sed -n 3p a.txt", "sed -n '1,5p' src/a.py | head -3"])
def test_P95_2_1_38_asks_about_printing_with_sed_while_edits_are_accepted(command: str) -> None:
    book = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of(command, book, context(CLASSIC)) is ASK
    assert behavior_of(command, at=context(CLASSIC)) is ALLOW
    assert behavior_of(command, book) is ALLOW


@pytest.mark.parametrize("name", ["x~1", "x.con", "x.", ".../x"])
def test_P96_a_rule_for_the_whole_tool_does_not_cover_ambiguous_names(name: str) -> None:
    book = RuleBook.of(allow=["Write", "Read"])
    assert behavior_of(tool("Write", file_path=f"{CWD}/{name}", content="x"), book) is ASK
    assert behavior_of(tool("Read", file_path=f"{CWD}/{name}"), book) in (ALLOW, MAY_ASK)
    assert behavior_of(tool("Write", file_path=f"{CWD}/x.txt", content="x"), book) is ALLOW
    bypass = RuleBook.of(mode=Mode.BYPASS)
    assert behavior_of(tool("Write", file_path=f"{CWD}/{name}", content="x"), bypass) is ALLOW


@pytest.mark.parametrize(
    "command", ["git diff -^x", "git status -.", "grep -. a.txt", "sort -+ a.txt", "rg -% x"]
)
def test_P97_every_word_with_a_dash_is_an_option(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of("git diff HEAD^ -- a.txt") is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "test -f",
        "test --foo a",
        "test a -foo b",
        "test -n x -n",
        "[ --foo a ]",
        "[[+ -f a.txt ]]",
        "[[ + -f a.txt ]]",
    ],
)
def test_P98_a_test_has_known_operators_with_operands(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of("test ! -f a.txt") is behavior_of("[ a.txt -nt b.md ]") is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "[ -f a.txt ]",
        "[[ -f a.txt ]]",
        "if [[ -f a.txt ]]; then ls; fi",
        "[[ -f a.txt ]] && ls",
        "[[ -n x && -f a.txt ]]",
        "[[ ! -f a.txt ]]",
    ],
)
def test_P99_a_deny_rule_matches_a_test_without_its_closing_bracket(command: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=["Bash(* a.txt)"])) is DENY
    assert behavior_of(command, RuleBook.of(deny=["Bash(* b.txt)"])) is not DENY


@pytest.mark.parametrize("name", ["Read", "Write", "Grep"])
def test_P100_a_path_with_a_nul_character_does_not_fail(name: str, tmp_path: Path) -> None:
    at = place_of(str(tmp_path), str(tmp_path), CURRENT)
    path = f"{tmp_path}/a\0b"
    call = tool(name, file_path=path, path=path, content="x", pattern="x")
    assert behavior_of(call, at=at) in (ASK, MAY_ASK)
    assert behavior_of(bash(f"cat '{path}'"), at=at) is not ALLOW


@pytest.mark.parametrize("command", ["cat '' -n", 'grep "" -r', "git log '' -1", "npm '' -x"])
def test_P101_an_option_behind_an_empty_word_asks_in_2_1_38(command: str) -> None:
    book = RuleBook.of(allow=["Bash(npm:*)"])
    assert behavior_of(command, book, context(CLASSIC)) is ASK
    assert behavior_of("echo '' -n", book, context(CLASSIC)) is ALLOW
    assert behavior_of('grep -r "" src', book, context(CLASSIC)) is ALLOW


def test_P102_a_percent_sign_in_a_file_asks_in_2_1_38() -> None:
    assert (
        behavior_of("grep x a%b", at=context(CLASSIC))
        is behavior_of("grep x '%F'", at=context(CLASSIC))
        is ASK
    )
    assert behavior_of("git log --format=%H", at=context(CLASSIC)) is ALLOW
    assert behavior_of("grep %F a.txt", at=context(CLASSIC)) is ALLOW


@pytest.mark.parametrize("command", ["cd src && touch", "cd src && sed +5", "cd src; rm"])
def test_P103_a_writing_command_without_files_asks_after_cd(command: str) -> None:
    book = RuleBook.of(allow=["Bash(touch:*)", "Bash(sed:*)", "Bash(rm:*)"])
    assert behavior_of(command, book) is ASK
    assert behavior_of("cd src && sed s/a/b/", book) is ALLOW
    assert behavior_of("cd src && ls | sed -n 1p", book) is ALLOW


def test_P104_a_star_does_not_stand_for_empty_words_in_2_1_38() -> None:
    book = RuleBook.of(allow=["Bash(python3 *)", "Bash(npm:*)"])
    assert behavior_of('python3 ""', book, context(CLASSIC)) is ASK
    assert behavior_of("python3 '' x", book, context(CLASSIC)) is ALLOW
    assert behavior_of('npm ""', book, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    "command", ["ls > out.txt | cat", "ls | head > out.txt", "npm test | cat >> out.txt"]
)
def test_P105_a_pipeline_that_writes_a_file_asks_in_2_1_38(command: str) -> None:
    book = RuleBook.of(allow=["Bash(npm:*)"], mode=Mode.ACCEPT_EDITS)
    assert behavior_of(command, book, context(CLASSIC)) is ASK
    assert behavior_of(command, book) is ALLOW
    assert behavior_of("ls > out.txt && ls", book, context(CLASSIC)) is ALLOW
    assert behavior_of("ls 2>/dev/null | cat", book, context(CLASSIC)) is ALLOW


def test_P94_in_2_1_38_a_copy_of_another_stream_is_not_certain() -> None:
    assert behavior_of("pwd 3>&1", at=context(CLASSIC)) is MAY_ASK
    assert behavior_of("pwd 2>&1", at=context(CLASSIC)) is ALLOW


def test_P106_a_line_that_ends_with_an_operator_is_not_certain_in_2_1_38() -> None:
    assert behavior_of("true &&\nls src", at=context(CLASSIC)) is MAY_ASK
    assert behavior_of("pwd;\nls src", at=context(CLASSIC)) is MAY_ASK
    assert behavior_of("true && ls src", at=context(CLASSIC)) is ALLOW


def test_P107_a_docker_command_with_a_path_asks() -> None:
    assert behavior_of("docker logs ~/x") is behavior_of("docker inspect ~/x") is ASK
    assert behavior_of("docker logs web-1") is behavior_of("docker inspect a/b:1") is ALLOW
