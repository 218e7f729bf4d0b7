"""One run: sessions, then sockets, then idle time, then work; the cost of each step.

    figures = await run(Plan(sessions=200, sockets=500), folder, say)

The order matters: growth of memory is assigned to the last step. Below: `processes`, `active_client`.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import shapes
from bench.server_load.active_client import ActiveClient
from bench.server_load.figures import Figures, Times
from bench.server_load.follower import Tally
from bench.server_load.instructions import Instructions
from bench.server_load.limited_cores import LimitedCores
from bench.server_load.processes import (
    SOURCE,
    Helper,
    LoadedServer,
    Server,
    environment,
    make_launcher,
)

__all__ = ["Plan", "Start", "run"]

LINES_IN_STEP = 43
"""Lines of a step of an agent, on average (`bench.traffic`)."""

SOCKETS_OF_DEVICE = 30
"""Below the server's limit for one device."""

STARTING_AT_ONCE = 8
STARTING_PAUSE_S = 0.1
"""So that one socket stays far below the messages that it may send in a second."""
SETTLED_S = 1.0
"""How long after its start an agent has answered what it is asked first."""

SETTLE_S = 120.0
"""How long the sockets may take to receive everything after the last line."""

Say = Callable[[str], None]

Start = Callable[[Path, Path, Path], Awaitable[LoadedServer]]
"""Starts a server in a folder, with an agent, for a project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much of everything."""

    sessions: int = 200
    sockets: int = 500
    """Of all clients together."""
    lines_per_s: float = 10.0
    """Of each session; an agent streams in bursts and waits for its model and its tools between."""
    seconds: float = 30.0
    """How long round trips are measured."""
    warm_s: float = 5.0
    """How long everybody is at work before."""
    idle_s: float = 5.0
    asking_lines_per_s: float = 0.0
    """Of each session that asks; 0 for the same as the others. A step between two requests has 43 lines,
    so a slow session asks nothing in a short run."""
    askers: int = 20
    """Sessions that ask before every tool call; each has a client that decides."""
    actors: int = 10
    """People who want something ten times a second."""
    between_s: float = 0.1
    share: float = 0.0
    """Of a core that each process of the server may use while it works; 0 for all that it gets."""


