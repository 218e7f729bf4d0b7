"""A server in its own process, so that its memory can be measured.

    python -m tests.faults.server_process FOLDER      prints its port and tokens, serves until EOF

`ServerProcess` is the test's side.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, Self

from fairlead.server.limits import Limits
from tests.server.conftest import Client, serving

__all__ = ["ServerProcess"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30.0


class ServerProcess:
    """A server in another process. Use it as an async context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.port = 0
        self.tokens: dict[str, str] = {}
        self._process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.server_process", str(self.folder),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=env,
        )  # fmt: skip
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            started = json.loads(await self._process.stdout.readline())
        self.port, self.tokens = started["port"], started["tokens"]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), PATIENCE_S)

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def resident(self) -> int:
        """Bytes of memory that it has now."""
        words = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")

    async def client(self, role: str = "owner") -> Client:
        """A client that has said hello."""
        served: Any = self  # A client needs no more of it than `base` and `project`.
        return await Client(served, self.tokens[role]).connect()


async def run(folder: Path) -> None:
    async with serving(folder, Limits()) as served:
        tokens = {role: await served.token(role) for role in ("viewer", "operator", "owner")}
        sys.stdout.write(json.dumps({"port": served.service.port, "tokens": tokens}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
