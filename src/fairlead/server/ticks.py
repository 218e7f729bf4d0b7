"""A clock for deadlines: it never goes back, and it counts the time for which a machine sleeps."""

from __future__ import annotations

import time

__all__ = ["ticks"]

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def ticks() -> float:
    """Seconds since an arbitrary time; setting the system clock does not change them."""
    return time.clock_gettime(_CLOCK)
