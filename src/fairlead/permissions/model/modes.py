"""The permission modes, in the CLI's spelling, and which version knows which.

A mode answers only where no rule does. Neighbors: `policy` applies it, `book` keeps one per scope.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Mode", "parse_mode"]


class Mode(StrEnum):
    """A permission mode of the CLI."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    PLAN = "plan"
    DONT_ASK = "dontAsk"
    BYPASS = "bypassPermissions"
    AUTO = "auto"

    @property
    def in_words(self) -> str:
        """What the mode does with a call that no rule decides."""
        return _IN_WORDS[self]


_IN_WORDS = {
    Mode.DEFAULT: "asks before anything that is not plainly read-only",
    Mode.ACCEPT_EDITS: "lets edits inside the working directories through, asks for the rest",
    Mode.PLAN: "is meant for reading and planning",
    Mode.DONT_ASK: "refuses whatever it would have to ask about",
    Mode.BYPASS: "lets everything through that no rule denies or asks about",
    Mode.AUTO: "leaves the decision to the CLI's own classifier",
}

_ALIASES = {
    # `manual` is what 2.1.325 calls default on the command line, and `delegate` is what
    # 2.1.38 accepts but runs as default (CLI-316, rec 2.1.325/mode_manual, 2.1.38/mode_delegate).
    "manual": Mode.DEFAULT,
    "delegate": Mode.DEFAULT,
}


def parse_mode(text: str) -> Mode | None:
    """The mode a word names, aliases included; None for a word that names none."""
    if text in _ALIASES:
        return _ALIASES[text]
    try:
        return Mode(text)
    except ValueError:
        return None
