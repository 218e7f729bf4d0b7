"""How long single callbacks hold an event loop, in CPU seconds of its thread.

CPU time and not the clock: other processes of the machine must not decide a test.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["LoopWatch", "watched_loop"]


class LoopWatch:
    """The slowest callback so far."""

    def __init__(self) -> None:
        self.slowest = 0.0
        self.what = ""


@contextmanager
def watched_loop() -> Iterator[LoopWatch]:
    """Measure every callback of every loop of this process until the end of the block."""
    watch = LoopWatch()
    handles: Any = asyncio.Handle
    run = handles._run

    def measured(handle: Any) -> None:
        before = time.thread_time()
        run(handle)
        took = time.thread_time() - before
        if took > watch.slowest:
            watch.slowest, watch.what = took, repr(handle)[:300]

    handles._run = measured
    try:
        yield watch
    finally:
        handles._run = run