class Run:
    """The state of one run."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        ending: AsyncExitStack,
        start: Start,
    ) -> None:
        self.plan = plan
        self._start_server = start
        self.ending = ending
        self.folder = folder
        self.project = folder / "project"
        self.tally = Tally()
        self.sessions: list[str] = []
        self._begun = 0
        self._clients = 0
        self.deciders: list[ActiveClient] = []
        self.actors: list[ActiveClient] = []
        self.figures = Figures(
            sessions=plan.sessions, sockets=plan.sockets, lines_per_s=plan.lines_per_s
        )
        self._cores = ending.enter_context(LimitedCores(plan.share))
        self.agents: Helper
        self.viewers: Helper
        self.server: LoadedServer
        self.opener: ActiveClient

    # Beginning

    async def start(self) -> None:
        """The agents' process and the server."""
        self.project.mkdir()
        # The name of a socket has to be short, and a test's folder is not.
        agents_socket = (
            Path(self.ending.enter_context(TemporaryDirectory(prefix="fairlead-"))) / "agents"
        )
        longest = self.plan.warm_s * 3 + self.plan.seconds * 2
        steps = (
            math.ceil(
                longest * max(self.plan.lines_per_s, self.plan.asking_lines_per_s) / LINES_IN_STEP
            )
            + 1
        )
        env = environment(self.folder)
        self.agents = await Helper.start("agents", str(agents_socket), str(steps), env=env)
        self.ending.push_async_callback(self.agents.end)
        await self.agents.ready()
        launcher = make_launcher(self.folder, agents_socket)
        self.server = await self._start_server(self.folder, launcher, self.project)
        self.ending.push_async_callback(self.server.end)
        self.viewers = await Helper.start("viewers", env=env)
        self.ending.push_async_callback(self.viewers.end)
        self.opener = await self._client()

    async def open_sessions(self) -> None:
        """One session first, so that modules which are loaded once are not counted as its cost."""
        await self._new_session()
        await self._until("agents", 1)
        await asyncio.sleep(SETTLED_S)
        self.figures.rss_bare = self.server.usage().rss
        gate = asyncio.Semaphore(STARTING_AT_ONCE)

        async def one() -> None:
            async with gate:
                await self._new_session()
                await asyncio.sleep(STARTING_PAUSE_S)

        await asyncio.gather(*(one() for _ in range(self.plan.sessions - 1)))
        await self._until("agents", self.plan.sessions)
        await asyncio.sleep(SETTLED_S)
        self.figures.rss_sessions = self.server.usage().rss

    async def open_sockets(self) -> None:
        """People first, then the viewers, spread over all sessions."""
        plan = self.plan
        for session in self.sessions[: plan.askers]:
            self.deciders.append(await self._client(session, decides=True))
        for number in range(plan.actors):
            session = self.sessions[-1 - number % len(self.sessions)]
            self.actors.append(await self._client(session))
        lookers = plan.sockets - plan.askers - plan.actors - 1
        spread = [self.sessions[number % len(self.sessions)] for number in range(lookers)]
        tokens = await self.server.pair(math.ceil(lookers / SOCKETS_OF_DEVICE))
        instructions = {"ports": self.server.ports, "tokens": tokens, "sessions": spread}
        self.viewers.say(json.dumps(instructions))
        await self.viewers.ready()
        self.figures.rss_sockets = self.server.usage().rss
        for pid in self.server.pids():
            self._cores.limit(pid)

    async def rest(self) -> None:
        """Measure the idle server."""
        before = self.server.usage().cpu_s
        await asyncio.sleep(self.plan.idle_s)
        self.figures.idle_cpu = (self.server.usage().cpu_s - before) / self.plan.idle_s

    # Work

    async def work(self) -> None:
        """Let every agent write, and measure in the middle of it."""
        plan = self.plan
        turn_s = 2 * plan.warm_s + plan.seconds
        gate = asyncio.Semaphore(STARTING_AT_ONCE)

        async def prompt(number: int, session: str) -> None:
            asks = number < plan.askers
            pace = plan.asking_lines_per_s if asks and plan.asking_lines_per_s else plan.lines_per_s
            instructions = Instructions(lines_per_s=pace, seconds=turn_s, asks=asks)
            async with gate:
                await self.opener.intend(
                    "send", session=session, text=instructions.text(), uuid=_uuid(number)
                )
                await asyncio.sleep(STARTING_PAUSE_S)

        # Those that ask last: on a busy machine the first turns end before the last ones begin.
        numbered = reversed(list(enumerate(self.sessions)))
        await asyncio.gather(*(prompt(*each) for each in numbered))
        await self._until("turns_begun", plan.sessions)
        await asyncio.sleep(plan.warm_s)
        before = await self._counted()
        began = time.monotonic()
        acting = [asyncio.create_task(self._act(actor, began)) for actor in self.actors]
        await asyncio.sleep(plan.seconds)  # Also in a plan without people who act.
        taken = [pair for some in await asyncio.gather(*acting) for pair in some]
        ended = time.monotonic()
        self._note_load(before, await self._counted(), ended - began)
        for name in ("pin", "set_mode"):
            seconds = tuple(actor for kind, actor in taken if kind == name)
            self.figures.times.append(Times(ACTS[name], seconds))
        await self._until("turns_ended", plan.sessions)
        await self._note_permissions(began, ended)

    async def _act(self, client: ActiveClient, began: float) -> list[tuple[str, float]]:
        taken: list[tuple[str, float]] = []
        session = self.sessions[-1 - self.actors.index(client) % len(self.sessions)]
        number = 0
        while time.monotonic() < began + self.plan.seconds:
            number += 1
            if number % 2:
                act: dict[str, Any] = {"kind": "pin", "pinned": number % 4 == 1}
            else:
                act = {"kind": "set_mode", "mode": ("default", "acceptEdits")[number % 4 // 2]}
            _, seconds = await client.intend(act.pop("kind"), session=session, **act)
            taken.append(("pin" if number % 2 else "set_mode", seconds))
            await asyncio.sleep(self.plan.between_s)
        return taken

    def _note_load(self, before: _Counted, after: _Counted, seconds: float) -> None:
        figures = self.figures
        figures.seconds = seconds
        figures.lines = after.lines - before.lines
        figures.frames = after.frames - before.frames
        figures.frame_bytes = after.frame_bytes - before.frame_bytes
        figures.server_cpu = (after.server_cpu - before.server_cpu) / seconds
        figures.cpu_parts = {
            name: (cpu_s - before.cpu_parts[name]) / seconds
            for name, cpu_s in after.cpu_parts.items()
        }
        figures.agents_cpu = (after.agents_cpu - before.agents_cpu) / seconds
        figures.viewers_cpu = (after.viewers_cpu - before.viewers_cpu) / seconds

    async def _note_permissions(self, began: float, ended: float) -> None:
        reported = await self.agents.counts()
        shown = {name: at for decider in self.deciders for name, at in decider.shown.items()}
        request = {
            name: times
            for name, times in reported["permissions"].items()
            if began <= times[0] <= ended
        }
        until_shown = tuple(shown[name] - times[0] for name, times in request.items())
        all_the_way = tuple(times[1] - times[0] for times in request.values())
        self.figures.times.append(Times("a permission is asked, until it is shown", until_shown))
        self.figures.times.append(
            Times("a permission is asked, until the answer is on stdin", all_the_way)
        )
        self.figures.permissions = len(reported["permissions"])
        self.figures.turns = reported["turns_ended"]
        self.figures.late_s = reported["late_s"]

    # The end

    async def check(self) -> None:
        """Check that every socket reaches the end of its documents."""
        figures = self.figures
        figures.rss_end = self.server.usage().rss
        figures.slowest_commit_s = await self.server.metric("fairlead_store_slowest_commit_seconds")
        async with asyncio.timeout(SETTLE_S):
            while True:
                reported = await self.viewers.counts()
                first = (*self.deciders, *self.actors)
                followed = {name for name, _ in reported["positions"]}
                followed |= {name.decode() for item in first for name in item.positions}
                ends = await self._ends(followed)
                reported = await self.viewers.counts()
                where = [(name, seq) for name, seq in reported["positions"] if name in ends]
                where += [
                    (name.decode(), seq)
                    for item in first
                    for name, seq in item.positions.items()
                    if name.decode() in ends
                ]
                figures.behind = sum(1 for name, seq in where if seq != ends[name])
                if not figures.behind:
                    break
                await asyncio.sleep(0.5)
        figures.gaps = reported["gaps"] + self.tally.gaps
        figures.closed = reported["closed"] + self.tally.closed
        figures.errors = [*reported["errors"], *self.tally.errors]

    async def _ends(self, followed: set[str]) -> dict[str, int]:
        """The current end of each session that a client follows, as a new client sees it."""
        tally = Tally()
        ends: dict[str, int] = {}
        for session in [each for each in self.sessions if each in followed]:
            client = await ActiveClient().connect(
                self.server.port, self.server.token, tally, session
            )
            ends[session] = client.positions[session.encode()]
            client.close()
        return ends

    # Within

    async def _client(self, session: str = "", *, decides: bool = False) -> ActiveClient:
        client = ActiveClient(decides=decides)
        self._clients += 1
        port = self.server.ports[self._clients % len(self.server.ports)]
        return await client.connect(port, self.server.token, self.tally, session)

    async def _new_session(self) -> None:
        nodes = self.server.nodes
        self._begun += 1
        node = nodes[self._begun % len(nodes)] if nodes else ""
        result, _ = await self.opener.intend("new_session", node=node, cwd=str(self.project))
        self.sessions.append(result["session"])

    async def _until(self, what: str, count: int) -> None:
        """Wait until a count of the agents has reached a number."""
        async with asyncio.timeout(self.plan.seconds + SETTLE_S):
            while True:
                reported = await self.agents.counts()
                if reported[what] >= count:
                    return
                await asyncio.sleep(0.1)

    async def _counted(self) -> _Counted:
        agents, viewers = await self.agents.counts(), await self.viewers.counts()
        return _Counted(
            lines=agents["lines"],
            frames=viewers["frames"] + self.tally.frames,
            frame_bytes=viewers["bytes"] + self.tally.bytes,
            server_cpu=self.server.usage().cpu_s,
            cpu_parts=self.server.cpu_parts(),
            agents_cpu=self.agents.usage().cpu_s,
            viewers_cpu=self.viewers.usage().cpu_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    lines: int
    frames: int
    frame_bytes: int
    server_cpu: float
    cpu_parts: dict[str, float]
    agents_cpu: float
    viewers_cpu: float


ACTS = {
    "pin": "an intent that is stored, until its result",
    "set_mode": "an intent that the agent answers, until its result",
}


def _uuid(number: int) -> str:
    return shapes.Source(seed=1000 + number).uuid()


async def run(
    plan: Plan,
    folder: Path,
    say: Say,
    *,
    source: Path = SOURCE,
    options: tuple[str, ...] = (),
    start: Start | None = None,
) -> Figures:
    """Measure the server of one source tree once; `options` are further ones of `fairlead serve`.

    `start` starts something else than `fairlead serve`.
    """

    async def serve(folder: Path, agent: Path, project: Path) -> LoadedServer:
        return await Server.start(folder, agent, project, source=source, options=options)

    async with AsyncExitStack() as ending:
        item = Run(plan, folder, ending, start or serve)
        await item.start()
        say(f"opening {plan.sessions} sessions")
        await item.open_sessions()
        say(f"connecting {plan.sockets} sockets")
        await item.open_sockets()
        say("resting")
        await item.rest()
        say(f"working for {plan.seconds + 2 * plan.warm_s:.0f} s")
        await item.work()
        say("checking that everybody got everything")
        await item.check()
        say("ending")
    return item.figures
