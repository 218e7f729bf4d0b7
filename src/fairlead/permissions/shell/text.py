"""Checks on the plain text of a command line, before and after the grammar has read it.

Before: is there anything that a person cannot see, or too much to read? After: does every
character belong to a node, or did the grammar drop some without a word? Neighbor: `grammar`.
"""

from __future__ import annotations

import re
import unicodedata

from tree_sitter import Node

__all__ = ["can_be_parsed", "is_too_long", "loses_text", "unreadable"]

_MAX_LENGTH = 10_000
"""Longer lines are doubtful: users do not read them completely, and parsing must stay fast."""

_OPERATORS = re.compile(r"[|&;<>()\[\]{}`$]")
_MAX_OPERATORS = 500
"""The grammar takes square time for many operators that make no sense; it cannot be interrupted."""

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp")
"""Unicode categories that show nothing, or not what they are."""


def is_too_long(text: str) -> bool:
    """Whether reading this text with the grammar could take long."""
    return len(text) > _MAX_LENGTH or len(_OPERATORS.findall(text)) > _MAX_OPERATORS


def can_be_parsed(text: str) -> bool:
    """Whether the grammar may be given this text at all."""
    if is_too_long(text) or "\0" in text:
        return False
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)


def unreadable(text: str) -> str | None:
    """Why a person could be misled by this text; None if not."""
    if len(text) > _MAX_LENGTH:
        return f"it is longer than {_MAX_LENGTH:,} characters"
    if is_too_long(text):
        return "it is too long to analyze"
    for char in text:
        if char in "\n\t " or (char.isascii() and char.isprintable()):
            continue
        if unicodedata.category(char) in _UNSEEN:
            return f"it contains an invisible or control character (U+{ord(char):04X})"
    if re.search(r"[\"'][^\"']*\n[ \t]*#", text):
        return "it hides a line that looks like a comment inside quotes"
    return None


def loses_text(root: Node, source: bytes, recovered: set[int]) -> bool:
    """Whether characters other than blanks and escaped newlines belong to no node."""
    position = 0
    for start, end in (*_leaves(root), (len(source), len(source))):
        gap = source[position:start]
        if gap.replace(b"\\\n", b"").strip():
            known = gap.strip() == b"-" and position + gap.index(b"-") in recovered
            if not known:
                return True
        position = max(position, end)
    return False


def _leaves(root: Node) -> list[tuple[int, int]]:
    """The spans that hold text: leaves, and strings whole, for their edges have no nodes."""
    spans: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.child_count == 0 or node.type in ("string", "heredoc_body", "word"):
            spans.append((node.start_byte, node.end_byte))
        else:
            waiting.extend(reversed(node.children))
    return spans
