"""When the writer commits, and how long it tries. Pure."""

from __future__ import annotations

import math

from msgspec import Struct

__all__ = ["AVERAGED_S", "CpuShare", "Pace"]

AVERAGED_S = 0.25
"""Time constant of the average: so long that the share of a steady load hardly varies."""


class Pace(Struct, frozen=True, kw_only=True):
    """When to commit, and how long to retry.

    A commit costs nearly the same for one write as for many, and so does the work in the event loop
    that follows it. If the process is busy, the writer therefore pauses after each commit and collects
    writes for the next one.

    - While the process uses little CPU time, each write is committed at once. From `calm` to `busy`
      of a core the pause grows to its longest value, so that more work causes larger commits and not
      more of them. The share follows from the pauses too: it settles where both agree, and a faster
      machine has shorter pauses with the same load.
    - The pause is at least as long as the last commit took until the event loop had noted its
      outcomes (`rest`), because a long time means that the disk, the event loop or the machine is
      overloaded.
    """

    calm: float = 0.08
    """Up to this share of a core in use by the process, commits need no pause."""
    busy: float = 0.16
    """From this share on, the pause is the longest."""
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

    def pause_s(self, took: float, share: float, *, urgent: bool) -> float:
        """Seconds to pause after a commit that took `took` seconds, at this share of a core."""
        crowded = (share - self.calm) / (self.busy - self.calm)
        longest = self.longest_urgent if urgent else self.longest
        return min(longest, max(self.rest * took, self.longest * crowded))


class CpuShare:
    """The share of a core that the process has used, averaged over the last moments."""

    def __init__(self, cpu_s: float = 0.0, now: float = 0.0) -> None:
        self.share = 0.0
        self._cpu_s = cpu_s
        self._at = now

    def note(self, cpu_s: float, now: float) -> None:
        """The process has used `cpu_s` seconds of CPU time since its start."""
        passed = now - self._at
        if passed <= 0:
            return
        kept = math.exp(-passed / AVERAGED_S)
        self.share = kept * self.share + (1 - kept) * (cpu_s - self._cpu_s) / passed
        self._cpu_s, self._at = cpu_s, now
