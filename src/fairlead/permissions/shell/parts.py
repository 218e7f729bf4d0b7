"""A command line with reserved words, taken apart as 2.1.29 and 2.1.38 do: at its operators.

These versions do not know loops and conditions. Whatever stands between two operators is a command to
them, so `for i in 1; do ls; done` has the commands `for i in 1`, `do ls` and `done` (CLI-1651). Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

__all__ = ["Part", "parts_with_reserved_words"]

_RESERVED_WORDS = "! { } do done elif else fi for function if select then until while"
_RESERVED = frozenset(_RESERVED_WORDS.split())
_OPERATOR = re.compile(r"[;|&\n]+")
_SEPARATORS = frozenset(("&&", "||", "|", ";", "\n"))
_NOT_TAKEN_APART = re.compile(r"[`<()]|\bcase\b")
"""With one of these, the old versions ask for another reason and suggest nothing."""
_MAX_LENGTH = 10_000


class Part(NamedTuple):
    """The text between two operators."""

    text: str
    stage: int
    """The number of its stage in a pipeline."""

    @property
    def is_reserved(self) -> bool:
        """Whether it begins with a reserved word, so that its program is not recognized."""
        return self.text.split(maxsplit=1)[0] in _RESERVED

    @property
    def names_paths(self) -> bool:
        """Whether the paths that it names are looked at."""
        return not self.is_reserved or ">" in self.text


def parts_with_reserved_words(text: str) -> tuple[Part, ...]:
    """The parts of a line in which a part begins with a reserved word; empty for other lines."""
    if len(text) > _MAX_LENGTH or _NOT_TAKEN_APART.search(text):
        return ()
    lexer = shlex.shlex(text, posix=False, punctuation_chars=";|&\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    parts: list[Part] = []
    words: list[str] = []
    stage = 0
    try:
        tokens = [*lexer, ";"]
    except ValueError:
        return ()
    for token in tokens:
        if not _OPERATOR.fullmatch(token):
            words.append(token)
            continue
        if words:
            parts.append(Part(" ".join(words), stage))
            words = []
        if token.strip("\n") not in _SEPARATORS | {""}:
            return ()
        stage += token == "|"
    return tuple(parts) if any(part.is_reserved for part in parts) else ()
