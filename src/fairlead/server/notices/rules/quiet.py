"""Quiet hours: a daily time in which a target gets no notices. Pure.

Times are minutes of the day in the target's own time zone; the caller converts.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["MINUTES", "Quiet", "quiet_for"]

MINUTES = 24 * 60


class Quiet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From one minute of the day until another, which may be on the next day."""

    start: int
    end: int
    zone: str
    """The name of the time zone, such as Europe/Berlin."""

    def problem(self) -> str | None:
        """What is wrong with the times, if anything is."""
        if not (0 <= self.start < MINUTES and 0 <= self.end < MINUTES):
            return f"Quiet hours are minutes of the day, from 0 to {MINUTES - 1}."
        return None


def quiet_for(quiet: Quiet, minute: int) -> int:
    """For how many minutes it stays quiet from a minute of the day on; 0 if it is not quiet.

    Equal times mean that it is never quiet.
    """
    length = (quiet.end - quiet.start) % MINUTES
    passed = (minute - quiet.start) % MINUTES
    return length - passed if passed < length else 0
