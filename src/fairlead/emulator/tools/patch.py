"""The difference of two texts in the form of `structuredPatch`. Pure."""

from __future__ import annotations

import difflib
import re
from typing import Any

__all__ = ["changed_lines", "structured_patch"]

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def structured_patch(old: str, new: str) -> list[dict[str, Any]]:
    """The hunks that lead from one text to the other."""
    hunks: list[dict[str, Any]] = []
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    for line in lines:
        header = _HEADER.match(line)
        if header:
            start, size, new_start, new_size = header.groups()
            hunks.append(
                {
                    "oldStart": int(start),
                    "oldLines": 1 if size is None else int(size),
                    "newStart": int(new_start),
                    "newLines": 1 if new_size is None else int(new_size),
                    "lines": [],
                }
            )
        elif hunks:
            hunks[-1]["lines"].append(line)
    return hunks


def changed_lines(hunks: list[dict[str, Any]]) -> tuple[int, int]:
    """How many lines were added and removed."""
    lines = [line for hunk in hunks for line in hunk["lines"]]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)
