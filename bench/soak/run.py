"""One long run: sessions that live for some turns, with clients that come and go."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.server_load.active_client import ActiveClient
from bench.server_load.follower import Tally
from bench.server_load.instructions import Instructions
from bench.server_load.processes import Helper, Server, environment, make_launcher
from bench.soak.samples import Sample, take

__all__ = ["Outcome", "Plan", "run"]

SOCKETS_OF_DEVICE = 30
LINES_IN_STEP = 43
TURN_S = 300.0
ACT_EVERY_S = 0.2

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much of everything."""

    seconds: float
    sessions: int = 50
    lines_per_s: float = 10.0
    turn_s: float = 2.0
    turns: int = 6
    """Of each session, until it is deleted and another takes its place."""
    restart_every: int = 2
    """Turns between two restarts of a CLI; its client comes again after the others."""
    sample_s: float = 1.0


@dataclass(slots=True)
class Outcome:
    """The events of a run, in addition to the samples."""

    samples: list[Sample]
    turns: int = 0
    restarts: int = 0
    reconnects: int = 0
    sessions: int = 0


class _Client(ActiveClient):
    """A client of one session that knows when a turn of it ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    def _heard(self, payload: bytes) -> None:
        if b'"outcome":"success"' in payload and b'"document":"lobby"' not in payload[:80]:
            self.ended.set()
        super()._heard(payload)


class _Soak:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.project = folder / "project"
        self.outcome = Outcome([])
        self.until = 0.0
        self.latencies: list[float] = []
        self.server: Server
        self.tokens: list[str]
        self.opener: ActiveClient

    async def start(self, ending: AsyncExitStack) -> None:
        self.project.mkdir()
        agents_socket = (
            Path(ending.enter_context(TemporaryDirectory(prefix="fairlead-"))) / "agents"
        )
        steps = math.ceil(self.plan.turn_s * self.plan.lines_per_s / LINES_IN_STEP) + 1
        env = environment(self.folder)
        agents = await Helper.start(
            "agents", str(agents_socket), str(steps), str(self.project), env=env
        )
        ending.push_async_callback(agents.end)
        await agents.ready()
        launcher = make_launcher(self.folder, agents_socket)
        self.server = await Server.start(self.folder, launcher, self.project)
        ending.push_async_callback(self.server.end)
        devices = math.ceil(self.plan.sessions / SOCKETS_OF_DEVICE)
        self.tokens = await self.server.pair(devices)
        self.opener = await self._connect(ActiveClient(), self.server.token)

    async def _connect(self, client: ActiveClient, token: str, session: str = "") -> ActiveClient:
        return await client.connect(self.server.port, token, Tally(), session)

    async def place(self, number: int) -> None:
        """One session after the other, in one of the places, until the time is over."""
        while time.monotonic() < self.until:
            made, _ = await self.opener.intend("new_session", cwd=str(self.project))
            session: str = made["session"]
            self.outcome.sessions += 1
            await self._live(session, self.tokens[number // SOCKETS_OF_DEVICE])
            await self.opener.intend("stop", session=session)
            await self.opener.intend("delete_sessions", sessions=[session], files=True)

    async def _live(self, session: str, token: str) -> None:
        instructions = Instructions(lines_per_s=self.plan.lines_per_s, seconds=self.plan.turn_s)
        client = _Client()
        await self._connect(client, token, session)
        for turn in range(1, self.plan.turns + 1):
            if time.monotonic() >= self.until:
                break
            client.ended.clear()
            name = str(uuid.uuid4())
            await self.opener.intend("send", session=session, text=instructions.text(), uuid=name)
            async with asyncio.timeout(TURN_S):
                await client.ended.wait()
            self.outcome.turns += 1
            if turn % self.plan.restart_every == 0:
                await self.opener.intend("restart", session=session)
                self.outcome.restarts += 1
            else:
                client.close()
                client = _Client()
                await self._connect(client, token, session)
                self.outcome.reconnects += 1
        client.close()

    async def act(self) -> None:
        """Measure the round trip of an intent, at the pace of a user."""
        made, _ = await self.opener.intend("new_session", cwd=str(self.project))
        pinned = False
        while time.monotonic() < self.until:
            pinned = not pinned
            _, took = await self.opener.intend("pin", session=made["session"], pinned=pinned)
            self.latencies.append(took)
            await asyncio.sleep(ACT_EVERY_S)

    async def sample(self, began: float, say: Say) -> None:
        data = self.folder / "data"
        told = began
        latencies = [0.0]
        while (now := time.monotonic()) < self.until:
            if self.latencies:  # Otherwise the last ones count: the current one takes longer.
                latencies, self.latencies = self.latencies, []
            one = take(self.server.pid, data, now - began, latencies)
            self.outcome.samples.append(one)
            if now - told >= 60:
                told = now
                say(f"{one.at_s / 60:.0f} min: {one.rss / 2**20:.0f} MiB, {one.descriptors} fds")
            await asyncio.sleep(self.plan.sample_s)


async def run(plan: Plan, folder: Path, say: Say) -> Outcome:
    """Keep a server busy for the time of the plan."""
    soak = _Soak(plan, folder)
    async with AsyncExitStack() as ending:
        await soak.start(ending)
        began = time.monotonic()
        soak.until = began + plan.seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(soak.sample(began, say))
            group.create_task(soak.act())
            for number in range(plan.sessions):
                group.create_task(soak.place(number))
    return soak.outcome
