"""The program that the server starts as its CLI: hands its pipes to the process of the agents.

    python pipe_handover.py SOCKET [whatever a host puts on a CLI's command line]

Two hundred Python children would take the memory and the processor time that are to be measured.
So this one sends its stdin and stdout through SOCKET to the one process that plays all agents,
and turns into `cat`, which ends when that process lets go of the connection. Runs by itself.
"""

from __future__ import annotations

import os
import socket
import sys

__all__ = ["VERSION"]

VERSION = "2.1.325"
"""The CLI whose shapes `bench.traffic` writes."""


def main() -> None:
    """Hand the pipes over, and become `cat`."""
    path, *arguments = sys.argv[1:]
    if "--version" in arguments or "-v" in arguments:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return
    if arguments == ["auth", "status"]:
        sys.stdout.write('{"loggedIn": true}\n')
        return
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(path)
    socket.send_fds(
        line, [b"\0".join(os.fsencode(argument) for argument in arguments) + b"\n"], [0, 1]
    )
    os.dup2(line.fileno(), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp("cat", ["cat"])


if __name__ == "__main__":
    main()
