"""Commands with the options of read-only programs: every option, with values of every kind.

The table of options is the policy's own, so each entry of it is compared with the CLIs, together with
options that the table does not have.
"""

from __future__ import annotations

import random
import string

from fairlead.permissions.shell.options import NEW_OPTIONS, OLD_OPTIONS, OPTIONS

__all__ = ["program_with_options"]

_TABLE = {**OPTIONS, **OLD_OPTIONS, **NEW_OPTIONS}
_FREE_WORDS = """basename cat cmp column comm cut date df diff du echo expand expr find fmt fold head hexdump id jq ls nl numfmt od
    paste pr printf ps readlink realpath rev sed seq sort stat strings tac tail test tr tree type uname uniq wc xargs"""
_FREE = tuple(_FREE_WORDS.split())
"""Programs whose options the policy does not list, or reads in a way of its own."""
_VALUES = (
    "3", "0", "-1", "3k", "x", "val", "a.txt", "secret.txt", "../x", "~/x", "*", "''", "oneline", "short", "fuller",
    "reference", "format:x", "'%h %s'", "%G?", "'%(refname)'", "'%(signature)'", "always", "never", "auto", "name",
    "'a b'", "a,b", "{a,b}", "1,3", "'$X'", "=x", "@x", "%A", "^x", ":x", "+%s", "-", "--", "-x", ".",
)  # fmt: skip
_OPERANDS = ("", "", "a.txt", "HEAD", "src", "main..HEAD", "-- a.txt", ".", "x y", "'a b'")


def program_with_options(dice: random.Random) -> str:
    """A program with up to three options and perhaps an operand."""
    program = dice.choice((dice.choice(sorted(_TABLE)), dice.choice(_FREE)))
    words = [program, *(_option(program, dice) for _ in range(dice.randint(1, 3)))]
    words.insert(dice.randint(1, len(words)), dice.choice(_OPERANDS))
    return " ".join(word for word in words if word)


def _option(program: str, dice: random.Random) -> str:
    known = _TABLE.get(program)
    value = dice.choice(_VALUES)
    if known is None or dice.random() < 0.1:
        letters = "".join(dice.sample(string.ascii_letters, dice.randint(1, 2)))
        names = (f"-{letters}", f"-{letters}{value}", f"-{letters} {value}", f"--{value}")
        return dice.choice(names)
    listed = sorted(known.flags | known.numbers | known.texts | known.attached)
    name = dice.choice(listed) if listed else "-x"
    if name in known.flags and dice.random() < 0.8:
        return name
    return dice.choice((f"{name} {value}", f"{name}={value}", f"{name}{value}", name))
