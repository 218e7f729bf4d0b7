"""A fleet of real processes, used by the benchmarks like one server: nats-server, gateway and nodes.

The machines join with the documented commands. All have the same project folder, so the benchmark
names the machine of each new session.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import sys
import urllib.request
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from bench.server_load.processes import (
    START_S,
    Usage,
    cpu_of,
    ended,
    environment,
    link_of,
    pair,
    pair_more,
    usage_of,
)

__all__ = ["FleetServer"]

_JOIN = re.compile(r"fairlead node join '(\S+)'")
_NUMBER = re.compile(r"must show the number \d{6}")


class FleetServer:
    """A gateway with a nats-server of its own, and nodes (`Server`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._gateway: Process
        self._nodes: list[Process] = []
        self.port = 0
        self.token = ""
        self.nodes: tuple[str, ...] = ()

    @classmethod
    async def start(cls, folder: Path, agent: Path, project: Path, nodes: int = 1) -> FleetServer:
        """Start everything, and pair with the gateway."""
        made = cls(folder)
        try:
            await made._start(agent, project, nodes)
        except BaseException:
            await made.end()
            raise
        return made

    async def _start(self, agent: Path, project: Path, nodes: int) -> None:
        data = str(self._data)
        bus = ("--bus-port", str(_free_port()))
        self._gateway = await self._run("gateway", "--port", "0", "--data", data, *bus)
        base, code = await link_of(self._gateway)
        self.port = int(base.rpartition(":")[2])
        self.token = await asyncio.to_thread(pair, base, code)
        for number in range(nodes):
            folder = self._folder / f"node{number}"
            await self._join(folder)
            command = ("node", "--no-browser", "--port", "0", "--data", str(folder))
            process = await self._run(*command, "--agent", str(agent), "--root", str(project))
            self._nodes.append(process)
            await link_of(process)
        async with asyncio.timeout(START_S):
            while len(self.nodes) < nodes:
                await asyncio.sleep(0.2)
                self.nodes = await asyncio.to_thread(self._machines)

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of the gateway."""
        return (self.port,)

    @property
    def _data(self) -> Path:
        return self._folder / "gateway"

    async def _run(self, *words: str) -> Process:
        command = (sys.executable, "-m", "fairlead.commands.main", *words)
        env = {**environment(self._folder), "PYTHONUNBUFFERED": "1"}
        return await asyncio.create_subprocess_exec(
            *command, cwd=self._folder, stdin=PIPE, stdout=PIPE, env=env
        )

    async def _join(self, folder: Path) -> None:
        """Join as a user does: a link, and a number that is confirmed."""
        inviting = await self._run("fleet", "--data", str(self._data), "invite")
        link = await _printed(inviting, _JOIN)
        joining = await self._run("node", "join", link[1], "--data", str(folder))
        await _printed(inviting, _NUMBER)
        assert inviting.stdin is not None
        inviting.stdin.write(b"y\n")
        for process in (inviting, joining):
            await ended(process)
            if process.returncode != 0:
                raise RuntimeError("a machine could not join the fleet")

    def _machines(self) -> tuple[str, ...]:
        url = f"http://127.0.0.1:{self.port}/api/health"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=START_S) as answer:
            return tuple(json.load(answer)["nodes"])

    async def pair(self, count: int) -> list[str]:
        """The tokens of so many further devices."""
        return await pair_more(self._data, environment(self._folder), count)

    def pids(self) -> list[int]:
        """All processes."""
        return [pid for pids in self._parts().values() for pid in pids]

    def usage(self) -> Usage:
        """What all processes take together."""
        used = [usage_of(pid) for pid in self.pids()]
        return Usage(rss=sum(each.rss for each in used), cpu_s=sum(each.cpu_s for each in used))

    def cpu_parts(self) -> dict[str, float]:
        """CPU time so far of the nodes, the gateway and the nats-server."""
        return {name: sum(map(cpu_of, pids)) for name, pids in self._parts().items()}

    def _parts(self) -> dict[str, list[int]]:
        gateway = self._gateway.pid
        children = Path(f"/proc/{gateway}/task/{gateway}/children").read_text().split()
        return {
            "node": [process.pid for process in self._nodes],
            "gateway": [gateway],
            "nats-server": [int(pid) for pid in children],
        }

    async def metric(self, name: str) -> float:
        """A gateway does not know the figures of the nodes' stores."""
        return 0.0

    async def end(self) -> None:
        """End all processes as Ctrl-C does."""
        for process in (*self._nodes, self._gateway):
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                await ended(process)


async def _printed(process: Process, pattern: re.Pattern[str]) -> re.Match[str]:
    """Wait until a process prints this; a prompt does not end with a line break."""
    assert process.stdout is not None
    text = ""
    async with asyncio.timeout(START_S):
        while (found := pattern.search(text)) is None:
            piece = await process.stdout.read(4096)
            if not piece:
                raise RuntimeError(f"a command ended: {text}")
            text += piece.decode()
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
