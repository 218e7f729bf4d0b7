"""One worker: a server without clients of its own, whose sessions the front serves.

It has a database of its own below the data folder of the front, and uses the front's settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.node.node import open_node
from fairlead.fleet.protocol.envelopes import Answer, encode
from fairlead.fleet.workers.folders import worker_folder
from fairlead.fleet.workers.front import worker_id
from fairlead.fleet.workers.shared_budgets import WorkerBudgets
from fairlead.server.limits import Limits
from fairlead.server.service import Service, open_service

__all__ = ["limits_of_worker", "open_worker"]


def limits_of_worker(count: int) -> Limits:
    """The limits of one of `count` workers: their sessions share the appends of one server (B136).

    Each append is a frame that the front has to read, mirror and send. With the appends of a whole
    server for each worker, the front would have more of them the more workers there are.
    """
    limits = Limits()
    return replace(limits, appends_per_s=limits.appends_per_s / count)


@asynccontextmanager
async def open_worker(bus: Bus, data: Path, number: int, **options: Any) -> AsyncIterator[Service]:
    """Start a worker; `data` is the front's folder, `options` are those of `open_service`."""
    async with (
        open_service(
            data=worker_folder(data, number), shared=data, listening=False, **options
        ) as service,
        open_node(service, bus, node_id=worker_id(number), name=worker_id(number)) as node,
    ):

        async def read_settings(payload: bytes) -> bytes:
            await asyncio.to_thread(service.registry.sessions.profiles.read_again)
            service.registry.sessions.profiles.changed()
            await asyncio.to_thread(service.registry.policy.trust.read_again)
            await asyncio.to_thread(service.registry.policy.worktrees.read_again)
            return encode(Answer())

        node.requests.add("settings", read_settings)
        budgets = WorkerBudgets(bus, worker_id(number), service.budgets, node.requests)
        sharing = asyncio.create_task(budgets.run())
        try:
            yield service
        finally:
            sharing.cancel()
            await asyncio.wait([sharing])
