"""When the writer commits, and how long it tries. Pure."""

from __future__ import annotations

import math

from msgspec import Struct

__all__ = ["AVERAGED_S", "Activity", "Pace"]

AVERAGED_S = 0.25
"""Time constant of the average: so long that the share of a steady load hardly varies."""


class Pace(Struct, frozen=True, kw_only=True):
    """When to commit, and how long to retry.

    A commit costs nearly the same for one write as for many, and so does the work in the event loop
    that follows it. If there is much to do, the writer therefore pauses after each commit and collects
    writes for the next one.

    - While the process uses little CPU time, each write is committed at once. From `calm` to `busy`
      of a core the pause grows to its longest value, so that more work causes larger commits and not
      more of them. The share follows from the pauses too: it settles where both agree, and a faster
      machine has shorter pauses with the same load.
    - The pause also grows from `few` to `many` writes a second, because the processes that get what
      was written may be busier than this one: the gateway of a node, the front of a worker, browsers.
    - The pause is at least as long as the last commit took until the event loop had noted its
      outcomes (`rest`), because a long time means that the disk, the event loop or the machine is
      overloaded.
    """

    calm: float = 0.08
    """Up to this share of a core in use by the process, commits need no pause."""
    busy: float = 0.16
    """From this share on, the pause is the longest."""
    few: float = 250.0
    """Up to this number of writes a second, commits need no pause."""
    many: float = 500.0
    """From this number on, the pause is the longest."""
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

    def pause_s(self, took: float, activity: Activity, *, urgent: bool) -> float:
        """Seconds to pause after a commit that took `took` seconds."""
        crowded = max(
            (activity.share - self.calm) / (self.busy - self.calm),
            (activity.per_s - self.few) / (self.many - self.few),
        )
        longest = self.longest_urgent if urgent else self.longest
        return min(longest, max(self.rest * took, self.longest * crowded))


class Activity:
    """What a process did in the last moments, on average."""

    def __init__(self, cpu_s: float = 0.0, now: float = 0.0) -> None:
        self.share = 0.0
        """CPU time in a second."""
        self.per_s = 0.0
        """Writes in a second."""
        self._cpu_s = cpu_s
        self._writes = 0
        self._at = now

    def note(self, writes: int, cpu_s: float, now: float) -> None:
        """So many writes were committed; the process has used `cpu_s` seconds since its start."""
        self._writes += writes
        passed = now - self._at
        if passed <= 0:
            return
        kept = math.exp(-passed / AVERAGED_S)
        self.share = kept * self.share + (1 - kept) * (cpu_s - self._cpu_s) / passed
        self.per_s = kept * self.per_s + (1 - kept) * self._writes / passed
        self._cpu_s, self._writes, self._at = cpu_s, 0, now
