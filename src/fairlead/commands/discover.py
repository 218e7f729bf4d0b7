"""`fairlead discover`: names of the protocol in the installed CLI that Fairlead does not know.

Searches the executable for types of messages, and for subtypes of system messages, control
requests and results. The CLI need not ever send such a name; it is only a hint where to look.
"""

from __future__ import annotations

import argparse
import inspect
import mmap
import os
import re
from collections.abc import Iterable
from pathlib import Path

from fairlead.commands.console.terminal import Style
from fairlead.errors import UsageError
from fairlead.host import client, controls
from fairlead.host.options import agent
from fairlead.transcript.reducers.turns import OUTCOME_BY_SUBTYPE
from fairlead.wire import control, events, system

__all__ = ["add_arguments", "run"]

_NAME = rb'"([a-z][a-z_]{2,40})"'
_CALL = rb"[\w$.]{1,16}\("
"""A schema's literal after a minifier: `T("…")` or `u.literal("…")`."""

_TYPE = re.compile(rb"[{,]type:" + _NAME + rb",(?:subtype|uuid|session_id|message):")
_SYSTEM = (
    re.compile(rb'type:"system",subtype:' + _NAME),
    re.compile(rb"type:" + _CALL + rb'"system"\),subtype:' + _CALL + _NAME),
)
_REQUEST = (
    re.compile(rb"request\.subtype===" + _NAME),
    re.compile(rb"[{(]subtype:" + _CALL + _NAME + rb"\)"),
    re.compile(rb"request:\{subtype:" + _NAME),
)
_RESULT = (
    re.compile(rb'type:"result",subtype:' + _NAME),
    re.compile(rb"type:" + _CALL + rb'"result"\),subtype:' + _CALL + _NAME),
)
_RESULTS = re.compile(rb"type:" + _CALL + rb'"result"\),subtype:' + _CALL + rb"\[([^\]]{1,2000})\]")
_CONTROL_CALL = re.compile(r'control\(\s*"([a-z_]+)"')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead discover`."""
    parser.add_argument("--agent", default="claude", help="name or path of the CLI to search")


def run(arguments: argparse.Namespace) -> int:
    """Print the names; returns the exit code."""
    program = _program(agent.find(arguments.agent, os.environ.get("PATH")))
    style = Style()
    in_program = _names(program)
    for kind, names, known in (
        ("types", in_program["types"], _known_types()),
        ("system subtypes", in_program["system"], _known_system()),
        ("control request subtypes", in_program["requests"], _known_requests()),
        ("result subtypes", in_program["results"], _known_results()),
    ):
        new = sorted(names - known)
        print(style.bold(f"{kind}: {len(names)} in the program, {len(new)} unknown to Fairlead"))
        for name in new:
            print(f"  {name}")
    return 0


def _program(executable: str) -> Path:
    """The file with the code: a script's `cli.js`, or the executable itself."""
    path = Path(executable).resolve()
    candidates = [path.with_name("cli.js"), *path.parent.glob("**/claude-code/cli.js")]
    return next((candidate for candidate in candidates if candidate.is_file()), path)


def _names(program: Path) -> dict[str, set[str]]:
    try:
        with (
            program.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            literals = b",".join(_RESULTS.findall(text))
            results = _all(_RESULT, text) | _decoded(re.findall(_NAME, literals))
            return {
                "types": _decoded(_TYPE.findall(text)),
                "system": _all(_SYSTEM, text),
                # An answer to a request and the variants of a result are written the same way.
                "requests": _all(_REQUEST, text) - results - {"success", "error"},
                "results": results,
            }
    except (OSError, ValueError) as problem:
        raise UsageError(f"cannot read {program}: {problem}") from None


def _known_types() -> set[str]:
    members = (*events.Event.__args__, *control.Control.__args__)
    return {m.__struct_config__.tag for m in members} | {"system"}


def _known_system() -> set[str]:
    return {m.__struct_config__.tag for m in system.System.__args__}


def _known_requests() -> set[str]:
    """The requests of the CLI, and those of the host, which are calls in Fairlead's source."""
    cli_requests = {m.__struct_config__.tag for m in control.CliRequest.__args__}
    source = "".join(inspect.getsource(module) for module in (controls, client))
    return cli_requests | set(_CONTROL_CALL.findall(source)) | {"initialize", "interrupt"}


def _known_results() -> set[str]:
    return {"success", "error_during_execution", *OUTCOME_BY_SUBTYPE}


def _all(patterns: Iterable[re.Pattern[bytes]], text: mmap.mmap) -> set[str]:
    return {name for pattern in patterns for name in _decoded(pattern.findall(text))}


def _decoded(names: Iterable[bytes]) -> set[str]:
    return {name.decode() for name in names}
