"""`fairlead doctor`: what is installed, which version, and whether Fairlead can work with it."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import sqlite3
import sys

from fairlead.commands.terminal import Style
from fairlead.errors import FairleadError
from fairlead.host import agent
from fairlead.wire.versions import NEWEST_MEASURED, OLDEST, Version

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead doctor`."""
    parser.add_argument("--agent", default="claude", help="name or path of the CLI to look at")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; the exit code is 1 if something is in the way."""
    style = Style()
    findings = [*_machine(), *asyncio.run(_cli(arguments.agent))]
    for good, words in findings:
        print(f"{style.good('✓') if good else style.bad('✗')} {words}")
    return 0 if all(good for good, _ in findings) else 1


def _machine() -> list[tuple[bool, str]]:
    return [
        (sys.version_info >= (3, 11), f"Python {platform.python_version()}"),
        (os.name == "posix", f"{platform.system()} {platform.release()}"),
        (True, f"SQLite {sqlite3.sqlite_version}"),
        (shutil.which("git") is not None, "git" if shutil.which("git") else "git is not on PATH"),
    ]


async def _cli(name: str) -> list[tuple[bool, str]]:
    try:
        executable = agent.find(name, os.environ.get("PATH"))
        version = await agent.version_of(executable, os.environ)
        logged_in = await agent.is_logged_in(executable, version, os.environ)
    except FairleadError as problem:
        return [(False, str(problem))]
    findings = [(version >= OLDEST, f"{executable}: {_judge(version)}")]
    if logged_in is False:
        findings.append((False, f"not logged in: start `{name}` in a terminal and say /login"))
    elif logged_in:
        findings.append((True, "logged in"))
    return findings


def _judge(version: Version) -> str:
    if version < OLDEST:
        return f"{version} is older than {OLDEST}, which Fairlead needs at least"
    if version > NEWEST_MEASURED:
        return f"{version}, newer than {NEWEST_MEASURED}, the newest that was measured"
    return f"{version}"
