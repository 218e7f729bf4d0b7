"""How often the sessions of a server hand their output to the store, all of them together.

An append costs the same for one event as for a few: a commit, a fold, a frame for each client. So
the sessions share a number of appends a second. Below that number every append is made at once.
Above it the sessions take turns, in the order in which they asked, and what a CLI writes while its
session waits is one batch. With 200 sessions the wait is half a second. Only output that
can wait takes part: `journal` decides what that is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

__all__ = ["AppendRate"]

ROUND_S = 0.025
"""Least time between two rounds of waiting sessions: the store's own interval under load, so that
the appends of a round share a commit."""

LONG_ROUND_S = 0.1
"""Most time between two rounds. The first session of a round takes several times as much CPU time as
the others, which find code and data in the processor's caches."""

ROUNDS = 4
"""In how many rounds all sessions that wait have their turn, unless a round becomes too long."""

BURST_S = 0.1
"""After a quieter moment, the appends of this much time are made at once."""


class AppendRate:
    """A number of appends a second, shared by the journals of all sessions."""

    def __init__(self, per_s: float) -> None:
        self._per_s = per_s
        self._used_until = 0.0
        """The appends so far are worth the time up to here; that is at most a burst ahead of now."""
        self._waiting: deque[Callable[[], bool]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_used_up(self) -> bool:
        """Whether others wait for an append."""
        return bool(self._waiting)

    def take(self) -> bool:
        """Use one append now; False if all are used, or if others wait for one."""
        if self._waiting or not self._has_room(now := asyncio.get_running_loop().time()):
            return False
        self._use(now)
        return True

    def wait(self, turn: Callable[[], bool]) -> None:
        """Call `turn` when it is the caller's turn to append; it returns whether it does."""
        self._waiting.append(turn)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(ROUND_S, self._round)

    def _round(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for _ in range(len(self._waiting)):
            if not self._has_room(now):
                break
            if self._waiting.popleft()():
                self._use(now)
        self._timer = None
        if self._waiting:
            self._timer = loop.call_later(self._round_s(), self._round)

    def _round_s(self) -> float:
        """A part of the time after which the last one that waits has its turn."""
        all_s = len(self._waiting) / self._per_s
        return min(LONG_ROUND_S, max(ROUND_S, all_s / ROUNDS))

    def _has_room(self, now: float) -> bool:
        return self._used_until <= now + BURST_S

    def _use(self, now: float) -> None:
        self._used_until = max(self._used_until, now) + 1 / self._per_s
