"""The emulator as forks of one process that has imported it, for tests that start it very often.

    with EmulatorForker() as emulators:
        process = emulators.start(arguments, cwd=project, env=environment)
        process.stdin.write(…)

Importing the emulator takes more CPU time than most of its scenarios. What runs is the whole program,
as a process with its own arguments, environment, folder and pipes; `ForkedProcess` is the part of
`subprocess.Popen` that a host needs. Tests of the start itself use the launcher.

    python -m tests.emulator.forked_emulator FD      forks for each request on the socket FD
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn, Self

__all__ = ["EmulatorForker", "ForkedProcess"]

LONGEST_REQUEST = 1024 * 1024
FDS = 4
"""stdin, stdout and stderr of the emulator, and the pipe for its exit code."""


class ForkedProcess:
    """One running emulator."""

    def __init__(self, pid: int, stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, status: int):
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._read_status(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; the exit code."""
        code = self._read_status(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("the emulator", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(os.read(self._status, 64))
            os.close(self._status)
        return self.returncode


class EmulatorForker:
    """Starts emulators. Use it as a context manager."""

    def __enter__(self) -> Self:
        self._socket, its_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(its_socket.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its_socket.fileno()],
            env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        its_socket.close()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._socket.close()
        self._process.wait()

    def start(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]
    ) -> ForkedProcess:
        """Start the emulator with pipes."""
        (its_stdin, stdin), (stdout, its_stdout), (stderr, its_stderr), (status, its_status) = (
            os.pipe() for _ in range(FDS)
        )
        theirs = [its_stdin, its_stdout, its_stderr, its_status]
        request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
        socket.send_fds(self._socket, [json.dumps(request).encode()], theirs)
        for fd in theirs:
            os.close(fd)
        pid = int(self._socket.recv(64))
        files = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb")
        return ForkedProcess(pid, *files, status)


def main(fd: str) -> None:
    from fairlead.emulator.process import program  # noqa: F401 - imported once, for all

    requests = socket.socket(fileno=int(fd))
    running: set[int] = set()
    while True:
        data, fds, _, _ = socket.recv_fds(requests, LONGEST_REQUEST, FDS)
        # Their CPU time counts for a process that waits for them.
        running -= {pid for pid in running if os.waitpid(pid, os.WNOHANG if data else 0)[0]}
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            _watch(requests, json.loads(data), fds)
        running.add(pid)
        for each in fds:
            os.close(each)


def _watch(requests: socket.socket, request: dict[str, object], fds: list[int]) -> NoReturn:
    """Start the emulator, and write its exit code when it has ended."""
    pid = os.fork()
    if pid == 0:
        requests.close()
        _become_emulator(request, fds)
    for fd in fds[:3]:
        os.close(fd)
    requests.send(str(pid).encode())
    requests.close()
    _, status = os.waitpid(pid, 0)
    os.write(fds[3], str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become_emulator(request: dict[str, object], fds: list[int]) -> NoReturn:
    from fairlead.emulator.__main__ import main as emulator

    for number, fd in enumerate(fds[:3]):
        os.dup2(fd, number)
    for fd in fds:
        os.close(fd)
    os.chdir(str(request["cwd"]))
    environment, arguments = request["env"], request["arguments"]
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()
    sys.argv[1:] = arguments
    try:
        sys.exit(emulator())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001 - as the interpreter would: to stderr
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
