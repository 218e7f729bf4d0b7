"""The server and the helper programs as processes: started, queried, measured, ended.

`Helper` is a program of this benchmark that answers each line on its stdin with a line of JSON. `Server` is a real
`fairlead serve` with a folder and a home of its own. What a process takes is read from `ps`-like
facts of the system (Linux).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import sys
import urllib.request
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bench.server_load import pipe_handover

__all__ = [
    "SOURCE",
    "Helper",
    "LoadedServer",
    "Server",
    "Usage",
    "cpu_of",
    "ended",
    "environment",
    "link_of",
    "make_launcher",
    "pair",
    "pair_more",
    "usage_of",
]

START_S = 60.0
END_S = 60.0
LINE_BYTES = 64 * 1024 * 1024
"""A helper's report is one line, with the positions of all sockets."""

_LINK = re.compile(r"(http://[^/\s]+)/#code=(\S+)")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src"


class Usage(NamedTuple):
    """What a process takes at one moment."""

    rss: int
    """Bytes of memory."""
    cpu_s: float
    """Processor time so far, of all its threads."""


class Helper:
    """A program of this folder that runs next to the server."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, name: str, *arguments: str, env: dict[str, str]) -> Helper:
        """Start one; it is not ready yet."""
        command = (sys.executable, "-m", f"bench.server_load.{name}", *arguments)
        return cls(
            await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, env=env, limit=LINE_BYTES
            )
        )

    async def ready(self) -> None:
        """Wait until it is ready."""
        await self._answer()

    def say(self, line: str) -> None:
        """Write a line to its stdin."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")

    async def counts(self) -> dict[str, Any]:
        """Its counts so far."""
        self.say("report")
        return await self._answer()

    async def end(self) -> None:
        """End it by closing its stdin."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await ended(self._process)

    def usage(self) -> Usage:
        """What it takes."""
        return usage_of(self._process.pid)

    async def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S):
            line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a helper ended with {await self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


class LoadedServer(Protocol):
    """The interface of a server under load."""

    port: int
    token: str

    @property
    def ports(self) -> tuple[int, ...]:
        """Where clients connect, if there are several gateways."""

    nodes: tuple[str, ...]
    """The machines that new sessions are divided among; empty if it is not a fleet."""

    async def pair(self, count: int) -> list[str]:
        """The tokens of so many further devices."""

    def usage(self) -> Usage:
        """What all of its processes take."""

    def pids(self) -> list[int]:
        """All of its processes."""

    def cpu_parts(self) -> dict[str, float]:
        """The CPU time so far of each kind of its processes."""

    async def metric(self, name: str) -> float:
        """One of the figures that the server keeps itself; 0 if it has none."""

    async def end(self) -> None:
        """End it as Ctrl-C does."""


class Server:
    """A `fairlead serve`, and the token of its owner."""

    def __init__(self, process: Process, port: int, token: str, folder: Path, source: Path) -> None:
        self._process = process
        self.port = port
        self.token = token
        self.nodes: tuple[str, ...] = ()
        self._folder = folder
        self._source = source

    @classmethod
    async def start(
        cls,
        folder: Path,
        agent: Path,
        project: Path,
        *,
        source: Path = SOURCE,
        port: int = 0,
        options: tuple[str, ...] = (),
    ) -> Server:
        """Start the code of `source` and pair with it; a port of 0 is any that is free.

        `options` are further ones of `fairlead serve`.
        """
        command = (
            *(
                sys.executable,
                "-m",
                "fairlead.commands.main",
                "serve",
                "--no-browser",
                "--port",
                str(port),
            ),
            *("--agent", str(agent), "--data", str(folder / "data"), "--root", str(project)),
            *options,
        )
        process = await asyncio.create_subprocess_exec(
            *command, cwd=project, stdout=PIPE, env=environment(folder, source)
        )
        try:
            base, code = await link_of(process)
            token = await asyncio.to_thread(pair, base, code)
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        return cls(process, int(base.rpartition(":")[2]), token, folder, source)

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of its clients."""
        return (self.port,)

    async def pair(self, count: int) -> list[str]:
        """The tokens of so many further devices; one device may have few sockets."""
        env = environment(self._folder, self._source)
        return await pair_more(self._folder / "data", env, count)

    def pids(self) -> list[int]:
        """Its process and those of its workers."""
        return [self._process.pid, *self.workers()]

    def usage(self) -> Usage:
        """What it takes, with its workers."""
        used = [usage_of(pid) for pid in self.pids()]
        return Usage(rss=sum(each.rss for each in used), cpu_s=sum(each.cpu_s for each in used))

    def workers(self) -> list[int]:
        """The processes of its workers."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        pids = [int(each) for each in children.read_text().split()]
        return [pid for pid in pids if b"\0--worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def cpu_s(self) -> float:
        """Its CPU time so far, all threads, exact to the nanosecond."""
        return cpu_of(self._process.pid)

    def cpu_parts(self) -> dict[str, float]:
        """CPU time so far of the process that clients connect to, and of its workers."""
        own = {"server": cpu_of(self._process.pid)}
        workers = self.workers()
        return {**own, "workers": sum(map(cpu_of, workers))} if workers else own

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def metric(self, name: str) -> float:
        """One of the figures that the server keeps itself."""
        text = await asyncio.to_thread(
            _get, f"http://127.0.0.1:{self.port}/api/metrics", self.token
        )
        matches = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        if matches is None:
            raise RuntimeError(f"the server has no {name}")
        return float(matches[1])

    async def end(self) -> None:
        """End it as Ctrl-C does; raises `RuntimeError` if it crashed."""
        with contextlib.suppress(ProcessLookupError):  # It has ended already.
            self._process.send_signal(signal.SIGINT)
        await ended(self._process)
        code = self._process.returncode
        if code not in (0, 128 + signal.SIGINT, -signal.SIGINT):
            raise RuntimeError(f"the server ended with exit code {code}")


def environment(folder: Path, source: Path = SOURCE) -> dict[str, str]:
    """The environment of everything that is started here: nothing of the user's."""
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join((str(source), str(ROOT))),
        "TMPDIR": str(folder),
    }


