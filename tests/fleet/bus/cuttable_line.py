"""A line between a machine and a nats-server that a test can cut or hang."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["CuttableLine", "cuttable_line"]


CLOSE_S = 30.0


class CuttableLine:
    """Passes bytes on in both directions until it is cut or hung."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener: asyncio.Server | None = None
        self._refuses = False
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """The address of the bus at the machine's end of the line."""
        assert self._listener is not None
        return f"tls://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection and refuse new ones."""
        self._refuses = True
        for writer in self._writers:
            writer.transport.abort()

    def hang(self) -> None:
        """Pass nothing on, so that neither side learns of it, as if packets were dropped."""
        self._flowing.clear()

    def restore(self) -> None:
        """Pass on everything, also what was held back."""
        self._refuses = False
        self._flowing.set()

    def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        if self._refuses:
            back.transport.abort()
            return
        self._writers.add(back)
        task = asyncio.create_task(self._carry(near, back))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            far, onward = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            back.transport.abort()  # The server is gone.
            return
        self._writers.add(onward)
        if self._refuses:  # It was cut meanwhile.
            onward.transport.abort()
        await asyncio.gather(self._pump(near, onward), self._pump(far, back))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.close()

    async def open(self) -> None:
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def close(self) -> None:
        assert self._listener is not None
        self._listener.close()
        self._flowing.set()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
        for writer in self._writers:
            with contextlib.suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def cuttable_line(port: int) -> AsyncIterator[CuttableLine]:
    """A line to a server on this machine."""
    line = CuttableLine(port)
    await line.open()
    try:
        yield line
    finally:
        await line.close()
