"""Fresh links to the running server: `fairlead link`, and Enter in the terminal of `fairlead serve`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from fairlead.commands.serving.checks import default_data_folder
from fairlead.server.access.owner_channel import ask_for_link
from fairlead.server.access.roles import ROLES

__all__ = ["add_arguments", "link_at_enter", "run"]

BACKGROUND_S = 1.0
"""Interval at which a background server checks whether it is in the foreground again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead link`."""
    parser.add_argument("--data", type=Path, help="the data folder of the server")
    parser.add_argument(
        "--role", choices=ROLES, default="owner", help="the role of the device that uses the link"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the link; returns the exit code."""
    print(ask_for_link(arguments.data or default_data_folder(), arguments.role))
    return 0


@contextlib.contextmanager
def link_at_enter(show: Callable[[], None]) -> Iterator[bool]:
    """Call `show` for each typed line; yields whether there is a terminal."""
    stdin = sys.stdin
    if stdin is None or not stdin.isatty():
        yield False
        return
    loop, terminal = asyncio.get_running_loop(), stdin.fileno()

    def read_line() -> None:
        # Reading the terminal in the background would stop the whole process (SIGTTIN).
        if os.tcgetpgrp(terminal) != os.getpgrp():
            loop.remove_reader(terminal)
            loop.call_later(BACKGROUND_S, listen)
            return
        if os.read(terminal, 4096):
            show()
        else:  # Ctrl-D: the end of input.
            loop.remove_reader(terminal)

    def listen() -> None:
        if not ended:
            loop.add_reader(terminal, read_line)

    ended = False
    listen()
    try:
        yield True
    finally:
        ended = True
        loop.remove_reader(terminal)
