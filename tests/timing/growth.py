"""Whether a function's time grows linearly with its input, in CPU time of this thread."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from tests.timing.generators import Generator

__all__ = ["Slow", "cost", "grows_badly"]

NOISE_S = 0.02
"""Times below this say nothing about growth."""
CLEAR_S = 0.1
"""Times above this are not measured again: disturbances are much shorter."""
RATIO = 9.0
"""For four times the input: linear is 4, n log n about 5, quadratic 16."""


class Slow(Exception):
    """One call took so long that the measurement ends."""


def cost(function: Callable[[str], Any], text: str, repeats: int = 3, most: float = 20.0) -> float:
    """The lowest CPU time of several calls, so that neither the first call nor other processes count."""
    best = float("inf")
    for _ in range(repeats):
        gc.disable()
        before = time.thread_time()
        try:
            function(text)
        finally:
            gc.enable()
        best = min(best, time.thread_time() - before)
        if best > most:
            raise Slow(f"{best:.1f} s for {len(text):,} characters")
        if best < NOISE_S or best > CLEAR_S:
            break
    return best


def grows_badly(function: Callable[[str], Any], text: Generator, size: int) -> str | None:
    """What is wrong with the growth up to `size`, as a sentence; None if it is linear."""
    last = cost(function, text(size))
    if last < NOISE_S:
        return None
    first = max(cost(function, text(size // 4), repeats=1), NOISE_S / 20)
    if last / first <= RATIO:
        return None
    # Measure again and longer: a cold cache or a busy machine may have disturbed the first time.
    first = max(cost(function, text(size // 4), repeats=15), NOISE_S / 20)
    last = cost(function, text(size), repeats=5)
    if last / first <= RATIO or last < NOISE_S:
        return None
    return f"{first:.4f} s for {size // 4:,} characters, {last:.4f} s for {size:,}"
