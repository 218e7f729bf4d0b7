"""How Fairlead writes to a terminal: a few styles, and nothing that somebody else styled.

Text from a model, a tool or a file may hold control characters that recolour the screen, move
the cursor or hide the tail of a command. `plain` makes each of them visible; every text from
outside goes through it before it is printed.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import TextIO

__all__ = ["Style", "plain", "wants_colour"]

_KEPT = {"\n", "\t"}
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Control, format (bidi and zero-width among them), surrogate, private, line separators."""

_EMOJI_JOINERS = {"\u200d", "\ufe0f"}
"""Format characters inside ordinary emoji; alone they are harmless."""


def plain(text: str) -> str:
    """The text with every invisible or controlling character written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _KEPT or character in _EMOJI_JOINERS:
        return character
    if unicodedata.category(character) in _HIDDEN_CATEGORIES:
        return f"‹{ord(character):02X}›"
    return character


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colour (NO_COLOR is respected)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


class Style:
    """Words in a style, or just words where there is no colour."""

    def __init__(self, colour: bool | None = None) -> None:
        self._colour = wants_colour(sys.stdout) if colour is None else colour

    def bold(self, text: str) -> str:
        """For names."""
        return self._in(text, "1")

    def dim(self, text: str) -> str:
        """For what may be skipped."""
        return self._in(text, "2")

    def good(self, text: str) -> str:
        """For what went well."""
        return self._in(text, "32")

    def bad(self, text: str) -> str:
        """For what went wrong."""
        return self._in(text, "31")

    def ask(self, text: str) -> str:
        """For what wants an answer."""
        return self._in(text, "33")

    def accent(self, text: str) -> str:
        """For our own marks."""
        return self._in(text, "36")

    def _in(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text
