"""The test's side of `killable_host`: start it, wait until a command of its CLI runs, end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.host.children import alive
from tests.waiting import until

__all__ = ["HostAtWork", "gone", "host_at_work", "long_command"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
"""An old CLI on two busy cores took 11 s to its first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAtWork:
    """A host process whose CLI runs a command."""

    host: asyncio.subprocess.Process
    cli: int
    command: int
    child: int | None = None


def long_command(pid_file: Path) -> str:
    """A command for the Bash tool that writes its process id and then runs for long."""
    return f"echo $$ > {pid_file} && sleep 77"


async def gone(*pids: int) -> None:
    """Wait until none of these processes is left."""
    await until(lambda: not any(alive(pid) for pid in pids), PATIENCE_S)


@asynccontextmanager
async def host_at_work(
    options: dict[str, Any], pid_file: Path, how: str = ""
) -> AsyncIterator[HostAtWork]:
    """A host whose CLI runs `long_command(pid_file)`; all of it is gone afterwards."""
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.host.killable_host", json.dumps(options), how,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert host.stdout is not None
    pids: list[int] = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            child = int(await host.stdout.readline()) if how == "fork" else None
            pids += [child] if child else []
            cli = int(await host.stdout.readline())
        pids.append(cli)
        text = await until(lambda: pid_file.exists() and pid_file.read_text().strip(), PATIENCE_S)
        command = int(str(text))
        pids.append(command)
        assert all(alive(pid) for pid in pids)
        yield HostAtWork(host=host, cli=cli, command=command, child=child)
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        if host.returncode is None:
            host.kill()
        await host.communicate()
