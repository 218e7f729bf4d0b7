"""`fairlead serve` in a process that can be killed with -9 and started again within milliseconds.

    python -m tests.faults.server_forker         reads a line of JSON arguments, forks, runs `serve`

The process has imported everything and forks one server for each line it reads; so fifty starts do
not take fifty times the imports. What runs is the real command. `ServerForker` is the test's side.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Self

from tests.waiting import until

__all__ = ["Server", "ServerForker"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0


class Server:
    """One server process."""

    def __init__(self, pid: int, said: Path) -> None:
        self.pid = pid
        self.said = said
        self._began = _start_of(pid)
        self.link = ""

    async def ready(self) -> Self:
        """Wait until it says how to get in."""
        self.link = await until(self._told_link, PATIENCE_S)
        return self

    def _told_link(self) -> str:
        words = self.said.read_text().split() if self.said.exists() else []
        return next((word for word in words if "/#code=" in word), "")

    @property
    def base(self) -> str:
        """Its address."""
        return self.link.partition("/#")[0]

    @property
    def code(self) -> str:
        """Its one-time code."""
        return self.link.partition("#code=")[2]

    @property
    def port(self) -> int:
        """Its port."""
        return int(self.base.rpartition(":")[2])

    @property
    def alive(self) -> bool:
        """Whether the process is there, and still the one that was started.

        A killed process first loses its memory, its command line among it, and then its files: until it
        is gone, its data folder is locked.
        """
        return self._began != "" and _start_of(self.pid) == self._began

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End it as the system would."""
        os.kill(self.pid, number)


def _start_of(pid: int) -> str:
    """When a process was started, in ticks; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


class ServerForker:
    """Starts servers. Use it as an async context manager."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self._count = 0
        self._turn = asyncio.Lock()
        self._started: list[Server] = []
        self._process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        env["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.server_forker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=env,
        )  # fmt: skip
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for server in self._started:
            if server.alive:
                server.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), PATIENCE_S)

    async def serve(self, *arguments: str) -> Server:
        """Start `fairlead serve` with these arguments."""
        return await self.start("serve", "--no-browser", *arguments)

    async def start(self, *arguments: str) -> Server:
        """Start a command that prints a link."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        said = self.home / f"said-{self._count}.txt"
        order = {"arguments": arguments, "said": str(said)}
        async with self._turn, asyncio.timeout(PATIENCE_S):
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            pid = int(await self._process.stdout.readline())
        server = Server(pid, said)
        self._started.append(server)
        return await server.ready()

    async def ended(self, server: Server) -> None:
        """Wait until a server is gone; the forking process reaps it."""
        await until(lambda: not server.alive, PATIENCE_S)


def main() -> None:
    from fairlead.commands.main import main as fairlead
    from fairlead.commands.serve import run  # noqa: F401 - imported once, for all

    for module in ("commands.fleet.given_bus", "fleet.gateway.gateway", "fleet.node.node"):
        with contextlib.suppress(ImportError):  # If the packages of a fleet are not installed.
            importlib.import_module(f"fairlead.{module}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid:
            sys.stdout.write(f"{pid}\n")
            sys.stdout.flush()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        said = os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((nothing, 0), (said, 1), (said, 2)):
            os.dup2(old, new)
        os._exit(fairlead(order["arguments"]))


if __name__ == "__main__":
    main()
