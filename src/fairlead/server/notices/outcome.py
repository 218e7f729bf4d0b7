"""How an attempt to send a notice ended."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = ["Failed", "Gone", "Outcome", "Sent", "TryLater"]


class Sent(Struct, frozen=True):
    """The target has it."""


class Gone(Struct, frozen=True):
    """The target does not exist any more, and is removed."""


class TryLater(Struct, frozen=True):
    """It may work later."""

    reason: str
    after_s: float | None = None


class Failed(Struct, frozen=True):
    """It will never work."""

    reason: str


Outcome: TypeAlias = Sent | Gone | TryLater | Failed
