"""A command line taken apart."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.permissions import Behavior, RuleBook
from fairlead.permissions.shell.commands import parse_command
from tests.permissions.checking import decide

SHELL_TEXT = st.text(alphabet="abn \t\n;|&<>()$`'\"\\{}[]*?#!=~-/.\u00a0é", max_size=40)


def test_P6_each_simple_command_is_found_in_order() -> None:
    line = parse_command("FOO=1 npm x && git status | tee f > o.txt 2>&1")
    assert line.understood
    assert [command.source for command in line.commands] == ["FOO=1 npm x", "git status", "tee f"]
    assert line.segments == (0, 0, 1)
    npm, _, tee = line.commands
    assert [(name, word.value) for name, word in npm.assignments] == [("FOO", "1")]
    assert [
        (redirect.operator, redirect.target and redirect.target.value) for redirect in tee.redirects
    ] == [
        (">", "o.txt"),
        (">&", "1"),
    ]


def test_P6_words_have_the_value_that_the_program_receives() -> None:
    (command,) = parse_command("""n"p"m 'a b' "c \\" d" e\\;f""").commands
    assert [word.value for word in command.words] == ["npm", "a b", 'c " d', "e;f"]


def test_P6_text_is_sliced_by_bytes_not_characters() -> None:
    (command,) = parse_command("NODE_ENV=é timeout 5 npm é").commands
    assert command.text_from(2) == "npm é"
    assert command.plain_from(2) == "npm é"


def test_P10_commands_in_substitutions_are_found() -> None:
    line = parse_command("echo $(rm x) `ls` <(cat y)")
    assert not line.understood
    assert [command.source for command in line.hidden] == ["rm x", "ls", "cat y"]


@given(text=SHELL_TEXT)
def test_P9_any_text_can_be_parsed(text: str) -> None:
    line = parse_command(text)
    assert line.text == text
    if line.understood:
        assert all(word.value is not None for command in line.commands for word in command.words)


@pytest.mark.parametrize(
    "text",
    ["npm\ud800 x", "\0", "a" * 100_000, "(" * 5000, "$(" * 1000, "x ${a:-" * 2500, "`" * 19_999],
)
def test_P9_hostile_text_is_a_doubt(text: str) -> None:
    assert parse_command(text).doubts


def test_the_grammar_is_not_loaded_with_the_package() -> None:
    program = (
        "import sys, fairlead.permissions as p; "
        "print([m for m in sys.modules if m.startswith(('tree_sitter', 'pathspec'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_P9_a_word_that_the_grammar_loses_is_found_again_or_a_doubt() -> None:
    (command,) = parse_command("python3 - <<'E'\nprint(1)\nE").commands
    assert [word.value for word in command.words] == ["python3", "-"]
    assert command.source == "python3 -"


@pytest.mark.parametrize(
    "text",
    [
        "sudo -x " * 2400,
        "sudo " * 3900,
        "a;" * 9000,
        "env -S " * 2800,
        "bash -c 'bash -c " * 900,
        "$(" * 9000,
    ],
    ids=range(6),
)
def test_P10_no_line_takes_long_to_judge(text: str) -> None:
    """Bounded by pytest's own time-out; each of these took far too long without bounds."""
    book = RuleBook.of(deny=["Bash(npm:*)", "Bash(* x *)"], allow=["Bash(a)"])
    assert decide(text, book).behavior is not Behavior.DENY
