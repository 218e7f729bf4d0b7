"""Output to a terminal: a few styles, and no control sequences from other sources.

Text from a model, a tool or a file may contain control characters that recolor the screen, move
the cursor or hide the end of a command. `plain` makes each of them visible; every text from
another source is passed through it before it is printed.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import TextIO

__all__ = ["Style", "plain", "wants_color"]

_ALLOWED_CONTROLS = {"\n", "\t"}
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Control, format (bidi and zero-width among them), surrogate, private, line separators."""

_EMOJI_JOINERS = {"\u200d", "\ufe0f"}
"""Format characters inside ordinary emoji; alone they are harmless."""


def plain(text: str) -> str:
    """The text with every invisible or control character made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _ALLOWED_CONTROLS or character in _EMOJI_JOINERS:
        return character
    if unicodedata.category(character) in _HIDDEN_CATEGORIES:
        return f"‹{ord(character):02X}›"
    return character


def wants_color(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants color (NO_COLOR is respected)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


class Style:
    """Text in a style, or plain text if the terminal has no color."""

    def __init__(self, color: bool | None = None) -> None:
        self._color = wants_color(sys.stdout) if color is None else color

    def bold(self, text: str) -> str:
        """Style of names."""
        return self._in(text, "1")

    def dim(self, text: str) -> str:
        """Style of less important text."""
        return self._in(text, "2")

    def good(self, text: str) -> str:
        """Style of success."""
        return self._in(text, "32")

    def bad(self, text: str) -> str:
        """Style of errors."""
        return self._in(text, "31")

    def ask(self, text: str) -> str:
        """Style of questions."""
        return self._in(text, "33")

    def accent(self, text: str) -> str:
        """Style of Fairlead's own marks."""
        return self._in(text, "36")

    def _in(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color else text
