"""Exit codes that are not a failure: `grep` without a match, `diff` with a difference.

Measured on 2.1.38 and 2.1.325 (CLI-1014). The last command of the line decides. Pure.
"""

from __future__ import annotations

import re

from fairlead.emulator.state.profile import Profile

__all__ = ["SEPARATORS", "meaning_of"]

MEANINGS = {
    "grep": "No matches found",
    "rg": "No matches found",
    "diff": "Files differ",
    "test": "Condition is false",
    "[": "Condition is false",
    "find": "Some directories were inaccessible",
}
"""What the exit code 1 of a program means."""

SEPARATORS = re.compile(r"\|\||&&|[;|\n]")
"""The separators between commands."""


def meaning_of(command: str, code: int, profile: Profile) -> str | None:
    """The meaning of an exit code; None if it is a failure or 0."""
    if code != 1:
        return None
    words = SEPARATORS.split(command)[-1].split()
    if not words:
        return None
    if profile.knows_git_diff and words[:2] == ["git", "diff"]:
        return MEANINGS["diff"]
    return MEANINGS.get(words[0])
