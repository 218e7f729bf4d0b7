"""When the writer commits, and how long it tries. Pure."""

from __future__ import annotations

import math

from msgspec import Struct

__all__ = ["AVERAGED_S", "Pace", "WriteRate"]

AVERAGED_S = 0.25
"""Time constant of the average: so long that the rate of a steady load hardly varies."""


class Pace(Struct, frozen=True, kw_only=True):
    """When to commit, and how long to retry.

    A commit costs nearly the same for one write as for many, and so does the work in the event loop
    that follows it. The writer therefore pauses after each commit and collects writes for the next one.

    - A store with few writes commits each of them at once. From `calm` to `busy` writes a second the
      pause grows to its longest value, so that more writes cause larger commits and not more of them.
    - The pause is at least as long as the last commit took until the event loop had noted its
      outcomes (`rest`), because a long time means that the disk, the event loop or the machine is
      overloaded.
    """

    calm: float = 100.0
    """Most writes a second that are committed without a pause."""
    busy: float = 400.0
    """Least writes a second at which the pause is the longest."""
    rest: float = 1.0
    """The pause is at least this multiple of the time that the commit took."""
    longest: float = 0.025
    """Longest pause in seconds; users do not notice it."""
    longest_urgent: float = 0.005
    """The same while a write is queued that a client or the CLI waits for."""
    group: int = 2_000
    """Number of events that triggers a commit at once."""
    patience: float = 5.0
    """Seconds to wait for a lock before writes are refused."""
    probe: float = 1.0
    """Seconds between two test writes while writes are refused."""

    def pause_s(self, took: float, per_s: float, *, urgent: bool) -> float:
        """Seconds to pause after a commit that took `took` seconds, with `per_s` writes a second."""
        crowded = (per_s - self.calm) / (self.busy - self.calm)
        longest = self.longest_urgent if urgent else self.longest
        return min(longest, max(self.rest * took, self.longest * crowded))


class WriteRate:
    """Writes a second, averaged over the last moments."""

    def __init__(self) -> None:
        self._recent = 0.0
        self._at = 0.0

    def add(self, writes: int, now: float) -> None:
        """So many writes were committed."""
        self._recent = writes + self._recent * math.exp((self._at - now) / AVERAGED_S)
        self._at = now

    @property
    def per_s(self) -> float:
        """The rate at the last commit."""
        return self._recent / AVERAGED_S
