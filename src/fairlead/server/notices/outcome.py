"""How an attempt to send a notice ended."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = ["Attempt", "Failed", "Gone", "Outcome", "Postponed", "Sent", "TryLater", "Unneeded"]


class Sent(Struct, frozen=True):
    """The target has it."""


class Gone(Struct, frozen=True):
    """The target does not exist any more, and is removed."""


class TryLater(Struct, frozen=True):
    """It may work later."""

    reason: str
    after_s: float | None = None


class Postponed(Struct, frozen=True):
    """The target is not reachable now. It is tried again for as long as the notice is kept."""

    after_s: float


class Unneeded(Struct, frozen=True):
    """What the notice is about is over, so nothing was sent."""


class Failed(Struct, frozen=True):
    """It will never work."""

    reason: str


Attempt: TypeAlias = Sent | Gone | TryLater | Failed
"""What a service answered."""

Outcome: TypeAlias = Attempt | Postponed | Unneeded
