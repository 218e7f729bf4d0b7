"""Small changes to a generated command: other quoting, another option, a character more or less.

The vocabulary holds commands that somebody thought of. A change at a random place reaches the forms
in between, such as `git "status"`, `cat --a.txt` or `echo x >;ls`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from fairlead.permissions.shell.options import NEW_OPTIONS, OLD_OPTIONS, OPTIONS

__all__ = ["changed", "with_options"]

_CHARACTERS = "\"'\\$`*?[]{}()<>|&;#!~=-%^,:@+/. \t\n"
_WORDS = (
    "--", "-", "-f", "-o", "-i", "-e", "-c", "-C", "-p", "-x", "--help", "--version", "--output=o",
    "--file=a.txt", "-exec", "2>&1", ">/dev/null", "> o", "< a.txt", "<&-", ">&2", "&>o", "|", "&&",
    ";", "&", "||", "$X", "$(x)", "`x`", "${X}", "$1", "$?", "$@", "*", "*.txt", "{a,b}", "a{1..3}",
    "~", "~x", "!", "!!", "#", "''", '""', "a=b", "\\", "%s", "@O/x.txt", "..", "secret.txt",
    "[a]", "<(x)", ">(x)", "$((1))", "$'x'", '$"x"', "<<<x", "2>", "=x", "a:b", "\u00e4", "$HOME",
)  # fmt: skip
_ANY_OPTIONS = (
    "-o", "-f", "-i", "-w", "-x", "-z", "-0", "-5", "-n5", "-A3", "-abc", "--output=x", "--file=a.txt",
    "--exec=x", "--pre=x", "--color=always", "--color", "--help", "--version", "--no-pager", "--",
)  # fmt: skip
_VALUES = ("x", "5", "a.txt", "'a b'", "HEAD", "-1", "*", "$X", "@O/x.txt", "secret.txt", "")


def changed(command: str, dice: random.Random) -> str:
    """The command with one small change."""
    change = dice.choice(_CHANGES)
    return change(command, dice)


def _insert_character(command: str, dice: random.Random) -> str:
    place = dice.randrange(len(command) + 1)
    return command[:place] + dice.choice(_CHARACTERS) + command[place:]


def _drop_character(command: str, dice: random.Random) -> str:
    place = dice.randrange(max(1, len(command)))
    return command[:place] + command[place + 1 :]


def _insert_word(command: str, dice: random.Random) -> str:
    words = command.split(" ")
    words.insert(dice.randrange(len(words) + 1), dice.choice(_WORDS))
    return " ".join(words)


def _drop_word(command: str, dice: random.Random) -> str:
    words = command.split(" ")
    del words[dice.randrange(len(words))]
    return " ".join(words)


def _swap_words(command: str, dice: random.Random) -> str:
    words = command.split(" ")
    first, second = dice.randrange(len(words)), dice.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def _quote_word(command: str, dice: random.Random) -> str:
    words = command.split(" ")
    place = dice.randrange(len(words))
    word = words[place]
    half = len(word) // 2
    words[place] = dice.choice(
        (f'"{word}"', f"'{word}'", f"{word[:half]}''{word[half:]}", f"$'{word}'", f"\\{word}")
    )
    return " ".join(words)


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _insert_character, _drop_character, _insert_word, _insert_word, _drop_word, _swap_words,
    _quote_word, _quote_word,
)  # fmt: skip


def with_options(dice: random.Random) -> str:
    """A program with up to three options that the policy takes for harmless, or any others."""
    table = OPTIONS | OLD_OPTIONS | NEW_OPTIONS
    program = dice.choice(sorted(table))
    options = table[program]
    words = [program]
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        known = sorted(options.flags | options.numbers | options.texts)
        if not known or dice.random() < 0.15:
            words.append(dice.choice(_ANY_OPTIONS))
            continue
        name = dice.choice(known)
        if name in options.flags and dice.random() < 0.95:
            words.append(name)
            continue
        value = dice.choice(("5", "5", *_VALUES) if name in options.numbers else _VALUES)
        words.append(f"{name}{dice.choice((' ', ' ', '=', ''))}{value}")
    operands = ("{p}", "{p}", "x", "HEAD", "a.txt", "src")
    return " ".join([*words, *dice.choices(operands, k=dice.choice((0, 1, 1, 2)))])
