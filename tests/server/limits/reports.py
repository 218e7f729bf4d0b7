"""Reports of usage windows, as the CLI 2.1.325 writes them (CLI-1701)."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["RESET", "Clock", "report", "stopped_at_limit"]

RESET = 10_000.0
"""When the window of the tests resets; their clock starts before it."""


class Clock:
    """The present, as a test sets it."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def report(
    status: str = "rejected", *, used: float = 1.0, week: float = 0.4, resets_at: float = RESET
) -> dict[str, Any]:
    """A `rate_limit_event`."""
    five_hour = {"utilization": used, "resetsAt": resets_at, "status": status}
    seven_day = {"utilization": week, "resetsAt": resets_at + 86_400, "status": "allowed"}
    return {
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": status,
            "resetsAt": resets_at,
            "rateLimitType": "five_hour",
            "unifiedWindows": {"five_hour": five_hour, "seven_day": seven_day},
        },
        "uuid": "11111111-2222-4333-8444-555555555555",
        "session_id": "s",
    }


def stopped_at_limit(**values: Any) -> str:
    """A prompt for the scripted agent whose turn a limit stops."""
    return json.dumps([{"line": report(**values)}, {"say": "You've hit your 5-hour limit"}])
