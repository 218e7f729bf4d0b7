"""Real child programs, most of them rude."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from fairlead.errors import AgentNotFound, OptionError, ProcessError
from fairlead.host.process.polled_pipes import polled_pipes
from fairlead.host.process.process import Graces, Process
from tests.host.children import alive, in_pipe
from tests.waiting import until

QUICK = Graces(after_eof=0.3, after_term=0.3, after_kill=5.0)
PATIENT = Graces(after_eof=20.0, after_term=20.0, after_kill=5.0)
ENV = {"PATH": os.environ["PATH"]}


class Child:
    """A Python program under a `Process`, with its output collected."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.grew = asyncio.Event()
        self.process = Process(on_stdout=self._on_stdout)

    def _on_stdout(self, chunk: bytes) -> None:
        self.output += chunk
        self.grew.set()

    async def run(self, program: str, cwd: Path) -> Process:
        argv = (sys.executable, "-c", program)
        await self.process.start(argv, cwd=str(cwd), env=ENV, mark=os.urandom(8).hex())
        return self.process

    async def says(self, text: bytes) -> None:
        async with asyncio.timeout(60):
            while text not in self.output:
                self.grew.clear()
                await self.grew.wait()


@pytest.fixture
async def child() -> Child:
    return Child()


async def test_C17_output_comes_whole_and_the_exit_code_after_it(
    child: Child, tmp_path: Path
) -> None:
    process = await child.run("import sys; print('x' * 100_000); sys.exit(7)", tmp_path)
    assert await asyncio.wait_for(process.exited, 10) == 7
    assert child.output == b"x" * 100_000 + b"\n"


async def polled() -> None:
    """Wait until all pipes that have output were read at an interval."""
    reader, writer = os.pipe()
    os.write(writer, b"x")
    called = asyncio.Event()
    polled_pipes().add(reader, called.set)
    await asyncio.wait_for(called.wait(), 60)
    polled_pipes().remove(reader)
    os.close(reader)
    os.close(writer)


async def test_output_that_is_read_at_intervals_comes_whole_and_can_be_paused(
    child: Child, tmp_path: Path
) -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.strip() * 20_000, flush=True)"
    process = await child.run(echo, tmp_path)
    process.read_at_intervals(True)
    process.write(b"a\n")
    await child.says(b"a" * 20_000 + b"\n")
    process.pause_reading()
    process.write(b"b\n")
    await until(lambda: in_pipe(process.pid or 0)[0] > 20_000)
    await polled()
    assert b"b" not in child.output
    process.resume_reading()
    await child.says(b"b" * 20_000 + b"\n")
    process.read_at_intervals(False)
    process.write(b"c\n")
    await child.says(b"c" * 20_000 + b"\n")
    assert await process.close(PATIENT) == 0


async def test_the_end_of_output_that_is_read_at_intervals_is_found(tmp_path: Path) -> None:
    ended = asyncio.Event()
    output = bytearray()
    process = Process(on_stdout=output.extend, on_stdout_end=ended.set)
    program = "import os, sys; sys.stdin.readline(); print('x' * 100_000, flush=True); os.close(1); sys.stdin.read()"
    argv = (sys.executable, "-c", program)
    await process.start(argv, cwd=str(tmp_path), env=ENV, mark=os.urandom(8).hex())
    process.read_at_intervals(True)
    process.write(b"go\n")
    await asyncio.wait_for(ended.wait(), 60)
    assert output == b"x" * 100_000 + b"\n"
    await process.close(PATIENT)


async def test_C52_a_closed_stdout_is_not_read_at_intervals(tmp_path: Path) -> None:
    ended = asyncio.Event()
    process = Process(on_stdout=lambda _: None, on_stdout_end=ended.set)
    program = "import os, sys; os.close(1); sys.stdin.read()"
    argv = (sys.executable, "-c", program)
    await process.start(argv, cwd=str(tmp_path), env=ENV, mark=os.urandom(8).hex())
    number = process._stdout
    await asyncio.wait_for(ended.wait(), 60)
    reader, writer = os.pipe()
    os.dup2(reader, number)  # Another pipe gets the number that is free now.
    os.write(writer, b"of another program")
    process.read_at_intervals(True)
    await polled()
    os.set_blocking(reader, False)
    assert os.read(reader, 100) == b"of another program"
    process.read_at_intervals(False)
    for descriptor in {reader, writer, number}:
        os.close(descriptor)
    await process.close(PATIENT)


async def test_C18_the_end_of_input_ends_a_polite_program(child: Child, tmp_path: Path) -> None:
    process = await child.run("import sys; print(sys.stdin.read().upper())", tmp_path)
    process.write(b"hello\n")
    assert await process.close(PATIENT) == 0
    assert child.output == b"HELLO\n\n"


