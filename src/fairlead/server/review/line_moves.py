"""Where lines of a file are after the file was changed. Pure.

Equal lines at the start and the end of both versions are compared first. Between them the shortest
edit script is searched (Myers' algorithm) up to a number of changed lines, so that no content of a
file takes long; beyond it every line between the first and the last difference counts as changed.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MOST_EDITS", "moved_to", "nearest"]

MOST_EDITS = 400
"""Removed and added lines up to which single lines are followed."""
MOST_TRIES = 5_000
"""Places with the same first line at which a block is compared."""


def moved_to(before: Sequence[str], after: Sequence[str], start: int, end: int) -> int | None:
    """The number that line `start` has now; None if a line of the range was changed or removed.

    Lines count from 1. The range is changed too if something was inserted inside it.
    """
    if not 1 <= start <= end <= len(before):
        return None
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    if end <= head:
        return start
    if start > len(before) - tail:
        return start + len(after) - len(before)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    pairs = _pairs(old, new)
    matched = [_partner(line - 1, head, tail, len(before), len(after), pairs)
               for line in range(start, end + 1)]  # fmt: skip
    first = matched[0]
    if first is None or matched != list(range(first, first + len(matched))):
        return None
    return first + 1


def nearest(lines: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    """The number of the line at which `wanted` occurs as a block, nearest to line `start`."""
    size = len(wanted)
    if not size or size > len(lines):
        return None
    last = len(lines) - size
    at = max(0, min(start - 1, last))
    block, tries = list(wanted), 0
    for distance in range(len(lines)):
        for place in dict.fromkeys((at - distance, at + distance)):
            if not 0 <= place <= last or lines[place] != block[0]:
                continue
            if list(lines[place : place + size]) == block:
                return place + 1
            tries += 1
        if tries > MOST_TRIES:
            break
    return None


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        count += 1
    return count


def _partner(
    index: int, head: int, tail: int, before: int, after: int, pairs: dict[int, int]
) -> int | None:
    """The index that a line has in the new version."""
    if index < head:
        return index
    if index >= before - tail:
        return index + after - before
    partner = pairs.get(index - head)
    return None if partner is None else partner + head


def _pairs(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Index in `old` -> index in `new` of the lines that a shortest edit script keeps."""
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(MOST_EDITS, len(old) + len(new)) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(furthest, diagonal, edits)
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _unchanged_lines(trace, len(old), len(new))
    return {}


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """Where a path begins on a diagonal: one line added or one line removed after the last one."""
    above, left = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
    down = diagonal == -edits or (diagonal != edits and left < above)
    return above if down else left + 1


def _unchanged_lines(trace: list[dict[int, int]], x: int, y: int) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for edits in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[edits], x - y
        begin = _step(furthest, diagonal, edits)
        while x > begin and x > 0 and y > 0:
            x, y = x - 1, y - 1
            pairs[x] = y
        above, left = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
        down = diagonal == -edits or (diagonal != edits and left < above)
        x, y = (x, y - 1) if down else (x - 1, y)
    return pairs
