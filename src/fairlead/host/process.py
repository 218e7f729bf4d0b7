"""One child process and its pipes: start it, pump it, and never leave anything behind.

Knows no protocol. Output arrives by callback as raw chunks; the end of the process is learned
from `wait`, never from the end of a pipe, because a grandchild may hold stdout open for ever.
Ending it is a ladder: close stdin, SIGTERM (with SIGCONT, for a stopped process does not hear
it), SIGKILL, each to the whole group, then a sweep for descendants that left the group.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from fairlead.errors import AgentNotFound, OptionError, ProcessError

__all__ = ["Graces", "Process", "StderrTail"]

F_SETPIPE_SZ = 1031
PIPE_BYTES = 1024 * 1024
"""What we ask of the kernel for stdout (Linux; 64 KiB otherwise): fewer wake-ups in a flood."""

DRAIN_S = 0.5
"""How long the rest of stdout may take after the process has ended. What the CLI wrote is in
the pipe already; only a grandchild that holds the pipe open makes us wait at all."""

STDERR_KEPT = 64 * 1024
"""Bytes of stderr kept for error messages."""

MARK = "FAIRLEAD_PROCESS"
"""Environment variable that marks a CLI and all it starts. The CLI runs shell commands in
sessions of their own, which a signal to its group does not reach."""


SWEEP_PAUSE_S = 0.03
SWEEPS_AT_MOST = 20


class Graces(Struct, frozen=True, kw_only=True):
    """Seconds that each rung of the ladder waits for the process to end."""

    after_eof: float = 5.0
    after_term: float = 5.0
    after_kill: float = 5.0


class StderrTail:
    """The last part of stderr; it is always drained, or the CLI would stand still."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Keep a chunk, and let go of what is too old."""
        self._chunks.append(chunk)
        self._held += len(chunk)
        self.total += len(chunk)
        while self._held - len(self._chunks[0]) >= STDERR_KEPT:
            self._held -= len(self._chunks.popleft())

    def __str__(self) -> str:
        return b"".join(self._chunks)[-STDERR_KEPT:].decode(errors="replace")


class _Pump(asyncio.Protocol):
    """Hands each chunk of a pipe on, and tells its end."""

    def __init__(self, on_data: Callable[[bytes], None], ended: asyncio.Future[None]) -> None:
        self._on_data = on_data
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class _Stdin(asyncio.BaseProtocol):
    """Remembers whether the pipe is gone; a lost transport must not be touched again."""

    def __init__(self) -> None:
        self.lost = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True


