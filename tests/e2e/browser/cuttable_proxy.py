"""A proxy between a browser and a server that a test can cut, restore, and make one-way.

    async with open_cuttable_proxy(server) as proxy:
        app = await visit(proxy.server)
        proxy.cut()      # every connection breaks, and new ones are refused
        proxy.restore()

It has its own address on the server's port, so the server must accept that name as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.e2e.browser.app_server import AppServer

__all__ = ["NAME", "CuttableProxy", "open_cuttable_proxy"]

NAME = "127.0.0.2"
"""All of 127.0.0.0/8 is this machine, and a secure place for a browser."""


@dataclass(frozen=True, slots=True)
class ProxiedAppServer(AppServer):
    """The same server, as it is reached through the proxy."""

    @property
    def base(self) -> str:
        return f"http://{NAME}:{self.service.port}"

    def link(self, role: str = "owner") -> str:
        return f"{self.base}/#code={self.service.devices.issue_code(role)}"


@dataclass(slots=True)
class CuttableProxy:
    """The proxy."""

    server: ProxiedAppServer
    connections: int = 0
    """The number of connections so far."""
    _whole: bool = True
    _deaf: bool = False
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def cut(self) -> None:
        """Break every connection and let no new one through."""
        self._whole = False
        self.drop()

    def restore(self) -> None:
        """Let connections through again."""
        self._whole, self._deaf = True, False

    def drop(self) -> None:
        """Break every connection there is; new ones are let through."""
        for writer in self._writers:
            writer.transport.abort()

    def deafen(self) -> None:
        """From now on nothing from the server arrives, while everything sent to it does."""
        self._deaf = True

    def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self.cut()
        await asyncio.wait_for(asyncio.gather(*self._tasks), 10)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.transport.abort()
            return
        self.connections += 1
        port = self.server.service.port
        try:
            theirs, mine = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()  # The server is gone.
            return
        self._writers |= {writer, mine}
        up, down = self._pump(reader, mine), self._pump(theirs, writer, to_browser=True)
        await asyncio.gather(up, down)
        self._writers -= {writer, mine}

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        to_browser: bool = False,
    ) -> None:
        try:
            while data := await reader.read(65536):
                if not (to_browser and self._deaf):
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass  # Cut.
        finally:
            writer.close()


@asynccontextmanager
async def open_cuttable_proxy(server: AppServer) -> AsyncIterator[CuttableProxy]:
    """A proxy to a server that also accepts `NAME`."""
    proxy = CuttableProxy(ProxiedAppServer(server.service, server.project))
    listener = await asyncio.start_server(proxy.connect, NAME, server.service.port)
    async with listener:
        yield proxy
        await proxy.close()
