"""The server is killed with -9 at any moment of a streaming turn, and started again.

What a client had seen is there afterwards, pending requests are marked as ended, no process is
left, and the session continues. `FAIRLEAD_KILLS=500` kills as often in each lane.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.checker import Findings
from tests.faults.kill_harness import KillHarness
from tests.faults.server_forker import ServerForker

KILLS = int(os.environ.get("FAIRLEAD_KILLS", "6"))
"""In each of two lanes, which run at the same time."""


@pytest.mark.timeout(60 + 20 * KILLS)
async def test_whatever_was_seen_or_acknowledged_outlives_kill_9(tmp_path: Path) -> None:
    async with ServerForker(tmp_path) as forker:
        harnesses = [KillHarness(tmp_path / f"lane{n}", n, forker) for n in (1, 2)]

        async def run(harness: KillHarness) -> Findings:
            await harness.first()
            for number in range(KILLS):
                await harness.kill_once(number)
            return await harness.last()

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(harness)) for harness in harnesses]
    for harness, task in zip(harnesses, tasks, strict=True):
        findings = task.result()
        restarts = sorted(harness.restart_s)
        print(  # noqa: T201
            f"\n{KILLS} kills: {findings}; seen up to {harness.client.highest:,}; restart to ready "
            f"{restarts[len(restarts) // 2]:.2f} s, at most {restarts[-1]:.2f} s; "
            f"{dict(harness.client.counts)}; refused: {Counter(harness.client.refusals)}"
        )
        assert harness.problems == []
        assert findings.problems == {}
        assert findings.inputs >= KILLS
        assert findings.events > 20 * KILLS
        assert findings.views > KILLS
