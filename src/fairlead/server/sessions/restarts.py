"""How often a session that crashes is restarted, and after which delay. Pure.

A crash loop would cost money and hide its cause, so there is a budget for a window of time. A
session that ran without a crash for that long has its full budget again.
"""

from __future__ import annotations

from fairlead.server.limits import Limits

__all__ = ["RestartBudget"]


class RestartBudget:
    """The restarts of one session."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spent: list[float] = []

    def take(self, now: float) -> float | None:
        """Use one restart: the delay before it in seconds, or None if none is left."""
        since = now - self._limits.restart_window_s
        self._spent = [at for at in self._spent if at > since]
        if len(self._spent) >= self._limits.restarts:
            return None
        delays = self._limits.restart_delays_s
        delay = delays[min(len(self._spent), len(delays) - 1)] if delays else 0.0
        self._spent.append(now)
        return delay

    def refill(self) -> None:
        """Restore the full budget, because a user started the session."""
        self._spent.clear()
