"""A flag wakes the one task that waits for it."""

from __future__ import annotations

import asyncio

import pytest

from fairlead.server.sockets.flag import Flag


async def test_a_task_waits_until_the_flag_is_set_and_not_after_that() -> None:
    flag = Flag()
    waiting = asyncio.create_task(flag.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    flag.set()
    flag.set()
    await asyncio.wait_for(waiting, 60.0)
    await asyncio.wait_for(flag.wait(), 60.0)
    assert flag.is_set


async def test_a_flag_that_was_cleared_is_waited_for_again() -> None:
    flag = Flag(is_set=True)
    flag.clear()
    waiting = asyncio.create_task(flag.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    flag.set()
    await asyncio.wait_for(waiting, 60.0)


async def test_a_task_that_is_cancelled_while_it_waits_leaves_the_flag_usable() -> None:
    flag = Flag()
    waiting = asyncio.create_task(flag.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    flag.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(flag.wait(), 60.0)
