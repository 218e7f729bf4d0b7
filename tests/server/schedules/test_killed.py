"""A server that is killed at any moment of a scheduled run neither forgets nor repeats it."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_S = 100.0

MOMENTS = (
    "apply 1 before",  # The run is due and not planned.
    "apply 1 after",  # It is planned.
    "act 1 before",
    "act 1 after",  # The session and its prompt are stored; the CLI may have begun.
    "apply 2 before",
    "apply 2 after",  # The run is stored as sent.
    "apply 3 before",  # Its turn has ended.
    "apply 3 after",
    "none",
)


async def run(folder: Path, moment: str) -> tuple[int, list[str]]:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.schedules.killed", str(folder), moment,
        stdout=asyncio.subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path])},
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE_S):
        output, _ = await program.communicate()
    assert program.returncode is not None
    return program.returncode, output.decode().splitlines()


def prompts(folder: Path) -> list[str]:
    """What the agent was given, by every process of it."""
    log = folder / "agent.log"
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return [each["message"]["content"][0]["text"] for each in entries if each.get("type") == "user"]


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_B106_a_kill_at_any_moment_neither_loses_nor_repeats_a_run(
    tmp_path: Path, moment: str
) -> None:
    code, output = await run(tmp_path, moment)
    assert code == (0 if moment == "none" else -9), output
    for _ in range(2):  # The second start finds nothing left to do.
        code, output = await run(tmp_path, "none")
        assert code == 0, output
    assert prompts(tmp_path) == ["do it"]
    state, _, outcome = output[-1].partition(" ")
    assert state == "done"
    assert outcome in ("success", "host_stopped")


def forget_that_the_session_runs(folder: Path) -> None:
    """What a kill leaves if it comes after the prompt was stored and before the row was."""
    with sqlite3.connect(folder / "data" / "fairlead.db") as db:
        ((session, stored),) = db.execute("SELECT id, row FROM sessions").fetchall()
        row = json.loads(stored)
        row["state"] = "stopped"
        db.execute("UPDATE sessions SET row = ? WHERE id = ?", (json.dumps(row).encode(), session))


async def test_B106_a_prompt_that_a_kill_left_in_the_queue_is_sent_once(tmp_path: Path) -> None:
    code, output = await run(tmp_path, "act 1 after")
    assert code == -9, output
    forget_that_the_session_runs(tmp_path)
    code, output = await run(tmp_path, "none")
    assert code == 0, output
    assert prompts(tmp_path) == ["do it"]
    assert output[-1] == "done success"
