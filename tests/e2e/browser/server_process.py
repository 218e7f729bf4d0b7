"""`fairlead serve` in its own process, which a test can kill and restart.

    server_process = ServerProcess(tmp_path, agent=fake_cli.agent, project=project)
    await server_process.start()
    await page.goto(server_process.link())
    await server_process.kill()
    await server_process.start()

Its port, its data and its home stay the same at every start.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import fairlead

__all__ = ["ServerProcess"]

PATIENCE_S = 60.0


class ServerProcess:
    """A server in its own process."""

    def __init__(
        self, folder: Path, *, agent: Path, project: Path, options: tuple[str, ...] = ()
    ) -> None:
        """`options` are further ones of `fairlead serve`."""
        self._options = options
        self._folder = folder
        self._agent = agent
        self.project = project
        self.home = folder / "home"
        self.port = _free_port()
        self._process: asyncio.subprocess.Process | None = None
        self._link = ""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def link(self, role: str = "owner") -> str:
        """The link that it printed when it started."""
        return self._link

    async def start(self) -> None:
        """Start it, and wait until it has printed its link."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "fairlead.commands.main", "serve", "--no-browser",
            "--agent", str(self._agent), "--port", str(self.port),
            "--data", str(self._folder / "data"), "--root", str(self.project),
            *self._options,
            cwd=self.project,
            env={
                "HOME": str(self.home),
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": str(Path(str(fairlead.__file__)).parent.parent),
            },
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := (await self._process.stdout.readline()).decode():
                if "#code=" in line:
                    self._link = line.split()[-1]
                    return
        raise AssertionError("the server ended before it said how to get in")

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        """No goodbye."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """A clean end."""
        await self._end(signal.SIGTERM)

    async def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        async with asyncio.timeout(PATIENCE_S):
            assert process.stdout is not None
            await process.stdout.read()
            await process.wait()
        # A crash of a library while the server ends would go unnoticed otherwise.
        assert process.returncode in (0, 128 + number, -number)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
