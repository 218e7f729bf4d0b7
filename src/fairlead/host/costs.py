"""What each turn cost, read from totals that grow over a session and may start again at 0.

Pure. Every result must be shown to the meter in order, also one that nobody asked for, or its
cost would be charged to the next turn.
"""

from __future__ import annotations

from fairlead.wire.events import Result

__all__ = ["CostMeter"]


class CostMeter:
    """Reads the cost of one turn after the other."""

    def __init__(self) -> None:
        self._total = 0.0

    def read(self, result: Result) -> float | None:
        """What the turn of this result cost, in US dollars; None if the CLI does not say."""
        total, before = result.total_cost_usd, self._total
        if total is None:
            return None
        self._total = total
        told = _since_last_result(result)
        if told is not None:
            return told
        # A total that went down has started again: /clear, or a resumed session (TRUTH 1.5).
        return total - before if total >= before else total


def _since_last_result(result: Result) -> float | None:
    """The difference as new CLIs work it out themselves; right even after a resume."""
    since = result.data.get("model_usage_since_last_result") if result.data else None
    if not isinstance(since, dict) or not all(isinstance(one, dict) for one in since.values()):
        return None
    costs = [one.get("costUSD", 0.0) for one in since.values()]
    return float(sum(costs)) if all(isinstance(cost, int | float) for cost in costs) else None
