"""A running command: its process group and its output so far.

The output is collected in memory and, once the command has moved to the background, written to a
file as it arrives. This module does not know tools and results.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Self

__all__ = ["RunningCommand"]

CHUNK = 64 * 1024
STDERR = b"[stderr] "
"""The mark of stderr in the file, if it has its own pipe (measured)."""
GONE_S = 2.0
"""How long to wait for a killed process group."""


class RunningCommand:
    """One command in a process group of its own, so that stopping it ends all its processes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._out, self._err = bytearray(), bytearray()
        self._file: io.FileIO | None = None
        self._reading = asyncio.ensure_future(self._read_all())

    @classmethod
    async def start(
        cls, command: str, cwd: Path, environment: Mapping[str, str], *, apart: bool
    ) -> Self:
        """Start a shell; with `apart`, stderr has its own pipe."""
        pipe, shared = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            command,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe if apart else shared,
            env=dict(environment),
            start_new_session=True,
        )
        return cls(process)

    async def _read_all(self) -> int:
        async def read(stream: asyncio.StreamReader | None, buffer: bytearray, mark: bytes) -> None:
            while stream is not None and (data := await stream.read(CHUNK)):
                if self._file is None:
                    buffer += data
                else:
                    self._file.write(mark + data)

        process = self._process
        out, err = read(process.stdout, self._out, b""), read(process.stderr, self._err, STDERR)
        await asyncio.gather(out, err)
        return await process.wait()

    def keep_in(self, path: Path) -> None:
        """Write the output so far, and all that follows, to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)
        self._file.write(bytes(self._out) + (STDERR + bytes(self._err) if self._err else b""))

    def add(self, text: str) -> None:
        """Append a note to the file."""
        if self._file is not None:
            self._file.write(text.encode())

    @property
    def output(self) -> tuple[str, str]:
        """stdout and stderr so far, or until it got a file; with one pipe, all of it is the
        first."""
        return _text(self._out), _text(self._err)

    async def finished(self) -> int:
        """Wait until it has ended and its output is complete; returns the exit code."""
        return await asyncio.shield(self._reading)

    async def exited(self) -> int:
        """Wait for its end, and briefly for programs that still hold its output open."""
        code = await self._process.wait()
        await self._quiet()
        return code

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    async def end(self, *, by_force: bool = False) -> None:
        """Stop the whole group: at once, or after it had time to end by itself."""
        if not by_force:
            self.signal(signal.SIGTERM)
        if by_force or not await self._quiet():
            self.signal(signal.SIGKILL)
            await self._quiet()
        self._reading.cancel()
        if self._file is not None:
            self._file.close()
            self._file = None

    async def _quiet(self) -> bool:
        """Whether its output is complete within a short time."""
        try:
            async with asyncio.timeout(GONE_S):
                await self.finished()
        except TimeoutError:
            return False
        return True


def _text(data: bytearray) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
