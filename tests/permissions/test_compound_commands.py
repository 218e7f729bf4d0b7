"""Combinations of syntax about which the CLI asks although each part alone is allowed."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, Behavior, RuleBook
from tests.permissions.checking import behavior_of, context, tool

ALLOW, MAY_ASK, DENY = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.DENY
RULES = RuleBook.of(allow=["Bash(npm test:*)"])


@pytest.mark.parametrize(
    "command",
    [
        "ls 2>&1 # c",
        "npm test >/dev/null #",
        "ls\ncat < a.txt # x",
        "ls &&\n# c\nls",
        "ls && # c\nls",
        "ls || # it's\nls",
        "ls | # c\n# d\nsort",
    ],
)
def test_P130_a_comment_behind_a_redirection_or_an_operator_may_ask(command: str) -> None:
    assert behavior_of(command, RULES) is MAY_ASK


@pytest.mark.parametrize("command", ["ls # c", "# c\nnpm test 2>&1", "ls 2>&1\n# c\nls"])
def test_P130_other_comments_are_certain(command: str) -> None:
    assert behavior_of(command, RULES) is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "if ls; then ls | sort -u; fi",
        "while true; do ls <<< x; done",
        "until ls; do npm test 2>&1 | cat; done",
    ],
)
def test_P131_a_loop_with_a_pipeline_or_a_document_may_ask(command: str) -> None:
    assert behavior_of(command, RULES) is MAY_ASK


@pytest.mark.parametrize(
    "command", ["if ls 2>/dev/null; then ls; fi", "if ls; then ls; else pwd; fi", "ls 2>&1 | cat"]
)
def test_P131_others_are_certain(command: str) -> None:
    assert behavior_of(command, RULES) is ALLOW


@pytest.mark.parametrize("command", ["cd src && wc -l < a.txt", "ls 0<a.txt || cd src"])
def test_P132_a_cd_with_an_input_redirection_may_ask(command: str) -> None:
    assert behavior_of(command, RULES) is MAY_ASK


def test_P132_a_line_that_only_begins_with_the_delimiter_ends_no_document() -> None:
    assert behavior_of("git status <<'E'\nx\nE || ls\nE", RULES) is not ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "cd src && npm test 2>/dev/null",
        "cd src; ls > /dev/null",
        "ls >>/dev/null | cat",
        "ls >&2 | cat",
        "ls 2>&1 >/dev/null | cat",
        'npm test <<"E"\nx\nE',
    ],
)
def test_P133_unusual_redirections_may_ask_in_2_1_38(command: str) -> None:
    assert behavior_of(command, RULES, context(CLASSIC)).asks


@pytest.mark.parametrize("command", ["cd src && ls 2>&1", "ls 2>/dev/null | cat", "ls 2>&1 | cat"])
def test_P133_usual_redirections_are_certain_in_2_1_38(command: str) -> None:
    assert behavior_of(command, RULES, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    "domain", ["*", "*.*", "example.*", "www.*.invalid", "w*.example.invalid", "*ample.invalid"]
)
def test_P134_a_star_stands_anywhere_in_a_domain_that_a_rule_denies(domain: str) -> None:
    hosts = ("example.invalid", "www.example.invalid")
    book = RuleBook.of(deny=[f"WebFetch(domain:{domain})"], allow=["WebFetch"])
    pages = [tool("WebFetch", url=f"https://{host}/a", prompt="p") for host in hosts]
    assert DENY in [behavior_of(page, book) for page in pages]
    allowing = RuleBook.of(allow=[f"WebFetch(domain:{domain})"])
    assert all(behavior_of(page, allowing).asks for page in pages)


@pytest.mark.parametrize(
    "command", ["'cd' src", "tail -c 50 git", "git remote -v -v", "git remote -v --verbose"]
)
def test_P135_these_spellings_ask_in_2_1_38_and_not_in_2_1_325(command: str) -> None:
    assert behavior_of(command, RuleBook(), context(CLASSIC)) is Behavior.ASK
    assert behavior_of(command, RuleBook()) is ALLOW


@pytest.mark.parametrize("command", ["cd src", "tail -c 50 a.txt", "git remote -v", "git remote"])
def test_P135_the_plain_spellings_are_read_only(command: str) -> None:
    assert behavior_of(command, RuleBook(), context(CLASSIC)) is ALLOW


@pytest.mark.parametrize("command", ["NODE_ENV=test jq . package.json", "timeout 5 type ls"])
def test_P136_some_programs_are_read_only_only_without_a_prefix(command: str) -> None:
    assert behavior_of(command, RuleBook()) is Behavior.ASK
    assert (
        behavior_of(command.split(" ", 2 if "timeout" in command else 1)[-1], RuleBook()) is ALLOW
    )
