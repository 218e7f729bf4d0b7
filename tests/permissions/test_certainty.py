"""Calls that the policy allows only if their form is one that was measured (CLI-1500 to CLI-1507)."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, CURRENT, Behavior, Family, Mode, RuleBook
from fairlead.permissions.guard import Guard
from tests.permissions.checking import CWD, bash, behavior_of, context, tool

ALLOW, MAY_ASK, ASK = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK
BOTH = (CLASSIC, CURRENT)


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize(
    "command",
    [
        "grep a#b a.txt",
        "cat a''b",
        'echo "a"b',
        "npm \"a\"'b'",
        "npm x='a b'",
        "npm {a}",
        "cat a\\#b",
    ],
)
def test_P77_a_word_that_is_quoted_unusually_may_ask(command: str, family: Family) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(npm:*)"]), context(family)) in (
        MAY_ASK,
        ASK,
    )


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npm run build -- --watch=false",
        "npm run 'a b'",
        'npm run "a b"',
        "grep -rn 'foo bar' src",
        "grep --include='*.py' -rn foo .",
        "git log --format='%h %s' -5",
        "git diff HEAD~1",
        "npm run 'a\nb'",
        "git show HEAD:src/a.py",
        "find . -name '*.py' -type f",
        "ls -la src && cat src/a.py | head -20",
        "cat a.txt 2>/dev/null",
    ],
)
def test_P77_everyday_forms_are_certain(command: str, family: Family) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(npm:*)"]), context(family)) is ALLOW


@pytest.mark.parametrize("command", ["expr *.py build", "npm test *.py", "seq *"])
def test_P77_a_pattern_for_file_names_is_certain_for_few_programs(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(npm:*)"])) in (MAY_ASK, ASK)
    assert behavior_of("ls *.py") is ALLOW


@pytest.mark.parametrize("content", ["npm t?st *", "npm [t]est:*", "npm:*x", "npm \\\\* *"])
def test_P77_a_rule_with_unusual_patterns_promises_nothing(content: str) -> None:
    book = RuleBook.of(allow=[f"Bash({content})"])
    for command in ("npm t?st x", "npm test", "npm [t]est x", "npm:yx", "npm * x"):
        assert behavior_of(command, book) in (MAY_ASK, ASK)


@pytest.mark.parametrize(
    "path", [f"{CWD}//a.txt", "src/../a.txt", f"{CWD}/ x/a.txt", "a\\b", "a\x07b", "~x/a.txt"]
)
def test_P77_an_unusual_path_may_ask(path: str) -> None:
    accepting = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of(tool("Write", file_path=path, content="x"), accepting) in (MAY_ASK, ASK)


@pytest.mark.parametrize(
    "path", ["a.txt", "./a.txt", f"{CWD}/a.txt", f"{CWD}/src/a b (1).py", "ä.md", ".env.x", "a[1]*"]
)
def test_P77_an_ordinary_path_is_certain(path: str) -> None:
    accepting = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of(tool("Write", file_path=path, content="x"), accepting) is ALLOW


def test_P77_the_host_does_not_answer_with_a_decision_that_is_not_certain() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash(npm:*)"]))
    assert guard.answer(bash("npm test"), context()).behavior is ALLOW
    assert not guard.answer(bash("npm 'te'st"), context()).final


@pytest.mark.parametrize("command", ["cat 'a$'", "cat '$X'", "head '`x`'", "ls '$(x)'"])
def test_P78_a_quoted_dollar_sign_in_a_path_asks(command: str) -> None:
    assert behavior_of(command) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "find '*.py'",
        "find . '*.py'",
        "find . -name x '*.py'",
        "find . -type f '*'",
        "find . -nme '*.py'",
        "find . -print '*'",
    ],
)
def test_P79_find_asks_about_a_pattern_that_is_no_value_of_a_test(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of("find . -name '*.py' -o -path './x/*'") is ALLOW


@pytest.mark.parametrize(
    "command",
    ["man /etc/x", "man -x=/etc/x", "numfmt /etc/x", "numfmt -x ../y", "git grep x /etc/x"],
)
def test_P80_more_programs_may_access_only_allowed_files(command: str) -> None:
    program = command.rpartition(" ")[0].partition(" -")[0]
    assert behavior_of(command, RuleBook.of(allow=[f"Bash({program}:*)"])) is ASK


@pytest.mark.parametrize("command", ["git log -- ~root/x", "git log ~x", "echo ~root"])
def test_P81_the_home_folder_of_another_user_is_never_read_only(command: str) -> None:
    assert behavior_of(command) is ASK


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
def test_P82_a_pattern_with_a_slash_at_its_end_covers_only_what_is_below(family: Family) -> None:
    book = RuleBook.of(allow=["Edit(*/)"])
    assert (
        behavior_of(tool("Write", file_path=f"{CWD}/new.txt", content="x"), book, context(family))
        is ASK
    )
    below = behavior_of(
        tool("Write", file_path=f"{CWD}/src/new.txt", content="x"), book, context(family)
    )
    assert below in (ALLOW, MAY_ASK)


def test_P83_in_2_1_38_a_path_with_two_slashes_at_its_start_asks() -> None:
    read = tool("Read", file_path=f"/{CWD}/a.txt")
    assert behavior_of(read, at=context(CLASSIC)) is ASK


@pytest.mark.parametrize("command", ["awk /etc/x", "awk '{print $1}' a.txt", "awk -x ~/x"])
def test_P83_in_2_1_38_the_script_of_awk_may_be_taken_for_a_file(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(awk:*)"]), context(CLASSIC)) in (
        MAY_ASK,
        ASK,
    )
