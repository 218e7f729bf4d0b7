"""One child process and its pipes: start it, pump it, and never leave anything behind.

Knows no protocol. Output arrives by callback as raw chunks. The end of the process is reported by
`exit_watch`, never by the end of a pipe, because a grandchild may keep stdout open forever. The
steps to end a process are: close stdin, SIGTERM (with SIGCONT, because a stopped process does not
react to it), SIGKILL, each to the whole process group, then a sweep for descendants that left the
group (`sweeps`). If this process is killed, the watcher behind `lifeline` ends the child.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from fairlead.errors import AgentNotFound, OptionError, ProcessError
from fairlead.host.process.exit_watch import watch_exit
from fairlead.host.process.gate import Gate
from fairlead.host.process.lifeline import lifeline
from fairlead.host.process.pipe_ends import PipeEnd
from fairlead.host.process.polled_pipes import polled_pipes
from fairlead.host.process.read_size import READ_BYTES, limit_reads
from fairlead.host.process.reaper import MARK
from fairlead.host.process.sweeps import sweep_soon

__all__ = ["Graces", "Process", "StderrTail"]

F_SETPIPE_SZ = 1031
PIPE_BYTES = 1024 * 1024
"""Size of the stdout pipe (Linux; 64 KiB otherwise): fewer wake-ups when the CLI writes a lot."""

DRAIN_S = 0.5
"""How long reading the rest of stdout may take after the process has ended. The CLI's output is in
the pipe already; only a grandchild that keeps the pipe open causes this wait."""

STDIN_LIMIT = 4 * 1024 * 1024
"""Bytes that may wait for a program that does not read its stdin; then writers are refused."""

LINES_BYTES = 16 * 1024
"""What is read at first at an interval: the lines of a moment. More costs memory for each read."""

STDERR_KEPT = 64 * 1024
"""Bytes of stderr kept for error messages."""


class Graces(Struct, frozen=True, kw_only=True):
    """Seconds to wait for the end of the process after each step."""

    after_eof: float = 5.0
    after_term: float = 5.0
    after_kill: float = 5.0
    after_interrupt: float = 15.0
    """For the answer to `interrupt` while a turn runs; then the CLI gets SIGINT, which ends it."""
    after_sigint: float = 5.0
    """For the end of the process after that; then the steps above follow."""


class StderrTail:
    """The last part of stderr; it is always read, because a full pipe would block the CLI."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] | None = None
        """Created with the first chunk: it takes 760 bytes, and most CLIs write none."""
        self._held = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Add a chunk, and drop the oldest ones above the limit."""
        if self._chunks is None:
            self._chunks = deque()
        self._chunks.append(chunk)
        self._held += len(chunk)
        self.total += len(chunk)
        while self._held - len(self._chunks[0]) >= STDERR_KEPT:
            self._held -= len(self._chunks.popleft())

    def __str__(self) -> str:
        return b"".join(self._chunks or ())[-STDERR_KEPT:].decode(errors="replace")


class _Pump(asyncio.Protocol):
    """Passes on each chunk of a pipe, and reports its end."""

    def __init__(self, on_data: Callable[[bytes], None], ended: asyncio.Future[None]) -> None:
        self._on_data = on_data
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class _Stdin(asyncio.BaseProtocol):
    """The state of the pipe: lost (its transport must not be touched again), or full."""

    def __init__(self, on_room: Callable[[], None] | None = None) -> None:
        self._on_room = on_room
        self.lost = False
        self.room = Gate()
        """Open while fewer than `STDIN_LIMIT` bytes wait."""

    def pause_writing(self) -> None:
        self.room.close()

    def resume_writing(self) -> None:
        self.room.open()
        if self._on_room is not None:
            self._on_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self.room.open()


class Process:
    """A running child, or one that has ended."""

    def __init__(
        self,
        *,
        on_stdout: Callable[[bytes], None],
        on_stderr: Callable[[bytes], None] | None = None,
        on_stdout_end: Callable[[], None] | None = None,
        on_room: Callable[[], None] | None = None,
    ) -> None:
        self._on_stdout = on_stdout
        self._on_room = on_room
        self._on_stdout_end = on_stdout_end
        self._stderr_reader = on_stderr
        self._child: subprocess.Popen[bytes] | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stdin_state = _Stdin()
        self._readers: list[asyncio.ReadTransport] = []
        self._gone = False
        self._stdout = -1
        self._read_paused = False
        self._at_intervals = False
        self._is_polled = False
        self._pipes_ended: list[asyncio.Future[None]] = []
        self._mark = ""
        self._closing: asyncio.Task[int] | None = None
        self.stderr = StderrTail()
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Resolves with the exit code once the process has ended and its output is read."""

    @property
    def pid(self) -> int | None:
        """The process id, once started."""
        return self._child.pid if self._child else None

    async def start(
        self, argv: tuple[str, ...], *, cwd: str, env: Mapping[str, str], mark: str
    ) -> None:
        """Start the program; `mark` is a text no other process carries."""
        self._mark = mark
        lifeline.expect(mark)
        try:
            self._child = _spawn(argv, cwd, {**env, MARK: mark})
        except BaseException:
            lifeline.release(mark)
            raise
        lifeline.attach(mark, self._child.pid)
        try:
            await self._connect(self._child)
        except BaseException:
            self._signal_group(signal.SIGKILL)
            raise
        watch_exit(self._child, self._process_gone)

    async def _connect(self, child: subprocess.Popen[bytes]) -> None:
        loop = asyncio.get_running_loop()
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        stdout = PipeEnd(loop, child.stdout)
        self._stdout = stdout.fileno()
        for end, on_data in (
            (stdout, self._on_stdout),
            (PipeEnd(loop, child.stderr), self._on_stderr),
        ):
            ended = loop.create_future()
            transport, _ = await loop.connect_read_pipe(partial(_Pump, on_data, ended), end)
            limit_reads(transport)
            self._readers.append(transport)
            self._pipes_ended.append(ended)
        self._stdin, self._stdin_state = await loop.connect_write_pipe(
            partial(_Stdin, self._on_room), PipeEnd(loop, child.stdin)
        )
        self._stdin.set_write_buffer_limits(high=STDIN_LIMIT)
        if self._on_stdout_end is not None:
            on_end = self._on_stdout_end
            self._pipes_ended[0].add_done_callback(lambda _: on_end())

    def pause_reading(self) -> None:
        """Leave what the program writes to stdout in the pipe; when that is full, it waits."""
        if not self._gone:
            self._read_paused = True
            self._set_reading()

    def resume_reading(self) -> None:
        """Read stdout again."""
        self._read_paused = False
        self._set_reading()

    def read_at_intervals(self, at_intervals: bool) -> None:
        """Read stdout at intervals, together with other processes, or whenever there is output."""
        if at_intervals is not self._at_intervals and not self._gone:
            self._at_intervals = at_intervals
            self._set_reading()

    def _set_reading(self) -> None:
        """Have stdout read by its transport, at intervals, or not at all."""
        if not self._readers or self._readers[0].is_closing():
            return  # After the end of stdout its descriptor may belong to another file.
        is_polled = self._at_intervals and not self._read_paused
        if is_polled is not self._is_polled:
            self._is_polled = is_polled
            if is_polled:
                polled_pipes().add(self._stdout, self._read_stdout)
            else:
                polled_pipes().remove(self._stdout)
        if self._read_paused or is_polled:
            self._readers[0].pause_reading()
        else:
            self._readers[0].resume_reading()

    def _read_stdout(self) -> None:
        """Read what there is, without the transport, which is paused."""
        chunk = b""
        try:
            chunk = os.read(self._stdout, LINES_BYTES)
            if len(chunk) == LINES_BYTES:
                chunk += os.read(self._stdout, READ_BYTES)
        except BlockingIOError:
            pass  # Nothing more.
        except OSError:
            pass  # The transport gets it too, and reports it.
        if chunk:
            self._on_stdout(chunk)
        else:
            self.read_at_intervals(False)  # The transport finds the end too, and reports it.

    def write(self, line: bytes) -> None:
        """Queue one whole line for stdin; a no-op once the process has ended."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line)

    @property
    def accepts_input(self) -> bool:
        """False while more than `STDIN_LIMIT` bytes wait for a program that does not read."""
        return self._stdin_state.room.is_open

    @property
    def takes_lines(self) -> bool:
        """Whether a line that is written now can still reach the program."""
        pipe = self._stdin
        open_pipe = pipe is not None and not pipe.is_closing() and not self._stdin_state.lost
        return open_pipe and self.accepts_input and not self.exited.done()

    async def wait_for_room(self) -> None:
        """Return when the program has read enough of its stdin, or has ended."""
        await self._stdin_state.room.wait()

    def close_stdin(self) -> None:
        """Close stdin after the queued lines, which tells the process that no more will come."""
        if self._stdin is not None and not self._stdin.is_closing():
            if self._stdin.can_write_eof():
                self._stdin.write_eof()
            else:
                self._stdin.close()

    def interrupt(self) -> None:
        """Send SIGINT to the process itself, not to the commands that it runs."""
        if self.pid is not None and not self._gone:
            try:
                os.kill(self.pid, signal.SIGINT)
            except ProcessLookupError:
                pass

    async def close(self, graces: Graces) -> int:
        """End the process step by step and return its exit code; safe to call twice.

        It runs in a task of its own, so that a cancelled caller cannot interrupt it.
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
        if self._child is not None and self._child.poll() is None:
            raise ProcessError(f"process {self.pid} did not end, not even by SIGKILL")
        return await self.exited  # It has ended, but the event loop was too busy to notice.

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

    def _process_gone(self, returncode: int) -> None:
        self._finishing = asyncio.create_task(self._finish(returncode))

    async def _finish(self, returncode: int) -> None:
        """Read the rest, close the pipes, kill what was left behind, then report the exit."""
        # The rest is no more than the pipe holds, so it is read despite backpressure.
        self._gone = True
        self._at_intervals = False
        self.resume_reading()
        self._signal_group(signal.SIGKILL)
        await sweep_soon(self._mark)
        lifeline.release(self._mark)
        await asyncio.wait(self._pipes_ended, timeout=DRAIN_S)
        for transport in self._readers:
            transport.close()
        if self._stdin is not None and not self._stdin_state.lost:
            self._stdin.abort()
        if not self.exited.done():
            self.exited.set_result(returncode)


def _spawn(argv: tuple[str, ...], cwd: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    if not os.path.isdir(cwd):
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