class Process:
    """A running child, or one that has ended."""

    def __init__(
        self,
        *,
        on_stdout: Callable[[bytes], None],
        on_stderr: Callable[[bytes], None] | None = None,
    ) -> None:
        self._on_stdout = on_stdout
        self._stderr_reader = on_stderr
        self._child: subprocess.Popen[bytes] | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stdin_state = _Stdin()
        self._readers: list[asyncio.ReadTransport] = []
        self._gone = False
        self._pipes_ended: list[asyncio.Future[None]] = []
        self._mark = ""
        self._closing: asyncio.Task[int] | None = None
        self.stderr = StderrTail()
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Resolves with the exit code once the process is gone and its output is read."""

    @property
    def pid(self) -> int | None:
        """The process id, once started."""
        return self._child.pid if self._child else None

    async def start(
        self, argv: tuple[str, ...], *, cwd: str, env: Mapping[str, str], mark: str
    ) -> None:
        """Start the program; `mark` is a text no other process carries."""
        self._mark = mark
        self._child = _spawn(argv, cwd, {**env, MARK: mark})
        try:
            await self._connect(self._child)
        except BaseException:
            self._signal_group(signal.SIGKILL)
            raise
        threading.Thread(
            target=self._wait_in_thread,
            args=(asyncio.get_running_loop(), self._child),
            daemon=True,
            name="fairlead-wait",
        ).start()

    async def _connect(self, child: subprocess.Popen[bytes]) -> None:
        loop = asyncio.get_running_loop()
        for pipe, on_data in ((child.stdout, self._on_stdout), (child.stderr, self._on_stderr)):
            ended = loop.create_future()
            transport, _ = await loop.connect_read_pipe(partial(_Pump, on_data, ended), pipe)
            self._readers.append(transport)
            self._pipes_ended.append(ended)
        self._stdin, self._stdin_state = await loop.connect_write_pipe(_Stdin, child.stdin)

    def pause_reading(self) -> None:
        """Leave what the program writes to stdout in the pipe; when that is full, it waits."""
        if self._readers and not self._gone:
            self._readers[0].pause_reading()

    def resume_reading(self) -> None:
        """Read stdout again."""
        if self._readers:
            self._readers[0].resume_reading()

    def write(self, line: bytes) -> None:
        """Queue one whole line for stdin; a no-op once the process is gone."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line)

    def close_stdin(self) -> None:
        """Tell the process that nothing more will come, after what is queued."""
        if self._stdin is not None and not self._stdin.is_closing():
            if self._stdin.can_write_eof():
                self._stdin.write_eof()
            else:
                self._stdin.close()

    async def close(self, graces: Graces) -> int:
        """End the process by the ladder and return its exit code; safe to call twice.

        It runs in a task of its own, so that a cancelled caller cannot stop it half way.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._end(graces))
        return await asyncio.shield(self._closing)

    async def _end(self, graces: Graces) -> int:
        self.close_stdin()
        for signals, grace in (
            ((), graces.after_eof),
            ((signal.SIGTERM, signal.SIGCONT), graces.after_term),
            ((signal.SIGKILL,), graces.after_kill),
        ):
            for number in signals:
                self._signal_group(number)
            done, _ = await asyncio.wait([self.exited], timeout=grace)
            if done:
                return self.exited.result()
        raise ProcessError(f"process {self.pid} did not end, not even by SIGKILL")

    def _signal_group(self, number: signal.Signals) -> None:
        if self.pid is not None:
            try:
                os.killpg(self.pid, number)
            except (ProcessLookupError, PermissionError):
                pass

    def _on_stderr(self, chunk: bytes) -> None:
        self.stderr.add(chunk)
        if self._stderr_reader is not None:
            self._stderr_reader(chunk)

    def _wait_in_thread(
        self, loop: asyncio.AbstractEventLoop, child: subprocess.Popen[bytes]
    ) -> None:
        returncode = child.wait()
        try:
            loop.call_soon_threadsafe(self._process_gone, returncode)
        except RuntimeError:
            pass  # The loop was closed first: nobody is left to tell.

    def _process_gone(self, returncode: int) -> None:
        self._finishing = asyncio.create_task(self._finish(returncode))

    async def _finish(self, returncode: int) -> None:
        """Read the rest, close the pipes, kill what was left behind, then tell."""
        # What is left is no more than the pipe holds: it is read though somebody has enough.
        self._gone = True
        self.resume_reading()
        self._signal_group(signal.SIGKILL)
        await asyncio.to_thread(_sweep, self._mark)
        await asyncio.wait(self._pipes_ended, timeout=DRAIN_S)
        for transport in self._readers:
            transport.close()
        if self._stdin is not None and not self._stdin_state.lost:
            self._stdin.abort()
        if not self.exited.done():
            self.exited.set_result(returncode)


def _spawn(argv: tuple[str, ...], cwd: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    if not Path(cwd).is_dir():
        raise OptionError("cwd", f"{cwd!r} is not a folder.", "Create it, or give another one.")
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError:
        raise AgentNotFound(argv[0]) from None
    except OSError as problem:
        raise ProcessError(f"cannot start {argv[0]!r}: {problem.strerror or problem}") from None
    _enlarge(child.stdout.fileno() if child.stdout else -1)
    return child


def _enlarge(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_BYTES)
    except OSError:
        pass  # Not Linux, or above the user's limit: it only makes floods a little slower.


def _sweep(mark: str) -> None:
    """Kill every process that carries our mark, until two looks in a row find none.

    One look is not enough: a process shows no environment for a moment while it is being
    started, and one that we kill may just have started another.
    """
    found_none = 0
    for _ in range(SWEEPS_AT_MOST):
        found_none = 0 if _kill_marked(mark) else found_none + 1
        if found_none == 2:
            return
        time.sleep(SWEEP_PAUSE_S)


def _kill_marked(mark: str) -> bool:
    """One look at all processes; only Linux lets us see their environment."""
    wanted = f"{MARK}={mark}".encode()
    own = os.getpid()
    killed = False
    for entry in Path("/proc").glob("[0-9]*/environ"):
        pid = int(entry.parent.name)
        try:
            if pid != own and wanted in entry.read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
                killed = True
        except OSError:
            continue  # Gone meanwhile, or somebody else's.
    return killed
