"""A real server under load in lockstep: the next lines are written when every client has the last.

A load at a fixed pace measures the machine too: a server that gets too little of a busy machine
merges more, and its CPU time per line falls. Here the pace follows the server. In each step a part
of the sessions writes one line each, or a few, as they would between two commits of the store, and
the step ends when every socket that follows them has received it. So the work per line is the same on an
idle machine and on a busy one, and CPU times of two versions can be compared.

This process plays all agents and all clients.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
import uuid
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.server_load.active_client import ActiveClient
from bench.server_load.follower import Follower, Tally, connect
from bench.server_load.load import Start
from bench.server_load.processes import LoadedServer, Server, make_launcher
from bench.server_load.script import Script

__all__ = ["Plan", "measure", "measure_parts"]

STEP_S = 60.0
"""How long one step may take on an overloaded machine."""
SETTLE_S = 1.0
SOCKETS_OF_DEVICE = 30
LINES_IN_STEP = 43


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much of everything."""

    sessions: int = 40
    sockets: int = 100
    lines: int = 172
    """Of each session: four steps of an agent, of 43 lines on average."""
    warm: int = 40
    """Those of them that are not measured: caches fill, and the first items are added."""
    at_once: int = 20
    """Sessions that write in one step."""
    together: int = 1
    """Lines that a session writes in one step. With several of them the server does what it does
    under a load that makes the sessions take turns: it stores and sends them together."""


class _Agent(asyncio.Protocol):
    """One CLI that answers control requests, takes its prompt, and writes when it is asked to."""

    def __init__(self, run: _Run, script: Script, session: str, stdout: int) -> None:
        self.session = session
        self.written = 0
        self._run = run
        self._script = script
        self._stdout = stdout
        self._unread = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._act(json.loads(line))

    def _act(self, message: dict[str, Any]) -> None:
        if message["type"] == "control_request":
            body = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            self._write(json.dumps({"type": "control_response", "response": body}).encode() + b"\n")
        elif message["type"] == "user":
            self._write(self._script.init(self.session))
            echo = {**message, "session_id": self.session, "isReplay": True}
            self._write(json.dumps(echo).encode() + b"\n")
            self._run.prompted(message["message"]["content"][0]["text"], self)

    def write_next(self, count: int) -> None:
        """Write the next lines of the script."""
        beats = self._script.beats[self.written : self.written + count]
        self.written += count
        self._write(b"".join(self._script.for_session(self.session, beat.line) for beat in beats))

    def _write(self, line: bytes) -> None:
        os.write(self._stdout, line)  # A pipe holds more than one line, and the last was read.


