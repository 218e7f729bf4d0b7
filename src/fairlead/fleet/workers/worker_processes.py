"""The processes of the workers: started by the front, started again when they end, ended with it.

A worker connects to the front over a Unix socket, and ends when that connection is lost. So no
worker outlives the front, whatever ended it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fairlead.fleet.workers.front import worker_id

__all__ = ["WorkerProcesses"]

log = logging.getLogger("fairlead.fleet")

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
"""The pause before a worker is started again; doubled while it ends soon after its start."""

STEADY_S = 30.0
"""A worker that ran for this long is started again after the first pause."""

END_S = 15.0
"""How long a worker may take to end its sessions before it is killed."""


class WorkerProcesses:
    """Runs the workers of one server."""

    def __init__(
        self, command: Callable[[int], Sequence[str]], count: int, lost: Callable[[str], None]
    ) -> None:
        """`command` starts a worker by its number; `lost` is called with the id of one that ended."""
        self._command = command
        self._count = count
        self._lost = lost
        self.pids: dict[int, int] = {}
        """Number of a worker -> its process."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep all workers running."""
        tasks = [asyncio.create_task(self._keep(number + 1)) for number in range(self._count)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _keep(self, number: int) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            started = time.monotonic()
            try:
                code = await self._run(number)
                log.warning("worker %d ended with code %s and is started again", number, code)
            except OSError as problem:
                log.error("worker %d cannot be started: %s", number, problem)
            self._lost(worker_id(number))
            if time.monotonic() - started > STEADY_S:
                pause_s = FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _run(self, number: int) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command(number), stdin=asyncio.subprocess.DEVNULL
        )
        self.pids[number] = process.pid
        try:
            return await process.wait()
        finally:
            self.pids.pop(number, None)
            if process.returncode is None:
                await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a worker: it ends its sessions first, as the front does."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
