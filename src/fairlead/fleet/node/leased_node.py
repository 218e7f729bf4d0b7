"""Speaks for a server on the bus while it holds the node's lease, and only then."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from fairlead.fleet.node.lease import NodeLease

__all__ = ["speaking_while_leased"]

log = logging.getLogger("fairlead")

AGAIN_S = 1.0


@contextlib.asynccontextmanager
async def speaking_while_leased(
    lease: NodeLease, speak: Callable[[], AbstractAsyncContextManager[object]]
) -> AsyncIterator[None]:
    """Enter `speak()` whenever the lease is taken, and leave it when the lease is lost."""
    changed = asyncio.Event()
    held = False

    def note(now: bool) -> None:
        nonlocal held
        held = now
        changed.set()

    async def run() -> None:
        while True:
            changed.clear()
            if not held:
                await changed.wait()
                continue
            try:
                async with speak():
                    while held:
                        changed.clear()
                        await changed.wait()
            except Exception:
                # The server keeps working, so nothing else would show that its node is silent.
                log.exception("this machine cannot speak to its fleet; it tries again")
                await asyncio.sleep(AGAIN_S)

    keeping = asyncio.create_task(lease.keep(note))
    running = asyncio.create_task(run())
    try:
        yield
    finally:
        for task in (running, keeping):
            task.cancel()
        await asyncio.wait([running, keeping])
        await lease.release()
