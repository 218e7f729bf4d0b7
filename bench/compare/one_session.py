"""A real server with one session and one client: the delay of a line, and the cost of a flood.

Delay is the time from the CLI's write of a delta to the arrival of the frame that contains it.
Cost is the CPU time of the server process, all threads, per line.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from bench import flood, traffic
from bench.compare import metronome
from bench.server_load.active_client import ActiveClient
from bench.server_load.figures import Times
from bench.server_load.follower import Tally
from bench.server_load.load import Start
from bench.server_load.processes import LoadedServer, Server

__all__ = ["Flow", "measure_delay", "measure_flood"]

TURN_S = 120.0
SETTLE_S = 1.0
"""After the start of a session, until the server is idle again."""

_MARK = re.compile(rb"@(\d+\.\d+) ")
_ENDED = b'"outcome":"success"'


@dataclass(frozen=True, slots=True)
class Flow:
    """What one turn took."""

    lines: int
    cpu_s: float
    delays: Times

    @property
    def micros_per_line(self) -> float:
        """CPU time of the server per line, in microseconds."""
        return 1e6 * self.cpu_s / self.lines


class _Watcher(ActiveClient):
    """A client that notes when each marked delta arrived, and when the turn ended."""

    def __init__(self) -> None:
        super().__init__()
        self.delays: list[float] = []
        self.ended = asyncio.Event()

    def _heard(self, payload: bytes) -> None:
        now = time.monotonic()
        if payload.startswith(b'{"type":"changes"') and b'"document":"lobby"' not in payload[:60]:
            self.delays += [now - float(mark) for mark in _MARK.findall(payload)]
            if _ENDED in payload:
                self.ended.set()
        super()._heard(payload)


async def measure_delay(
    source: Path, folder: Path, *, deltas: int, per_s: float, start: Start | None = None
) -> Flow:
    """One session that writes deltas at a fixed pace; `start` starts something else than `serve`."""
    program = [sys.executable, "-ISE", str(Path(metronome.__file__))]
    prompt = json.dumps({"deltas": deltas, "per_s": per_s})
    return await _turn(source, folder, program, prompt, deltas, start)


async def measure_flood(source: Path, folder: Path, *, deltas: int) -> Flow:
    """One session that writes deltas as fast as the server reads them."""
    poured = traffic.write("flood", traffic.text_deltas(deltas), folder)
    program = [sys.executable, "-ISE", str(Path(flood.__file__)), str(poured.path)]
    return await _turn(source, folder, program, "go", poured.messages)


async def _turn(
    source: Path,
    folder: Path,
    program: list[str],
    prompt: str,
    lines: int,
    start: Start | None = None,
) -> Flow:
    project = folder / "project"
    project.mkdir()
    agent = folder / "claude"
    agent.write_text(f'#!/bin/sh\nexec {shlex.join(program)} "$@"\n', "utf-8")
    agent.chmod(0o755)
    server: LoadedServer = await (
        Server.start(folder, agent, project, source=source)
        if start is None
        else start(folder, agent, project)
    )
    try:
        opener = await ActiveClient().connect(server.port, server.token, Tally())
        started, _ = await opener.intend("new_session", cwd=str(project))
        session = started["session"]
        watcher = _Watcher()
        await watcher.connect(server.port, server.token, Tally(), session)
        await asyncio.sleep(SETTLE_S)
        before = server.usage().cpu_s
        await opener.intend("send", session=session, text=prompt, uuid=str(uuid.uuid4()))
        async with asyncio.timeout(TURN_S):
            await watcher.ended.wait()
        cpu_s = server.usage().cpu_s - before
    finally:
        await server.end()
    return Flow(lines, cpu_s, Times("line to frame", tuple(watcher.delays)))
