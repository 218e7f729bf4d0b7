"""A rate limit for messages per second with bursts. Pure: the time is passed in."""

from __future__ import annotations

__all__ = ["Allowance"]


class Allowance:
    """A token bucket that fills with time and is emptied by messages."""

    __slots__ = ("_at", "_left", "_rate")

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._left = rate
        self._at = now

    def take(self, now: float, cost: float = 1.0) -> float:
        """Take the cost of a message; returns the seconds until the allowance would cover it."""
        self._left = min(self._rate, self._left + (now - self._at) * self._rate) - cost
        self._at = now
        return max(0.0, -self._left / self._rate)

    def covers(self, now: float, cost: float = 1.0) -> bool:
        """Take the cost of a message if the allowance covers it now; if not, nothing is taken."""
        left = min(self._rate, self._left + (now - self._at) * self._rate) - cost
        if left < 0:
            return False
        self._left, self._at = left, now
        return True
