"""A server with workers in one process: real services on a bus in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.workers.front import Front
from fairlead.fleet.workers.worker import open_worker
from fairlead.host.options.options import Options
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.service import Service, open_service
from tests.launching import python_launcher
from tests.server.conftest import AGENT, PATIENT, QUICK, Served

__all__ = ["ServedByWorkers", "with_workers"]


class ServedByWorkers(Served):
    """A server whose sessions are run by workers."""

    def __init__(
        self, service: Service, project: Path, workers: list[Service], front: Front
    ) -> None:
        super().__init__(service, project)
        self.workers = workers
        self.front = front

    def worker_of(self, session: str) -> Service:
        """The worker that has a session."""
        return next(each for each in self.workers if session in each.registry.sessions.rows)


@asynccontextmanager
async def with_workers(
    folder: Path, workers: int = 2, limits: Limits = PATIENT, more: int = 0, **options: Any
) -> AsyncIterator[ServedByWorkers]:
    """A server with workers; `more` of them have only what an earlier server left there."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    launcher = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")

    def common() -> dict[str, Any]:
        return {
            "options": Options(agent=launcher, graces=QUICK),
            "agent": "scripted",
            "limits": limits,
            "policy": Policy(roots=(folder,)),
            **options,
        }

    broker = MemoryBroker()
    front = Front(broker, workers, more)
    data = folder / "data"
    async with (
        open_service(data=data, extend=front.extend, **common()) as service,
        front.running(service),
        AsyncExitStack() as stack,
    ):
        started = [
            await stack.enter_async_context(
                open_worker(broker.connect(), data, number + 1, **common())
            )
            for number in range(workers + more)
        ]
        await front.all_here()
        running = asyncio.create_task(service.run())
        served = ServedByWorkers(service, project, started, front)
        yield served
        service.stop()
        await asyncio.wait_for(running, 30)
        await served.close_sockets()
