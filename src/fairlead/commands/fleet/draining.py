"""Ends a node gracefully at SIGTERM: it accepts no new sessions, and running turns may end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager

from fairlead.fleet.node.node import Node
from fairlead.server.service import Service

__all__ = ["DrainedNode"]

log = logging.getLogger("fairlead")

CHECK_S = 0.1


class DrainedNode:
    """The node that speaks now, and how it ends."""

    def __init__(self, service: Service, patience_s: float) -> None:
        self._service = service
        self._patience_s = patience_s
        self._node: Node | None = None
        self._draining: asyncio.Task[None] | None = None
        self.ready = asyncio.Event()
        """Set once SIGTERM drains the node."""

    @contextlib.asynccontextmanager
    async def speaking(
        self, open_node: Callable[[], AbstractAsyncContextManager[Node]]
    ) -> AsyncIterator[None]:
        """Speak for the node."""
        async with open_node() as node:
            self._node = node
            try:
                if self._draining is not None:
                    await node.drain()
                yield
            finally:
                self._node = None

    @contextlib.contextmanager
    def at_sigterm(self) -> Iterator[None]:
        """Drain at the first SIGTERM, and end at once at the second."""
        installing = asyncio.get_running_loop().create_task(self._install())
        try:
            yield
        finally:
            # `serve` removes the handler.
            for task in (installing, self._draining):
                if task is not None:
                    task.cancel()

    async def _install(self) -> None:
        """Take the signal over from uvicorn, which handles it from its own start on."""
        while not self._service.started:  # noqa: ASYNC110 - uvicorn has no event for it.
            await asyncio.sleep(CHECK_S)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._on_sigterm)
        self.ready.set()

    def _on_sigterm(self) -> None:
        if self._draining is not None:
            self._service.stop()
            return
        self._draining = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        try:
            if self._node is not None:
                await self._node.drain()
            until = time.monotonic() + self._patience_s
            while self._is_busy() and time.monotonic() < until:  # noqa: ASYNC110
                await asyncio.sleep(CHECK_S)
            if self._is_busy():
                log.warning("turns still run after %g s; they end with the node", self._patience_s)
        finally:
            self._service.stop()

    def _is_busy(self) -> bool:
        return self._service.registry.sessions.working
