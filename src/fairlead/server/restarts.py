"""How often a session that crashes is started again, and after how long. Pure.

A crash loop would burn money and hide its reason, so there is a budget within a window of time;
a session that ran well for that long has its whole budget again.
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
        """Spend one restart: the seconds to wait before it, or None if none is left."""
        since = now - self._limits.restart_window_s
        self._spent = [at for at in self._spent if at > since]
        if len(self._spent) >= self._limits.restarts:
            return None
        delays = self._limits.restart_delays_s
        delay = delays[min(len(self._spent), len(delays) - 1)] if delays else 0.0
        self._spent.append(now)
        return delay

    def refill(self) -> None:
        """Somebody started it by hand: that is a new beginning."""
        self._spent.clear()
