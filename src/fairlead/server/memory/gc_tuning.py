"""Keeps Python's cyclic garbage collector from delaying clients.

A server with many sessions holds millions of long-lived objects that form no cycles. By default the
collector traverses all of them now and then, for a fifth of a second or more, in which no response
is sent. So surviving objects are frozen in small steps, and a full collection runs only while no
session is in a turn, or when enough sessions and CLI processes have ended that what they left
behind, which forms cycles, may be large. What it freed is then returned to the system (`heap`).
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

from fairlead.server.memory.heap import return_free_memory

__all__ = ["sweep_forever"]

YOUNG, MIDDLE, OLD = 2_000, 20, 1_000_000
"""Thresholds of the collector: cycles that die young are still collected as usual; the oldest
generation is left to `sweep_forever`."""

EVERY_S = 2.0
"""How often survivors are frozen. A sweep visits what was created since the last one, and nothing is
sent meanwhile: 2 ms for 40,000 objects, but 19 ms for 200,000."""
FULL_AFTER_S = 600.0
"""How long frozen objects stay frozen at least."""
FULL_AT_LATEST_S = 3_600.0
"""After how much longer a full collection runs even though sessions are in turns."""


MOST_RETIRED = 100
"""How many ended sessions and CLI processes, of 0.1 to 0.2 MB each, wait for a full collection."""


async def sweep_forever(
    working: Callable[[], bool], retired: Callable[[], int], every_s: float = EVERY_S
) -> None:
    """Collect the cycles of this process until cancelled; a process needs it once.

    `retired` is the number of sessions and CLI processes that have ended so far.
    """
    loop = asyncio.get_running_loop()
    thresholds = gc.get_threshold()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    full_at = loop.time() + FULL_AFTER_S
    seen = retired()
    try:
        while True:
            overdue = loop.time() - full_at
            is_due = overdue >= FULL_AT_LATEST_S or (overdue >= 0 and not working())
            is_full = is_due or retired() - seen >= MOST_RETIRED
            if is_full:
                gc.unfreeze()
                full_at = loop.time() + FULL_AFTER_S
                seen = retired()
            gc.collect()
            gc.freeze()
            if is_full:
                return_free_memory()
            await asyncio.sleep(every_s)
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