class _Run:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.agents: dict[str, _Agent] = {}
        """By session; an agent learns from its prompt which one it plays."""
        self._script = Script(-(-plan.lines // LINES_IN_STEP) + 1)
        self._behind: Counter[bytes] = Counter()
        """Sockets that have not received the last line of a session yet."""
        self._wanted: dict[bytes, int] = {}
        self._complete = asyncio.Event()
        self.all_prompted = asyncio.Event()
        self._playing: set[asyncio.Task[None]] = set()

    async def listen(self, path: Path) -> None:
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.bind(str(path))
            door.listen(64)
            door.setblocking(False)
            while True:
                line, _ = await loop.sock_accept(door)
                task = loop.create_task(self._play(line))
                self._playing.add(task)
                task.add_done_callback(self._playing.discard)

    async def _play(self, line: socket.socket) -> None:
        with line:
            line.setblocking(True)
            flags, (stdin, stdout), _, _ = await asyncio.to_thread(socket.recv_fds, line, 65536, 2)
            session = next(
                flag.split("=", 1)[1]
                for flag in flags.decode().rstrip("\n").split("\0")
                if flag.startswith("--session-id=")
            )
            agent = _Agent(self, self._script, session, stdout)
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: agent, os.fdopen(stdin, "rb"))
            await asyncio.Event().wait()

    def prompted(self, name: str, agent: _Agent) -> None:
        """An agent got its prompt, which is the name of its session."""
        self.agents[name] = agent
        if len(self.agents) == self.plan.sessions:
            self.all_prompted.set()

    async def step(
        self, names: list[tuple[str, _Agent]], followers: dict[str, list[Follower]]
    ) -> None:
        """Let these sessions write, and wait until it has reached every socket."""
        self._complete.clear()
        for name, _ in names:
            document = name.encode()
            sockets = followers[name]
            self._wanted[document] = sockets[0].positions[document] + self.plan.together
            self._behind[document] = len(sockets)
        for _, agent in names:
            agent.write_next(self.plan.together)
        async with asyncio.timeout(STEP_S):
            await self._complete.wait()

    def received(self, follower: list[Follower], document: bytes, _: bytes) -> None:
        """A socket received a frame."""
        wanted = self._wanted.get(document)
        if wanted is None or not follower or follower[0].positions.get(document, 0) < wanted:
            return
        self._behind[document] -= 1
        if not self._behind[document]:
            del self._behind[document], self._wanted[document]
            if not self._behind:
                self._complete.set()


async def measure(plan: Plan, folder: Path, source: Path) -> float:
    """CPU time of the server process, all threads, per line, in seconds."""
    parts = await measure_parts(
        plan,
        folder,
        lambda folder, agent, project: Server.start(folder, agent, project, source=source),
    )
    return parts["server"]


async def measure_parts(plan: Plan, folder: Path, start: Start) -> dict[str, float]:
    """CPU time of each kind of processes of a server per line, in seconds."""
    run = _Run(plan)
    project = folder / "project"
    project.mkdir()
    with tempfile.TemporaryDirectory(prefix="fairlead-") as short:
        door = Path(short) / "door"
        listening = asyncio.create_task(run.listen(door))
        server = await start(folder, make_launcher(folder, door), project)
        try:
            return await _measure(run, server, project)
        finally:
            await server.end()
            for task in (listening, *run._playing):
                task.cancel()


async def _measure(run: _Run, server: LoadedServer, project: Path) -> dict[str, float]:
    plan = run.plan
    opener = await ActiveClient().connect(server.port, server.token, Tally())
    names: list[str] = []
    for number in range(plan.sessions):
        node = server.nodes[number % len(server.nodes)] if server.nodes else ""
        result, _ = await opener.intend("new_session", node=node, cwd=str(project))
        names.append(result["session"])
    for name in names:
        await opener.intend("send", session=name, text=name, uuid=str(uuid.uuid4()))
    async with asyncio.timeout(STEP_S):
        await run.all_prompted.wait()
    agents = [(name, run.agents[name]) for name in names]
    tally = Tally()
    followers = await _follow(run, server, names, tally)
    async with asyncio.timeout(STEP_S):
        frames = -1
        while tally.frames != frames:  # Until everybody has what was written before.
            frames = tally.frames
            await asyncio.sleep(SETTLE_S)
    groups = [
        agents[at :: len(agents) // plan.at_once] for at in range(len(agents) // plan.at_once)
    ]
    before: dict[str, float] = {}
    for number in range(0, plan.lines, plan.together):
        if number == plan.warm:
            before = server.cpu_parts()
        for group in groups:
            await run.step(group, followers)
    lines = (plan.lines - plan.warm) * sum(map(len, groups))
    if tally.gaps or tally.errors or tally.closed:
        raise RuntimeError(f"a client did not get everything: {vars(tally)}")
    return {name: (cpu_s - before[name]) / lines for name, cpu_s in server.cpu_parts().items()}


async def _follow(
    run: _Run, server: LoadedServer, names: list[str], tally: Tally
) -> dict[str, list[Follower]]:
    tokens = [server.token, *await server.pair(plan_devices(run.plan))]
    followers: dict[str, list[Follower]] = {name: [] for name in names}
    for number in range(run.plan.sockets):
        name = names[number % len(names)]
        hello = {"token": tokens[number // SOCKETS_OF_DEVICE], "session": name}
        own: list[Follower] = []
        heard = partial(run.received, own, name.encode())
        own.append(await connect(server.port, hello, tally, heard))
        followers[name].append(own[0])
    return followers


def plan_devices(plan: Plan) -> int:
    """Devices in addition to the first one."""
    return plan.sockets // SOCKETS_OF_DEVICE
