"""Waiting for what becomes true somewhere else, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["until", "until_asked"]

T = TypeVar("T")

STEP_S = 0.005


async def until(what: Callable[[], T], patience_s: float = 60.0) -> T:
    """Look until something is true, and give it.

    For what is true in another process or thread first, which has no event to wait on.
    """
    async with asyncio.timeout(patience_s):
        while not (found := what()):  # noqa: ASYNC110
            await asyncio.sleep(STEP_S)
    return found


async def until_asked(ask: Callable[[], Awaitable[T]], patience_s: float = 60.0) -> T:
    """Ask until the answer is true, and give it."""
    async with asyncio.timeout(patience_s):
        while not (answer := await ask()):  # noqa: ASYNC110
            await asyncio.sleep(STEP_S)
    return answer