async def test_C18_a_program_that_ignores_sigterm_is_killed(child: Child, tmp_path: Path) -> None:
    deaf = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print('ready', flush=True)\nwhile True: signal.pause()"
    )
    process = await child.run(deaf, tmp_path)
    await child.says(b"ready")
    assert await process.close(QUICK) == -9


async def test_C18_an_end_that_a_busy_loop_has_not_noticed_is_no_failure(
    child: Child, tmp_path: Path
) -> None:
    process = await child.run("import sys; print('ready', flush=True); sys.stdin.read()", tmp_path)
    await child.says(b"ready")
    os.kill(process.pid or 0, 9)
    # That it blocks the event loop is the test.
    os.waitid(os.P_PID, process.pid or 0, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
    assert await process.close(Graces(after_eof=0, after_term=0, after_kill=0)) == -9


async def test_C18_a_stopped_program_hears_sigterm(child: Child, tmp_path: Path) -> None:
    # A stopped process does not act on SIGTERM until it is continued.
    stopped = (
        "import os, signal; print('ready', flush=True); os.kill(os.getpid(), signal.SIGSTOP)\n"
        "while True: signal.pause()"
    )
    process = await child.run(stopped, tmp_path)
    await child.says(b"ready")
    assert await process.close(Graces(after_eof=0.3, after_term=20.0, after_kill=5.0)) == -15


async def test_C19_the_end_is_learned_from_wait_though_a_grandchild_holds_stdout(
    child: Child, tmp_path: Path
) -> None:
    program = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'],\n"
        "                     start_new_session=True)\n"
        "print(p.pid, flush=True)"
    )
    process = await child.run(program, tmp_path)
    assert await asyncio.wait_for(process.exited, 10) == 0
    assert not alive(int(child.output))


async def test_C20_nothing_is_left_when_the_program_is_killed(child: Child, tmp_path: Path) -> None:
    program = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pause = [sys.executable, '-c', 'import signal; signal.pause()']\n"
        "pids = [subprocess.Popen(pause).pid,\n"
        "        subprocess.Popen(pause, start_new_session=True).pid]\n"
        "print(*pids, 'ready', flush=True)\n"
        "while True: signal.pause()"
    )
    process = await child.run(program, tmp_path)
    await child.says(b"ready")
    await process.close(QUICK)
    in_group, in_own_session = (int(text) for text in child.output.split()[:2])
    assert not alive(in_group)
    assert not alive(in_own_session)


async def test_C21_stderr_is_drained_and_its_end_kept(child: Child, tmp_path: Path) -> None:
    program = "import sys; sys.stderr.write('noise ' * 350_000 + 'the last word'); print('done')"
    process = await child.run(program, tmp_path)
    assert await asyncio.wait_for(process.exited, 20) == 0
    assert process.stderr.total == 6 * 350_000 + len("the last word")
    assert str(process.stderr).endswith("noise the last word")
    assert len(str(process.stderr)) == 64 * 1024


async def test_closing_twice_is_the_same_as_once(child: Child, tmp_path: Path) -> None:
    process = await child.run("import sys; sys.stdin.read()", tmp_path)
    both = await asyncio.gather(process.close(PATIENT), process.close(PATIENT))
    assert list(both) == [0, 0]
    assert await process.close(PATIENT) == 0


async def test_a_cancelled_close_still_ends_the_process(child: Child, tmp_path: Path) -> None:
    process = await child.run("import signal; signal.pause()", tmp_path)
    closing = asyncio.create_task(process.close(QUICK))
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert await asyncio.wait_for(process.exited, 10) == -15


async def test_writing_to_a_dead_process_is_harmless(child: Child, tmp_path: Path) -> None:
    process = await child.run("pass", tmp_path)
    await asyncio.wait_for(process.exited, 10)
    process.write(b"anybody there?\n")
    process.close_stdin()


@pytest.mark.parametrize(
    ("argv", "cwd", "error", "text"),
    [
        (("/nowhere/claude",), ".", AgentNotFound, "was not found"),
        ((sys.executable,), "/nowhere", OptionError, "not a folder"),
        (("/etc/passwd",), ".", ProcessError, "cannot start"),
    ],
    ids=["missing", "no-cwd", "not-executable"],
)
async def test_what_cannot_be_started_says_why(
    argv: tuple[str, ...], cwd: str, error: type[Exception], text: str
) -> None:
    process = Process(on_stdout=lambda _: None)
    with pytest.raises(error, match=text):
        await process.start(argv, cwd=cwd, env=ENV, mark="x")
