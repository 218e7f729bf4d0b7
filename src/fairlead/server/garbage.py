"""Python's collector of reference cycles, kept from holding everybody up.

A server with many sessions holds millions of objects that live long and form no cycles. Left
alone, the collector walks through all of them now and then, a fifth of a second and more, in
which no answer goes out. So what has survived is taken out of its sight in small steps, and
everything is looked at only when no session works.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

__all__ = ["sweep_forever"]

YOUNG, MIDDLE, OLD = 2_000, 20, 1_000_000
"""Thresholds of the collector: cycles that die young are still found by the way; the oldest
generation is left to `sweep_forever`."""

EVERY_S = 10.0
WHOLE_AFTER_S = 600.0
"""How long what was once taken out of sight stays there, at least."""
WHOLE_AT_LAST_S = 3_600.0
"""After how much longer everything is looked at although sessions work."""


async def sweep_forever(working: Callable[[], bool]) -> None:
    """Look after the cycles of this process until cancelled; a process needs it once."""
    loop = asyncio.get_running_loop()
    thresholds = gc.get_threshold()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    whole_at = loop.time() + WHOLE_AFTER_S
    try:
        while True:
            overdue = loop.time() - whole_at
            if overdue >= WHOLE_AT_LAST_S or (overdue >= 0 and not working()):
                gc.unfreeze()
                whole_at = loop.time() + WHOLE_AFTER_S
            gc.collect()
            gc.freeze()
            await asyncio.sleep(EVERY_S)
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
