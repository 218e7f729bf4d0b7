"""The cost of each turn, computed from totals that grow over a session and may restart at 0.

Pure. The meter must read every result in order, including those of turns that the CLI started by
itself; otherwise their cost would be charged to the next turn.
"""

from __future__ import annotations

from fairlead.wire.events import Result

__all__ = ["CostMeter"]


class CostMeter:
    """Reads the cost of one turn after the other."""

    def __init__(self) -> None:
        self._total = 0.0

    def read(self, result: Result) -> float | None:
        """The cost of this result's turn in US dollars; None if the CLI does not report it."""
        total, before = result.total_cost_usd, self._total
        if total is None:
            return None
        self._total = total
        reported = _since_last_result(result)
        if reported is not None:
            return reported
        # A total that went down has started again: /clear, or a resumed session (CLI-508).
        return total - before if total >= before else total


def _since_last_result(result: Result) -> float | None:
    """The difference as reported by new CLIs, which is correct even after a resume."""
    since = result.data.get("model_usage_since_last_result") if result.data else None
    if not isinstance(since, dict) or not all(isinstance(usage, dict) for usage in since.values()):
        return None
    costs = [usage.get("costUSD", 0.0) for usage in since.values()]
    return float(sum(costs)) if all(isinstance(cost, int | float) for cost in costs) else None
