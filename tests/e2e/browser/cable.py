"""A cable between a browser and a server, which a test can cut, mend, and make deaf.

    async with open_cable(house) as cable:
        desk = await visit(cable.house)
        cable.cut()      # every connection breaks, and no new one is let through
        cable.mend()

It has an address of its own on the server's port, so the server must go by that name as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.e2e.browser.house import House

__all__ = ["NAME", "Cable", "open_cable"]

NAME = "127.0.0.2"
"""All of 127.0.0.0/8 is this machine, and a secure place for a browser."""


@dataclass(frozen=True, slots=True)
class AtTheCable(House):
    """The same server, as it is reached through the cable."""

    @property
    def base(self) -> str:
        return f"http://{NAME}:{self.service.port}"

    def link(self, role: str = "owner") -> str:
        return f"{self.base}/#code={self.service.devices.issue_code(role)}"


@dataclass(slots=True)
class Cable:
    """What lies between."""

    house: AtTheCable
    connections: int = 0
    """How often somebody came through."""
    _whole: bool = True
    _deaf: bool = False
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def cut(self) -> None:
        """Break every connection and let no new one through."""
        self._whole = False
        self.drop()

    def mend(self) -> None:
        """Let connections through again."""
        self._whole, self._deaf = True, False

    def drop(self) -> None:
        """Break every connection there is; new ones are let through."""
        for writer in self._writers:
            writer.transport.abort()

    def deafen(self) -> None:
        """From now on nothing that the server says arrives, while all that is sent to it does."""
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
        port = self.house.service.port
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
async def open_cable(house: House) -> AsyncIterator[Cable]:
    """A cable to a server that also goes by `NAME`."""
    cable = Cable(AtTheCable(house.service, house.project))
    server = await asyncio.start_server(cable.connect, NAME, house.service.port)
    async with server:
        yield cable
        await cable.close()
