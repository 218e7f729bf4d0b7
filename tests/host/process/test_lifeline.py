"""A CLI does not outlive the process that hosts it, however that one ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairlead.host.process import reaper
from fairlead.host.process.lifeline import PROGRAM, Lifeline
from fairlead.testing.emulated import EmulatedClaude
from tests.host.children import alive
from tests.host.hosts import gone, host_at_work, long_command
from tests.waiting import until


def emulated(tmp_path: Path, pid_file: Path) -> dict[str, Any]:
    """Options for a session whose model runs a long command."""
    scene = [{"steps": [{"use": "Bash", "input": {"command": long_command(pid_file)}}]}]
    claude = EmulatedClaude(tmp_path / "claude", scene)
    return {"agent": str(claude.executable), "cwd": str(tmp_path)}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
async def test_C36_a_killed_host_leaves_no_cli_and_no_command(
    tmp_path: Path, number: signal.Signals
) -> None:
    pid_file = tmp_path / "pid"
    async with host_at_work(emulated(tmp_path, pid_file), pid_file) as work:
        work.host.send_signal(number)
        await gone(work.cli, work.command)


async def test_C36_a_host_that_exits_without_closing_leaves_nothing(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    async with host_at_work(emulated(tmp_path, pid_file), pid_file, "exit") as work:
        assert work.host.stdin is not None
        work.host.stdin.write(b"\n")
        assert await work.host.wait() == 3
        await gone(work.cli, work.command)


async def test_C36_a_forked_child_of_the_host_does_not_keep_the_cli_alive(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    async with host_at_work(emulated(tmp_path, pid_file), pid_file, "fork") as work:
        work.host.kill()
        await gone(work.cli, work.command)
        assert work.child is not None
        assert alive(work.child)


def sleeper(mark: str, command: str = "signal.pause()") -> subprocess.Popen[bytes]:
    """A marked process in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import signal; print('ready', flush=True); {command}"],
        env={reaper.MARK: mark},
        start_new_session=True,
        stdout=subprocess.PIPE,
    )


def ready(child: subprocess.Popen[bytes]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"


async def test_C36_only_what_was_not_released_is_ended() -> None:
    line = Lifeline()
    left, released = sleeper("mark-left"), sleeper("mark-released")
    try:
        for child, mark in ((left, "mark-left"), (released, "mark-released")):
            ready(child)
            line.expect(mark)
            line.attach(mark, child.pid)
        line.release("mark-released")
        line.forget()  # What the kernel does to the pipe of a process that is gone.
        assert await asyncio.to_thread(left.wait, 30) == -signal.SIGTERM
        assert released.poll() is None
    finally:
        for child in (left, released):
            child.kill()
            child.communicate()


async def test_C36_a_cli_that_ignores_sigterm_is_killed() -> None:
    line = Lifeline()
    child = sleeper("mark-deaf", "signal.pthread_sigmask(signal.SIG_BLOCK, [15]); signal.pause()")
    try:
        ready(child)
        line.expect("mark-deaf")
        line.forget()
        assert await asyncio.to_thread(child.wait, 30) == -signal.SIGKILL
    finally:
        child.kill()
        child.communicate()


def watchers() -> set[int]:
    """The watchers of any host on this machine, by their command line."""
    matches = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if PROGRAM.encode() in entry.read_bytes().split(b"\0"):
                matches.add(int(entry.parent.name))
        except OSError:
            continue
    return matches


async def test_C36_a_watcher_that_was_killed_is_replaced() -> None:
    line = Lifeline()
    before = watchers()
    child = sleeper("mark-again")
    try:
        ready(child)
        line.expect("mark-again")
        first = (await until(lambda: detached(watchers() - before))).pop()
        os.kill(first, signal.SIGKILL)
        await gone(first)
        line.attach("mark-again", child.pid)
        line.forget()
        assert await asyncio.to_thread(child.wait, 30) == -signal.SIGTERM
    finally:
        child.kill()
        child.communicate()


def detached(pids: set[int]) -> set[int]:
    """Those that are no child of this process: the watcher, once its launcher has left it."""
    return {pid for pid in pids if alive(pid) and parent(pid) != os.getpid()}


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return os.getpid()


def test_C36_descendants_are_found_by_their_parents_where_there_is_no_proc() -> None:
    family = subprocess.Popen(
        ["sh", "-c", "setsid sleep 77 & echo $!; wait"], stdout=subprocess.PIPE, text=True
    )
    assert family.stdout is not None
    grandchild = int(family.stdout.readline())
    try:
        assert grandchild in reaper.descendants({family.pid})
        assert os.getpid() not in reaper.descendants({family.pid})
    finally:
        for pid in (grandchild, family.pid):
            os.kill(pid, signal.SIGKILL)
        family.communicate()