def make_launcher(folder: Path, agents: Path) -> Path:
    """The executable that the server takes for a CLI."""
    launcher = folder / "claude"
    command = shlex.join([sys.executable, "-ISE", str(Path(pipe_handover.__file__)), str(agents)])
    launcher.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    launcher.chmod(0o755)
    return launcher


def usage_of(pid: int) -> Usage:
    """What a process takes now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Usage(rss=pages * _PAGE, cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS)


def cpu_of(pid: int) -> float:
    """CPU time of the running threads of a process, in seconds; `usage_of` counts in ticks of 10 ms."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def link_of(process: Process) -> tuple[str, str]:
    """The address that a server prints, and the code for its first device."""
    assert process.stdout is not None
    output = ""
    async with asyncio.timeout(START_S):
        while line := (await process.stdout.readline()).decode():
            output += line
            matches = _LINK.search(line)
            if matches is not None:
                return matches[1], matches[2]
    raise RuntimeError(f"the server did not start: {output}")


async def pair_more(data: Path, env: dict[str, str], count: int) -> list[str]:
    """The tokens of so many further devices of the server with this data folder."""
    tokens = []
    for _ in range(count):
        command = (sys.executable, "-m", "fairlead.commands.main", "link", "--data", str(data))
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=env)
        base, code = await link_of(process)
        await ended(process)
        tokens.append(await asyncio.to_thread(pair, base, code))
    return tokens


def pair(base: str, code: str) -> str:
    """The token of a device that is paired with a code."""
    body = json.dumps({"code": code, "name": "benchmark"}).encode()
    request = urllib.request.Request(f"{base}/api/pair", body, {"Origin": base})
    with urllib.request.urlopen(request, timeout=START_S) as answer:
        token: str = json.load(answer)["token"]
        return token


def _get(url: str, token: str) -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=START_S) as answer:
        text: str = answer.read().decode()
        return text


async def ended(process: Process) -> None:
    """Wait until a process has ended; one that takes too long is killed."""
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
