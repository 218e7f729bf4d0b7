"""The configurations of docs/remote.md, as the document has them."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["DOCUMENT", "PATH", "PATHS", "recipe"]

DOCUMENT = Path(__file__).parents[3] / "docs" / "remote.md"

PATH = "/fairlead"
"""The path of the recipes."""

PATHS = (PATH, "")
"""Below a path and at the root: the order of the recipes of each program."""

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipe(language: str, number: int = 0) -> str:
    """The code block of this language with this number, counted from 0."""
    blocks = [
        text for name, text in _FENCE.findall(DOCUMENT.read_text("utf-8")) if name == language
    ]
    assert len(blocks) > number, f"docs/remote.md has {len(blocks)} blocks of {language}"
    return str(blocks[number])
