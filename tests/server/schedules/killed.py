"""A server with one schedule that is due, which kills itself at a given moment.

    killed.py FOLDER MOMENT

A moment is the name of a step and `before` or `after`: `apply` is a write of the schedules to the
store, `act` is the intent that sends the prompt. Started again, it goes on from what is stored, and
ends when the run has ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from fairlead.server.schedules.rules.schedule import Schedule
from fairlead.server.schedules.schedules import Schedules
from fairlead.store.tables import schedules as table
from tests.server.server_harness import ServerHarness
from tests.waiting import until

DUE = 1_800_000_000.0
NAME = "Nightly"
PATIENCE_S = 60.0


class Killing:
    """Passes calls on, and kills this process before or after one of them."""

    def __init__(self, inner: Any, fatal: str) -> None:
        self._inner = inner
        self._fatal = fatal
        self._counts: Counter[str] = Counter()
        self.query = getattr(inner, "query", None)

    async def apply(self, write: Any) -> Any:
        return await self._step("apply", self._inner.apply(write))

    async def act(self, *arguments: Any) -> Any:
        return await self._step("act", self._inner.act(*arguments))

    async def _step(self, name: str, work: Any) -> Any:
        self._counts[name] += 1
        self._pass(f"{name} {self._counts[name]} before")
        result = await work
        self._pass(f"{name} {self._counts[name]} after")
        return result

    def _pass(self, moment: str) -> None:
        sys.stdout.write(f"{moment}\n")
        sys.stdout.flush()
        if moment == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(folder: str, fatal: str) -> None:
    now = DUE - 60.0
    async with ServerHarness(Path(folder), clock=lambda: now) as harness:
        store: Any = Killing(harness.store, fatal)
        acting: Any = Killing(harness.registry, fatal)
        schedules = Schedules(store, harness.registry.sessions, acting, clock=lambda: now)
        await schedules.start()
        if not await harness.store.query(table.rows):
            plain = Schedules(
                harness.store, harness.registry.sessions, harness.registry, clock=lambda: now
            )
            await plain.put(
                Schedule(name=NAME, prompt="do it", at=DUE, cwd=str(harness.project), missed="run")
            )
            await schedules.start()
        now = DUE + 1.0
        await schedules.step(now)

        def has_ended() -> bool:
            return not schedules._open and not schedules._ending

        await until(has_ended, PATIENCE_S)
        (last,) = (await harness.store.query(table.last_runs)).values()
        sys.stdout.write(f"{last.state} {last.outcome}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
