"""Text with stars, matched in linear time. Pure.

Each fixed part is looked for once, from left to right: with stars between them, the leftmost
place of a part is never worse than a later one, so nothing has to be tried twice.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["star_match"]


def star_match(parts: Sequence[str], text: str) -> bool:
    """Whether the text is these parts in this order, with anything between two of them."""
    first, *middle = parts
    if not middle:
        return text == first
    last = middle.pop()
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return at <= end
