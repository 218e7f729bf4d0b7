"""What a page costs: the longest task of its main thread, its memory, and what moved.

A task's time is what its own thread used of a processor, read from Chromium's trace. The time on
the clock would also count what other programs did meanwhile, on a machine that is not ours alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page

__all__ = ["Measured", "heap_bytes", "measured"]

CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]

WATCH = """() => {
  const log = document.querySelector('[role=log]');
  const watch = (window.__watch = { long: [], shifts: [] });
  const inLog = (source) => source.node && log.contains(source.node);
  watch.observers = [
    new PerformanceObserver((list) => list.getEntries().forEach((one) => watch.long.push(one.duration))),
    new PerformanceObserver((list) =>
      list.getEntries().filter((one) => one.sources.some(inLog)).forEach((one) => watch.shifts.push(one.value))),
  ];
  watch.observers[0].observe({ type: 'longtask' });
  watch.observers[1].observe({ type: 'layout-shift' });
}"""

REPORT = """() => {
  const { observers, long, shifts } = window.__watch;
  observers.forEach((one) => one.disconnect());
  return { long, shifts };
}"""


@dataclass(slots=True)
class Measured:
    """What happened on a page's main thread."""

    longest_ms: float = 0.0
    """Of a processor, by the longest task."""
    long_tasks: list[float] = field(default_factory=list)
    """Wall-clock time from the page's own observer; it includes other programs on this machine."""
    shifts: list[float] = field(default_factory=list)
    """Layout shifts within the conversation."""
    heap_before: int = 0
    heap_after: int = 0

    def __str__(self) -> str:
        wall = ", ".join(f"{one:.0f}" for one in self.long_tasks) or "none"
        grown = (self.heap_after - self.heap_before) / 1e6
        return (
            f"longest task {self.longest_ms:.1f} ms of a processor; over 50 ms on the clock: {wall}; "
            f"{len(self.shifts)} shifts; heap {self.heap_after / 1e6:.1f} MB ({grown:+.1f})"
        )


@asynccontextmanager
async def measured(page: Page) -> AsyncIterator[Measured]:
    """Measure what happens to a page in the block."""
    result = Measured(heap_before=await heap_bytes(page))
    browser = page.context.browser
    assert browser is not None
    await page.evaluate(WATCH)
    await browser.start_tracing(page=page, categories=CATEGORIES)
    try:
        yield result
    finally:
        trace = json.loads(await browser.stop_tracing())
    seen = await page.evaluate(REPORT)
    result.long_tasks, result.shifts = seen["long"], seen["shifts"]
    result.longest_ms = _longest(trace["traceEvents"])
    result.heap_after = await heap_bytes(page)


async def heap_bytes(page: Page) -> int:
    """What the page's scripts hold, after what they do not need was given back."""
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return int(used["usedSize"])


def _longest(events: list[dict[str, Any]]) -> float:
    names = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    busy = Counter(
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "FunctionCall" and (one["pid"], one["tid"]) in names
    )
    (main, _), *_ = busy.most_common(1)
    tasks = [
        one
        for one in events
        if one["name"] == "RunTask" and one["ph"] == "X" and (one["pid"], one["tid"]) == main
    ]
    assert tasks
    # Now and then the kernel's clock of a thread tells more than has passed at all.
    return float(max(min(one.get("tdur", 0), one["dur"]) for one in tasks)) / 1_000
