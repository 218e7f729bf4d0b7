"""A server that is killed with SIGKILL at every step of a hold: nothing is lost or sent twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.intents.limit_holds import CONTINUE_TEXT
from tests.server.limits.reports import RESET, report
from tests.waiting import until

QUEUED = "queued before the limit"
DUE = RESET + 7.0
ROOT = Path(__file__).parents[3]

State = dict[str, Any]


class Server:
    """One server process, and what it printed last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.state: State = {}

    async def start(self) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(self._folder)}
        env["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.server.limits.killable_server", str(self._folder),
            stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=env,
        )  # fmt: skip
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.state = json.loads(line)

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await asyncio.wait_for(self._process.wait(), 60)
        await asyncio.wait_for(self._reading, 60)


def sent(folder: Path, text: str) -> list[str]:
    """The uuids of the prompts with this text that the agent got."""
    log = folder / "agent.log"
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    prompts = [entry for entry in entries if entry.get("type") == "user"]
    return [entry["uuid"] for entry in prompts if entry["message"]["content"][0]["text"] == text]


def starts(folder: Path) -> int:
    log = folder / "agent.log"
    return log.read_text().count('"argv"') if log.exists() else 0


Moment = Callable[[Path, State], bool]

MOMENTS: list[tuple[str, float, Moment]] = [
    ("the limit is reported and the turn still runs", 0, lambda f, s: bool(s.get("reported"))),
    ("the turn is over", 0, lambda f, s: s.get("turns") == 1 and s.get("running") is False and bool(s.get("reported"))),
    ("the continuation is queued", 0, lambda f, s: CONTINUE_TEXT in s.get("queued", ())),
    ("the hold is shown", 0, lambda f, s: bool((s.get("limit") or {}).get("continues_at"))),
    ("the time has come", DUE, lambda f, s: bool((s.get("limit") or {}).get("continues_at"))),
    ("the CLI got the prompt", DUE, lambda f, s: bool(sent(f, CONTINUE_TEXT))),
    ("the prompt is written in the log", DUE, lambda f, s: s.get("states", {}).get(CONTINUE_TEXT) not in (None, "held")),
    ("the next prompt was sent", DUE, lambda f, s: bool(sent(f, QUEUED))),
]  # fmt: skip
"""What a test sees before it kills, and the time that it sets before (0: before the reset)."""


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize(("name", "at", "moment"), MOMENTS, ids=[name for name, *_ in MOMENTS])
async def test_B88_a_kill_at_any_moment_loses_nothing_and_sends_nothing_twice(
    tmp_path: Path, name: str, at: float, moment: Moment
) -> None:
    clock = tmp_path / "clock"
    clock.write_text("1000")
    ending = [{"wait": 1}] if "still runs" in name else [{"say": "You've hit your limit"}]
    (tmp_path / "first-prompt").write_text(json.dumps([{"line": report()}, *ending]))
    server = Server(tmp_path)
    await server.start()
    if at:
        await until(lambda: (server.state.get("limit") or {}).get("continues_at"))
        assert sent(tmp_path, CONTINUE_TEXT) == sent(tmp_path, QUEUED) == []
        _set(clock, at)
    await until(lambda: moment(tmp_path, server.state))
    await server.kill()
    early = [*sent(tmp_path, CONTINUE_TEXT), *sent(tmp_path, QUEUED)] if not at else []
    again = Server(tmp_path)
    await again.start()
    await until(lambda: again.state)
    if not at:
        # Before the reset nothing is sent, by neither server.
        await until(lambda: (again.state.get("limit") or {}).get("continues_at") == DUE)
        assert early == sent(tmp_path, CONTINUE_TEXT) == sent(tmp_path, QUEUED) == []
        _set(clock, DUE)
    await until(lambda: sent(tmp_path, CONTINUE_TEXT))
    await until(lambda: again.state.get("limit") is None and not again.state.get("queued"))
    await until(lambda: again.state.get("loaded", True) is False or again.state["running"] is False)
    goes_on = not at or name == "the time has come"
    if goes_on:
        await until(lambda: sent(tmp_path, QUEUED))
    await again.kill()
    # The CLI drops a prompt whose uuid it has seen (CLI-202), so the uuid counts, not the line.
    assert len(set(sent(tmp_path, CONTINUE_TEXT))) == 1
    states = again.state.get("states", {})
    if goes_on:
        assert len(sent(tmp_path, QUEUED)) == 1
    else:
        # The kill interrupted a running session: its queue is cancelled, and the user sees that.
        assert (
            len(set(sent(tmp_path, QUEUED))) == 1 or states.get(QUEUED, "cancelled") == "cancelled"
        )


def _set(clock: Path, now: float) -> None:
    part = clock.with_suffix(".part")
    part.write_text(str(now))
    part.replace(clock)
