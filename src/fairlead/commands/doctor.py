"""`fairlead doctor`: what is installed, in which version, and whether Fairlead supports it."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path

from fairlead.commands.agents import DEMO, demo_agent, explain_not_found
from fairlead.commands.console.terminal import Style
from fairlead.commands.serving.checks import default_data_folder
from fairlead.commands.serving.profile_checks import check_profiles
from fairlead.commands.serving.public_check import check_public_url
from fairlead.commands.serving.settings import read_settings
from fairlead.errors import AgentNotFound, FairleadError, UsageError
from fairlead.host.options import agent
from fairlead.server.notices.channel_check import check_channels
from fairlead.server.notices.push_check import check_push
from fairlead.wire.versions import NEWEST_MEASURED, OLDEST, Version

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead doctor`."""
    parser.add_argument(
        "--agent", default="claude", help="claude, demo, or the path of a CLI to check"
    )
    parser.add_argument("--data", type=Path, help="the data folder of the server to check")
    parser.add_argument(
        "--public-url",
        metavar="URL",
        help="check the proxy at this address (default: the one in serve.toml)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; the exit code is 1 if there is a problem."""
    style = Style()
    data = arguments.data or default_data_folder()
    findings = [
        *_machine(),
        *asyncio.run(_cli(arguments.agent)),
        *asyncio.run(check_profiles(arguments.agent, data)),
        *check_push(data),
        *check_channels(data),
        *_public(arguments.public_url, data),
    ]
    for is_ok, text in findings:
        print(f"{style.good('✓') if is_ok else style.bad('✗')} {text}")
    return 0 if all(is_ok for is_ok, _ in findings) else 1


def _public(url: str | None, data: Path) -> list[tuple[bool, str]]:
    if url is None:
        try:
            url = read_settings(data).public_url
        except UsageError:
            return []  # The check of the profiles reports what is wrong with the file.
    return asyncio.run(check_public_url(url, data)) if url is not None else []


def _machine() -> list[tuple[bool, str]]:
    return [
        (sys.version_info >= (3, 11), f"Python {platform.python_version()}"),
        (os.name == "posix", f"{platform.system()} {platform.release()}"),
        (True, f"SQLite {sqlite3.sqlite_version}"),
        (shutil.which("git") is not None, "git" if shutil.which("git") else "git is not on PATH"),
    ]


async def _cli(name: str) -> list[tuple[bool, str]]:
    if name == DEMO:
        with demo_agent() as demo:
            findings = await _check_cli(demo.options["agent"], demo.options["env"])
            return [(is_ok, f"the demo agent: {text}") for is_ok, text in findings[:1]]
    return await _check_cli(name, os.environ)


async def _check_cli(name: str, env: Mapping[str, str]) -> list[tuple[bool, str]]:
    try:
        executable = agent.find(name, env.get("PATH"))
        version = await agent.version_of(executable, env)
        logged_in = await agent.is_logged_in(executable, version, env)
    except AgentNotFound as problem:
        return [(False, explain_not_found(problem))]
    except FairleadError as problem:
        return [(False, str(problem))]
    findings = [(version >= OLDEST, f"{executable}: {_describe_version(version)}")]
    if logged_in is False:
        findings.append((False, f"not logged in: run `{name}` and type /login"))
    elif logged_in:
        findings.append((True, "logged in"))
    return findings


def _describe_version(version: Version) -> str:
    if version < OLDEST:
        return f"{version} is older than {OLDEST}, the oldest version that Fairlead supports"
    if version > NEWEST_MEASURED:
        return f"{version}, newer than {NEWEST_MEASURED}, the newest tested version"
    return f"{version}"
