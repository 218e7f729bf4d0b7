"""`fairlead SUBCOMMAND`: reads the arguments and calls the file of that name.

Each subcommand adds its own arguments and is imported only when it is used, so that `fairlead
--help` answers at once.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.metadata import version

from fairlead.errors import FairleadError

__all__ = ["main"]

SUBCOMMANDS = {
    "serve": "start the server and its web app",
    "run": "stream one prompt and print what comes of it",
    "chat": "hold a conversation in the terminal",
    "replay": "fold a recording and print the conversation",
    "discover": "list message types of the installed CLI that Fairlead does not know",
    "emulate": "stand in for `claude`, with its flags and no account",
    "doctor": "say what is installed and whether it works",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["emulate"]:
        # Its flags are those of another program, which argparse would not let through.
        return import_module("fairlead.commands.emulate").emulate(given[1:])  # type: ignore[no-any-return]
    parser = _parser(given)
    options = parser.parse_args(given)
    try:
        return int(options.run(options))
    except FairleadError as problem:
        print(f"fairlead: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser(given: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairlead", description="Host Claude Code: run it, watch it, answer it."
    )
    parser.add_argument("--version", action="version", version=f"fairlead {version('fairlead')}")
    commands = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND", required=True)
    wanted = next((word for word in given if not word.startswith("-")), None)
    for name, summary in SUBCOMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == wanted:
            module = import_module(f"fairlead.commands.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
