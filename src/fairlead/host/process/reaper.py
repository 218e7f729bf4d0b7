"""Ends what a host left running: the processes that carry a mark in their environment.

Used in two ways. `sweep` kills what one CLI has left behind. Run as a program, this file is the
watcher of one host process (see `lifeline`): it reads the marks of the running CLIs from its
stdin, and when the host has ended, for whatever reason, it ends those that are left. Because it is run
as a bare file by an interpreter without site packages, it imports the standard library only,
and little of it: it has to be up within milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys
import time

__all__ = ["MARK", "sweep"]

MARK = "FAIRLEAD_PROCESS"
"""Environment variable that marks a CLI and everything it starts. The CLI runs shell commands in
sessions of their own, which a signal to its process group does not reach."""

SWEEP_PAUSE_S = 0.03
SWEEPS_AT_MOST = 20

TERM_GRACE_S = 1.0
"""How long the CLI of a dead host may take to end by SIGTERM before it is killed."""


def sweep(*marks: str) -> None:
    """Kill every process that carries one of the marks, until two looks in a row find none.

    One look is not enough: a process shows no environment for a moment while it is being
    started, and one that we kill may just have started another.
    """
    found_none = 0
    for _ in range(SWEEPS_AT_MOST):
        processes = marked(marks)
        for pid in processes:
            _kill(pid, signal.SIGKILL)
        found_none = 0 if processes else found_none + 1
        if found_none == 2:
            return
        time.sleep(SWEEP_PAUSE_S)


def marked(marks: tuple[str, ...]) -> list[int]:
    """The processes that carry one of the marks; only Linux lets us see their environment."""
    wanted = {f"{MARK}={mark}".encode() for mark in marks}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [
        int(name)
        for name in names
        if name.isdigit() and int(name) != os.getpid() and not wanted.isdisjoint(_environment(name))
    ]


def descendants(roots: set[int]) -> list[int]:
    """The processes below these, by their parents; for systems without /proc."""
    import subprocess

    try:
        table = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    parents = [(int(line.split()[0]), int(line.split()[1])) for line in table.splitlines()]
    below: set[int] = set()
    while new := {pid for pid, parent in parents if parent in roots | below} - below - roots:
        below |= new
    return sorted(below)


def end(clis: dict[str, int]) -> None:
    """End these CLIs, given as mark and process id, and everything that they started."""
    has_proc = os.path.isdir("/proc/self")
    marks = tuple(clis)
    if has_proc:
        processes = marked(marks)
    else:
        roots = {pid for pid in clis.values() if pid}
        processes = [*roots, *descendants(roots)]
    for pid in processes:
        _kill(pid, signal.SIGTERM)
        _kill(pid, signal.SIGCONT)  # A stopped process does not notice SIGTERM.
    deadline = time.monotonic() + TERM_GRACE_S
    while time.monotonic() < deadline and any(_alive(pid) for pid in processes):
        time.sleep(SWEEP_PAUSE_S)
    if has_proc:
        sweep(*marks)
    for pid in [] if has_proc else processes:
        _kill(pid, signal.SIGKILL)


def watch() -> None:
    """Read which CLIs run until the host has ended, then end those that are left.

    Lines are `+ MARK` before a CLI is started, `= MARK PID` after, and `- MARK` when it has
    ended and none of its processes is left.
    """
    # A child of the host would be in the way of a program that waits for all its children.
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    clis: dict[str, int] = {}
    for line in sys.stdin:
        verb, mark, *pid = line.split()
        if verb == "-":
            clis.pop(mark, None)
        else:
            clis[mark] = int(pid[0]) if pid else 0
    if clis:
        end(clis)


def _environment(pid: str) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # It has ended, or belongs to another user.


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")  # No /proc: the signal has shown it.
    except OSError:
        return False


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass  # It has ended, or belongs to another user.


if __name__ == "__main__":
    watch()
