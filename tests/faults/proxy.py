"""A TCP proxy that treats connections as bad networks do, from a seed.

Each connection gets its own faults, chosen by the seed and its number: delays, a low rate, small
slices, and an end after n bytes (a reset, a clean close, silence, or a close in one direction
only). It does not know the content of connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakSet

__all__ = ["CALM", "ConnectionFaults", "FaultProxy", "stormy"]

READ = 16_384
SLICES = 40
"""Slices of one read at most, so that a large frame does not take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFaults:
    """What happens to one connection."""

    delay_s: float = 0.0
    """Before each piece, in both directions."""
    bytes_per_s: float = 0.0
    """0 is as fast as can be."""
    slice_bytes: int = 0
    """Pieces are cut into this size; 0 leaves them whole."""
    end_after: int | None = None
    """Bytes toward the client, after which the end comes."""
    end: str = "reset"
    """reset, close, blackhole, or half_close."""
    silence_s: float = 1.5
    """How long a blackhole or a half-open connection stays."""


CALM = ConnectionFaults()


def stormy(rng: random.Random) -> ConnectionFaults:
    """Some weather in which a connection mostly does not live long."""
    end = rng.choice(("reset", "reset", "close", "blackhole", "half_close"))
    return ConnectionFaults(
        delay_s=rng.choice((0.0, 0.0, 0.0, rng.uniform(0.0, 0.02))),
        bytes_per_s=rng.choice((0.0, 0.0, 0.0, rng.uniform(50_000, 500_000))),
        slice_bytes=rng.choice((0, 0, 0, rng.randint(1, 400))),
        end_after=int(rng.expovariate(1 / 15_000)) + rng.randint(0, 2_000),
        end=end,
        silence_s=rng.uniform(0.2, 1.5),
    )


class FaultProxy:
    """Passes connections on to one port of this machine. Use it as an async context manager."""

    def __init__(
        self,
        port: int,
        *,
        seed: int = 0,
        faults: Callable[[random.Random], ConnectionFaults] = stormy,
    ) -> None:
        self.target = port
        self.port = 0
        self.faults = faults
        self.ends: Counter[str] = Counter()
        """How connections were ended here."""
        self.connections = 0
        self._seed = seed
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepted_writers: WeakSet[asyncio.StreamWriter] = WeakSet()
        self._closed = False

    async def __aenter__(self) -> FaultProxy:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._server is not None
        self._closed = True
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._accepted_writers:
            writer.close()  # Also of those whose task was cancelled before it had begun.
        await self._server.wait_closed()

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            writer.close()  # It was at the door when that was shut.
            return
        self.connections += 1
        self._accepted_writers.add(writer)
        faults = self.faults(random.Random(f"{self._seed}:{self.connections}"))
        task = asyncio.get_running_loop().create_task(self._serve(faults, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: writer.close())

    async def _serve(
        self, faults: ConnectionFaults, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await self._carry(faults, reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # Either end may go at any time; that is what this is for.
        finally:
            await _let_go(writer)

    async def _carry(
        self, faults: ConnectionFaults, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        behind, ahead = await self._reach()
        upwards = asyncio.create_task(_relay(reader, ahead, faults, None))
        downwards = asyncio.create_task(_relay(behind, writer, faults, faults.end_after))
        try:
            done, _ = await asyncio.wait({upwards, downwards}, return_when=asyncio.FIRST_COMPLETED)
            if downwards in done and downwards.exception() is None and downwards.result():
                self.ends[faults.end] += 1
                await self._end(faults, writer, ahead, upwards)
        finally:
            ahead.transport.abort()  # Before any wait, in which the end of the proxy may come.
            upwards.cancel()
            downwards.cancel()
            await asyncio.gather(upwards, downwards, return_exceptions=True)
            await _let_go(ahead)

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the server; one that comes after its client has gone is closed."""
        reaching = asyncio.ensure_future(asyncio.open_connection("127.0.0.1", self.target))
        try:
            return await asyncio.shield(reaching)
        except asyncio.CancelledError:
            (await reaching)[1].close()
            raise

    async def _end(
        self,
        faults: ConnectionFaults,
        client: asyncio.StreamWriter,
        server: asyncio.StreamWriter,
        upwards: asyncio.Task[bool],
    ) -> None:
        if faults.end == "reset":
            _reset(client)
            _reset(server)
        elif faults.end == "close":
            client.close()
            server.close()
        elif faults.end == "blackhole":
            upwards.cancel()
            await asyncio.sleep(faults.silence_s)
        else:
            # The server hears nothing of it and goes on writing to somebody who left.
            with contextlib.suppress(OSError):
                client.write_eof()
            await asyncio.sleep(faults.silence_s)


async def _relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    faults: ConnectionFaults,
    end_after: int | None,
) -> bool:
    """Carry bytes; True if the end came by the weather and not by the peers."""
    passed = 0
    while data := await reader.read(READ):
        for piece in _sliced(data, faults.slice_bytes):
            if end_after is not None and passed + len(piece) > end_after:
                writer.write(piece[: end_after - passed])
                await writer.drain()
                return True
            passed += len(piece)
            if faults.delay_s:
                await asyncio.sleep(faults.delay_s)
            writer.write(piece)
            await writer.drain()
            if faults.bytes_per_s:
                await asyncio.sleep(len(piece) / faults.bytes_per_s)
    return False


def _sliced(data: bytes, size: int) -> list[bytes]:
    size = max(size, -(-len(data) // SLICES)) if size else len(data)
    return [data[at : at + size] for at in range(0, len(data), size)]


async def _let_go(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with contextlib.suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST, as a crashed machine or an impatient router does."""
    raw = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
