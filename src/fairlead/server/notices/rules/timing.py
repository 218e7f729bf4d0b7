"""When a notice is sent to a target, and when a failed attempt is repeated. Pure."""

from __future__ import annotations

__all__ = ["RETRY_DELAYS_S", "retry_at", "send_at"]

RETRY_DELAYS_S = (10.0, 60.0, 300.0, 1_800.0, 7_200.0)
"""How long to wait after the first, second, … failed attempt; then the notice is given up."""

LONGEST_RETRY_S = 86_400.0
"""The longest wait that a push service may ask for."""


def send_at(at: float, now: float, *, delay_s: float, quiet_minutes: int) -> float:
    """When a notice from `at` is sent: after a short delay, and after the quiet hours."""
    after_delay = max(at + delay_s, now) if at <= now else now + delay_s
    return max(after_delay, now + 60.0 * quiet_minutes) if quiet_minutes else after_delay


def retry_at(now: float, tries: int, asked_s: float | None = None) -> float | None:
    """When to try again after `tries` earlier failures; None to give up.

    `asked_s` is the wait that the service asked for.
    """
    if tries >= len(RETRY_DELAYS_S):
        return None
    return now + max(RETRY_DELAYS_S[tries], min(asked_s or 0.0, LONGEST_RETRY_S))
