"""A gate: tasks wait while it is closed, and all of them go on when it opens."""

from __future__ import annotations

import asyncio

from fairlead.host.process.gate import Gate


async def test_an_open_gate_lets_everything_pass() -> None:
    gate = Gate()
    assert gate.is_open
    await asyncio.wait_for(gate.wait(), 1)
    gate.open()
    await asyncio.wait_for(gate.wait(), 1)


async def test_all_tasks_go_on_even_if_the_gate_is_closed_again_at_once() -> None:
    gate = Gate()
    gate.close()
    gate.close()
    waiting = [asyncio.create_task(gate.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not gate.is_open
    assert not any(task.done() for task in waiting)
    gate.open()
    gate.close()
    await asyncio.wait_for(asyncio.gather(*waiting), 1)
    assert not gate.is_open


async def test_a_cancelled_task_does_not_keep_others_waiting() -> None:
    gate = Gate()
    gate.close()
    first, second = (asyncio.create_task(gate.wait()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    gate.open()
    await asyncio.wait_for(second, 1)
