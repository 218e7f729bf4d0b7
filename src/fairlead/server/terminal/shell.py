"""A shell on a pseudo-terminal: start it, read and write it, and leave nothing behind.

Knows no protocol. The end of the shell is reported by `exit_watch`, never by the end of the terminal,
because a program in the background may keep the terminal open. If the server is killed, the watcher
behind `lifeline` ends the shell and everything that it started, as it does with CLIs.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import uuid
from collections.abc import Callable, Mapping

from fairlead.errors import ProcessError
from fairlead.host.process.exit_watch import watch_exit
from fairlead.host.process.lifeline import lifeline
from fairlead.host.process.reaper import MARK
from fairlead.host.process.sweeps import sweep_soon
from fairlead.server.terminal import launcher

__all__ = ["Shell", "shell_program"]

CHUNK = 64 * 1024
READS = 16
"""Reads in a row: the kernel returns at most 4 KiB of a terminal at once."""

BYTES_PER_S = 8 * 1024 * 1024
"""Most output that is read in a second, so that `yes` does not take all time of the event loop."""

INPUT_BYTES = 256 * 1024
"""Input that may wait for a program that does not read it."""

HANGUP_S = 3.0
"""How long the shell may take to end by SIGHUP before it is killed."""

MOST_CELLS = 1_000
"""Most columns and rows of a window."""

PROGRAM = os.path.abspath(launcher.__file__)


def shell_program(environment: Mapping[str, str]) -> str:
    """The user's shell: $SHELL if it can be executed, else /bin/sh."""
    shell = environment.get("SHELL", "")
    return shell if os.path.isabs(shell) and os.access(shell, os.X_OK) else "/bin/sh"


class Shell:
    """A running shell, or one that has ended."""

    def __init__(self, on_output: Callable[[bytes], None], on_exit: Callable[[int], None]) -> None:
        self._on_output = on_output
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._mark = str(uuid.uuid4())
        self._master = -1
        self._child: subprocess.Popen[bytes] | None = None
        self._waiting = bytearray()
        self._paused = False
        self._resting: asyncio.TimerHandle | None = None
        self._killing: asyncio.TimerHandle | None = None
        self._finishing: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
        """Set when the shell and everything that it started have ended."""

    def start(
        self, program: str, *, cwd: str, env: Mapping[str, str], cols: int, rows: int
    ) -> None:
        """Start the shell; raises `ProcessError` if that fails."""
        self._master, slave = os.openpty()
        try:
            self.resize(cols, rows)
            lifeline.expect(self._mark)
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", PROGRAM, program],
                cwd=cwd,
                env={**env, MARK: self._mark},
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
            )
        except OSError as problem:
            lifeline.release(self._mark)
            os.close(self._master)
            self._master = -1
            raise ProcessError(f"cannot start a shell: {problem.strerror or problem}") from None
        finally:
            os.close(slave)
        lifeline.attach(self._mark, self._child.pid)
        os.set_blocking(self._master, False)
        self._loop.add_reader(self._master, self._readable)
        watch_exit(self._child, self._gone)

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the window; the kernel tells the program in the foreground."""
        if self._master >= 0:
            size = struct.pack("HHHH", _cells(rows), _cells(cols), 0, 0)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    # Output

    def pause(self) -> None:
        """Read no output; when the terminal is full, the program that writes waits."""
        if not self._paused:
            self._paused = True
            self._stop_reading()

    def resume(self) -> None:
        """Read again."""
        if self._paused:
            self._paused = False
            self._read_on()

    def _readable(self) -> None:
        data, open_ = self._read()
        if data:
            self._on_output(data)
        if not open_:
            self._stop_reading()
        elif len(data) >= CHUNK // 4 and not self._paused:
            self._stop_reading()
            self._resting = self._loop.call_later(len(data) / BYTES_PER_S, self._read_on)

    def _read(self) -> tuple[bytes, bool]:
        """What the terminal has now, up to a limit, and whether it is still open."""
        parts: list[bytes] = []
        for _ in range(READS):
            try:
                part = os.read(self._master, CHUNK)
            except BlockingIOError:
                return b"".join(parts), True
            except OSError:  # No program has it open any more.
                return b"".join(parts), False
            if not part:
                return b"".join(parts), False
            parts.append(part)
        return b"".join(parts), True

    def _stop_reading(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if self._master >= 0:
            self._loop.remove_reader(self._master)

    def _read_on(self) -> None:
        self._resting = None
        if self._master >= 0 and not self._paused:
            self._loop.add_reader(self._master, self._readable)

    # Input

    def write(self, data: bytes) -> bool:
        """Type something; False if too much waits already, and nothing was typed."""
        if self._master < 0:
            return True
        if len(self._waiting) + len(data) > INPUT_BYTES:
            return False
        self._waiting += data
        self._write_on()
        return True

    def _write_on(self) -> None:
        try:
            written = os.write(self._master, self._waiting) if self._waiting else 0
        except BlockingIOError:
            written = 0
        except OSError:
            written = len(self._waiting)  # No program reads it any more.
        del self._waiting[:written]
        if self._waiting:
            self._loop.add_writer(self._master, self._write_on)
        else:
            self._loop.remove_writer(self._master)

    # The end

    def hang_up(self) -> None:
        """End the shell as closing a terminal window does; kill it if it does not react."""
        if self._child is None or self._finishing is not None or self._killing is not None:
            return
        self._signal(signal.SIGHUP)
        self._signal(signal.SIGCONT)
        self._killing = self._loop.call_later(HANGUP_S, self._signal, signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """To the shell's own group and to the group in the foreground."""
        if self._child is None or self._finishing is not None:
            return
        groups = {self._child.pid}
        try:
            groups.add(os.tcgetpgrp(self._master))
        except OSError:
            pass  # No group has the terminal.
        for group in groups - {0}:
            try:
                os.killpg(group, number)
            except (ProcessLookupError, PermissionError):
                pass

    def _gone(self, code: int) -> None:
        self._finishing = asyncio.create_task(self._finish(code))

    async def _finish(self, code: int) -> None:
        """End what the shell left behind, read the rest of its output, then report the exit."""
        if self._killing is not None:
            self._killing.cancel()
        await sweep_soon(self._mark)
        lifeline.release(self._mark)
        self._stop_reading()
        self._loop.remove_writer(self._master)
        rest, _ = self._read()
        os.close(self._master)
        self._master = -1
        if rest:
            self._on_output(rest)
        self.ended.set()
        self._on_exit(code)


def _cells(count: int) -> int:
    return max(1, min(count, MOST_CELLS))
