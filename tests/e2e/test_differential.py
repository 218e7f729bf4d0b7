"""The differential of conversations counts a play that hangs, and continues."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.e2e.conversations.comparison import difference, outline, signature
from tests.e2e.conversations.differential import HUNG, finished


async def test_a_play_that_does_not_end_is_cancelled_and_counts() -> None:
    was_cancelled = asyncio.Event()

    async def play() -> list[Any]:
        try:
            await asyncio.Event().wait()
        finally:
            was_cancelled.set()
        return []

    assert await finished(play(), limit_s=0.01) == HUNG
    assert was_cancelled.is_set()
    changed = signature(difference(outline(HUNG), outline([{"_exit": 0}])))
    assert changed[0].startswith('- {"_timeout')


async def test_the_lines_of_a_play_that_ends_are_kept() -> None:
    async def play() -> list[Any]:
        return [{"_exit": 0}]

    assert await finished(play()) == [{"_exit": 0}]
