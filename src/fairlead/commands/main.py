"""`fairlead SUBCOMMAND`: reads the arguments and calls the file of that name.

Each subcommand adds its own arguments and is imported only when it is used, so that `fairlead
--help` answers at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from fairlead.commands.agents import explain_not_found
from fairlead.errors import AgentNotFound, FairleadError
from fairlead.interrupts import end_on_interrupt
from fairlead.server.memory.deferred_modules import defer_modules
from fairlead.version import VERSION

__all__ = ["main"]

SUBCOMMANDS = {
    "serve": "start the server and its web app",
    "link": "print a fresh link to the running server",
    "gateway": "serve browsers for many machines, and run the bus that connects them",
    "node": "serve this machine as part of a fleet; `node join LINK` joins one",
    "fleet": "invite, list, drain, check and remove the machines of a fleet",
    "run": "send one prompt and stream the answer",
    "chat": "chat in the terminal",
    "replay": "print a recording as a conversation",
    "discover": "list message types of the installed CLI that Fairlead does not know",
    "emulate": "emulate `claude`: same flags, scripted model, no account",
    "limits": "show the usage limits of the accounts",
    "doctor": "check the installation",
}

MODULES = {"gateway": "fleet.gateway", "node": "fleet.node", "fleet": "fleet.fleet"}
"""Subcommands whose module has another name."""

SERVERS = ("serve", "gateway", "node")
"""Subcommands that run for a long time, so that their memory counts."""

USAGE = 2
"""The exit code of most usage errors; those of the data folder differ (docs/store.md)."""

BROKEN_PIPE = 128 + 13
"""The exit code that a shell reports for a program that SIGPIPE ended, as it does `yes | head`."""


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand; returns the exit code."""
    argv = sys.argv[1:] if arguments is None else arguments
    end_on_interrupt()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Models may write any character; one that the terminal's encoding lacks is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(argv)
        finally:
            if sys.stdout is not None:  # Closed by `>&-`.
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed the pipe. Python flushes once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return 130


def _run(argv: list[str]) -> int:
    if argv[:1] == ["emulate"]:
        # Its flags are those of another program, which argparse would reject.
        return import_module("fairlead.commands.emulate").emulate(argv[1:])  # type: ignore[no-any-return]
    options = _parser(argv).parse_args(argv)
    try:
        return int(options.run(options))
    except AgentNotFound as problem:
        return _failed(explain_not_found(problem))
    except FairleadError as problem:
        return _failed(str(problem), getattr(problem, "exit_code", USAGE))
    except BrokenPipeError:
        raise
    except OSError as problem:
        # A file or folder that cannot be used, or a full disk: a traceback would not help.
        if problem.filename is None:
            raise
        return _failed(f"{problem.filename}: {problem.strerror}")


def _failed(message: str, code: int = USAGE) -> int:
    print(f"fairlead: {message}", file=sys.stderr)
    return code


def _parser(argv: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairlead", description="Host Claude Code: run it, watch it, answer it."
    )
    parser.add_argument("--version", action="version", version=f"fairlead {VERSION}")
    commands = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND", required=True)
    selected = next((argument for argument in argv if not argument.startswith("-")), None)
    for name, summary in SUBCOMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        if name == selected:
            if name in SERVERS:
                defer_modules()
            module = import_module(f"fairlead.commands.{MODULES.get(name, name)}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
