"""The server is killed with -9 at any moment of a streaming turn, and started again.

What a client had seen or was told is there afterwards, what waited is marked as ended, no process
is left, and the session goes on. `FAIRLEAD_KILLS=500` kills as often in each lane.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.checker import Findings
from tests.faults.killable import Nursery
from tests.faults.lane import Lane

KILLS = int(os.environ.get("FAIRLEAD_KILLS", "12"))
"""In each of two lanes, which run at the same time."""


@pytest.mark.timeout(60 + 20 * KILLS)
async def test_whatever_was_seen_or_acknowledged_outlives_kill_9(tmp_path: Path) -> None:
    async with Nursery(tmp_path) as nursery:
        lanes = [Lane(tmp_path / f"lane{n}", n, nursery) for n in (1, 2)]

        async def run(lane: Lane) -> Findings:
            await lane.first()
            for number in range(KILLS):
                await lane.kill_once(number)
            return await lane.last()

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(lane)) for lane in lanes]
    for lane, task in zip(lanes, tasks, strict=True):
        findings = task.result()
        restarts = sorted(lane.restart_s)
        print(  # noqa: T201
            f"\n{KILLS} kills: {findings}; seen up to {lane.robot.highest:,}; restart to ready "
            f"{restarts[len(restarts) // 2]:.2f} s, at most {restarts[-1]:.2f} s; "
            f"{dict(lane.robot.counts)}; refused: {Counter(lane.robot.refusals)}"
        )
        assert lane.problems == []
        assert findings.problems == {}
        assert findings.inputs >= KILLS
        assert findings.events > 20 * KILLS
        assert findings.views > KILLS
