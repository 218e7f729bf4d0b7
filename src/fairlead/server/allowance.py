"""So many messages a second, with bursts of as many. Pure: the time comes in."""

from __future__ import annotations

__all__ = ["Allowance"]


class Allowance:
    """A bucket that fills with time and is emptied by messages."""

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._left = rate
        self._at = now

    def take(self, now: float) -> float:
        """Take one; gives the seconds to wait until it would have been there."""
        self._left = min(self._rate, self._left + (now - self._at) * self._rate) - 1.0
        self._at = now
        return max(0.0, -self._left / self._rate)
