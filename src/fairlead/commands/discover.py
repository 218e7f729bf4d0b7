"""`fairlead discover`: message types in the installed CLI that Fairlead does not know.

Reads the executable as text and looks for the names of types and subtypes in it. A name that is
found need not be one the CLI ever sends; it is a place to look.
"""

from __future__ import annotations

import argparse
import mmap
import os
import re
from pathlib import Path

from fairlead.commands.terminal import Style
from fairlead.errors import UsageError
from fairlead.host import agent
from fairlead.wire import control, events, system

__all__ = ["add_arguments", "run"]

_TYPE = re.compile(rb'[{,]type:"([a-z][a-z_]{2,40})",(?:subtype|uuid|session_id|message):')
_SUBTYPE = re.compile(rb'type:"system",subtype:"([a-z][a-z_]{2,40})"')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead discover`."""
    parser.add_argument("--agent", default="claude", help="name or path of the CLI to look into")


def run(arguments: argparse.Namespace) -> int:
    """Print the names; returns the exit code."""
    program = _program(agent.find(arguments.agent, os.environ.get("PATH")))
    style = Style()
    found = _names(program)
    for what, names, known in (
        ("types", found["types"], _known_types()),
        ("system subtypes", found["subtypes"], _known_subtypes()),
    ):
        new = sorted(names - known)
        print(style.bold(f"{what}: {len(names)} in the program, {len(new)} unknown to Fairlead"))
        for name in new:
            print(f"  {name}")
    return 0


def _program(executable: str) -> Path:
    """The file that holds the code: a script's `cli.js`, or the executable itself."""
    path = Path(executable).resolve()
    beside = [path.with_name("cli.js"), *path.parent.glob("**/claude-code/cli.js")]
    return next((candidate for candidate in beside if candidate.is_file()), path)


def _names(program: Path) -> dict[str, set[str]]:
    try:
        with (
            program.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            return {
                "types": {name.decode() for name in _TYPE.findall(text)},
                "subtypes": {name.decode() for name in _SUBTYPE.findall(text)},
            }
    except (OSError, ValueError) as problem:
        raise UsageError(f"cannot read {program}: {problem}") from None


def _known_types() -> set[str]:
    members = (*events.Event.__args__, *control.Control.__args__)
    return {m.__struct_config__.tag for m in members} | {"system"}


def _known_subtypes() -> set[str]:
    return {m.__struct_config__.tag for m in system.System.__args__}
