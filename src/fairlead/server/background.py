"""Tasks that run until the part that started them is closed.

async with AsyncExitStack() as stack:
    run_until_closed(stack, schedules.run())
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any

__all__ = ["report_failure", "run_until_closed"]

log = logging.getLogger("fairlead")


def run_until_closed(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> None:
    """Run `work` in a task that is cancelled when `stack` is closed."""
    task = asyncio.create_task(work)
    task.add_done_callback(report_failure)
    stack.push_async_callback(_cancel, task)


def report_failure(task: asyncio.Task[Any]) -> None:
    """Log the error that ended a task, when it happens and not when the task is collected.

    Such an error is a mistake in Fairlead: background work handles the errors that it expects.
    """
    if not task.cancelled() and (problem := task.exception()) is not None:
        log.error("a background task ended", exc_info=problem)


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])
