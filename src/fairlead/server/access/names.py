"""Device names that a person compares with another screen: short and without hidden characters.

Pure. A name is normalized to its compatibility form (NFKC), so that full-width or mathematical
letters become plain ones. Controls, direction marks, private and unassigned characters, invisible
characters and all but two combining marks in a row are removed.
"""

from __future__ import annotations

import unicodedata

__all__ = ["NAME_CHARACTERS", "plain_name"]

NAME_CHARACTERS = 40
"""What a person can compare at a glance."""

MOST_MARKS = 2
"""Most combining marks on one letter; written languages need no more."""

_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_BLANK = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFC, 0xFFFD}
    | {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)
"""Invisible characters of other categories: fillers, joiners, variation selectors."""

_CONSIDERED = 4_096
"""Characters of a name that are considered at all."""


def plain_name(text: str, default: str = "unnamed device") -> str:
    """A name as it is stored and shown; `default` if no visible character is left."""
    normal = unicodedata.normalize("NFKC", text[:_CONSIDERED])
    # White space separates words before controls are removed, because a tab is a control.
    words = " ".join(_without_hidden(word) for word in normal.split())
    short = " ".join(unicodedata.normalize("NFC", words)[:NAME_CHARACTERS].split())
    return short or default


def _without_hidden(word: str) -> str:
    visible: list[str] = []
    marks = 0
    for character in word:
        category = unicodedata.category(character)
        if category in _DROPPED or ord(character) in _BLANK:
            continue
        marks = marks + 1 if category in ("Mn", "Me", "Mc") else 0
        if marks > MOST_MARKS or (marks and not visible):
            continue
        visible.append(character)
    return "".join(visible)
