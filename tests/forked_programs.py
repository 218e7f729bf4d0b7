"""Programs as forks of one process that has imported them, for tests that start them very often.

    subprocess.run([*program("fairlead.commands.main"), "doctor"], …)
    write_program(folder / "bin" / "claude", "fairlead.emulator", {"FAIRLEAD_SCRIPT": …})

To import the emulator or a command takes more CPU time than most tests of it. What runs is the whole
program, with its own arguments, environment, folder and standard streams. The process that a test
or a host starts, signals and waits for is `forked_stub.py`. The program is not its child: it has a
session of its own, takes a terminal on its standard input as its own, and is killed with its process
group when the stub is killed. Tests of processes or of the start itself start the program with Python.

The process that forks is started with the first program and ends with the tests:

    python -m tests.forked_programs SOCKET
"""

from __future__ import annotations

import ast
import atexit
import fcntl
import functools
import importlib
import importlib.util
import os
import random
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

__all__ = ["program", "write_program"]

STUB = Path(__file__).with_name("forked_stub.py")
STREAMS = 3
LONGEST_REQUEST = 1024 * 1024

PRELOADED = (
    "fairlead.emulator.process.program",
    "fairlead.commands.run",
    "fairlead.commands.serve",
)
"""What the programs import when they start."""


def program(module: str) -> list[str]:
    """The first words of a command that runs a module as `python -m` does."""
    return [sys.executable, "-IS", str(STUB), _forker(), module]


def write_program(path: Path, module: str, environment: Mapping[str, str]) -> Path:
    """Write an executable file that runs a module with these variables set."""
    lines = ["#!/bin/sh"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    lines.append(f'exec {shlex.join(program(module))} "$@"')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@functools.cache
def _forker() -> str:
    """The socket of the process that forks, which is started here."""
    folder = tempfile.mkdtemp(prefix="fork-")
    path = f"{folder}/s"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(path)
    listening.listen(64)
    ends, its_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(listening.fileno()), str(ends)],
        stdin=subprocess.DEVNULL,
        pass_fds=[listening.fileno(), ends],
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,
    )
    listening.close()
    os.close(ends)

    def end() -> None:
        os.close(its_end)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return path


def main(listening: str, ends: str) -> None:
    """Fork for each connection until the tests end."""
    for module in PRELOADED:
        importlib.import_module(module)
    server = socket.socket(fileno=int(listening))
    running: set[int] = set()
    while True:
        ready = select.select([server.fileno(), int(ends)], [], [])[0]
        running -= {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]}
        if int(ends) in ready:  # Nothing is ever written: the process of the tests has ended.
            return
        connection, _ = server.accept()
        pid = os.fork()
        if pid == 0:
            server.close()
            os.close(int(ends))
            _watch(connection)
        running.add(pid)
        connection.close()


def _watch(connection: socket.socket) -> NoReturn:
    """Start the program, pass signals on to it, and say how it ended."""
    data, streams, _, _ = socket.recv_fds(connection, LONGEST_REQUEST, STREAMS)
    if not data:
        os._exit(1)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(streams, *ast.literal_eval(data.decode()))
    for fd in streams:
        os.close(fd)
    ended = os.pidfd_open(pid)
    while ended not in select.select([connection.fileno(), ended], [], [])[0]:
        number = connection.recv(LONGEST_REQUEST)
        if not number:  # The stub was killed.
            os.killpg(pid, signal.SIGKILL)
            break
        os.kill(pid, int(number))
    _, status = os.waitpid(pid, 0)
    try:
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    except BrokenPipeError:
        pass
    os._exit(0)


def _become(
    streams: list[int],
    module: str,
    arguments: list[str],
    folder: str,
    environment: dict[bytes, bytes],
) -> NoReturn:
    """Run the program in this process."""
    os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # So that Ctrl-C becomes a signal.
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    time.tzset()
    random.seed()
    sys.argv = [module, *arguments]
    try:
        sys.exit(importlib.import_module(_main_module(module)).main())
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001 - as the interpreter would: to stderr
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _main_module(module: str) -> str:
    """Where the function `main` of a module or of a package is."""
    found = importlib.util.find_spec(module)
    assert found is not None
    return f"{module}.__main__" if found.submodule_search_locations is not None else module


if __name__ == "__main__":
    main(*sys.argv[1:])
