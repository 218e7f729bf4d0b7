"""A server that is killed while it counts what was spent counts it once and announces it once."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_S = 100.0

WARNED = "1 0.85 warned False 1"
REACHED = "2 1.25 reached True 2"
MOMENTS = {
    "count 1 before": WARNED,  # The turn is stored, and its cost is not.
    "count 1 inside": WARNED,  # Its cost and its notice are in a transaction that is not committed.
    "count 1 after": WARNED,
    "count 2 before": REACHED,
    "count 2 inside": REACHED,
    "count 2 after": REACHED,
    "none": REACHED,
}
"""Moment -> turns, spent, level, whether prompts are held, notices; after every later start."""


async def run(folder: Path, moment: str) -> tuple[int, str]:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.budgets.killed", str(folder), moment,
        stdout=asyncio.subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path])},
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE_S):
        output, _ = await program.communicate()
    assert program.returncode is not None
    return program.returncode, output.decode().strip()


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_B102_a_kill_at_any_moment_counts_and_announces_once(
    tmp_path: Path, moment: str
) -> None:
    code, output = await run(tmp_path, moment)
    assert code == (0 if moment == "none" else -9), output
    for _ in range(2):
        code, output = await run(tmp_path, "none")
        assert (code, output) == (0, MOMENTS[moment])
