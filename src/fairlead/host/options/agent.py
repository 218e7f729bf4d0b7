"""Which executable is the agent, which version it is, and whether the user is logged in.

Running `--version` takes up to a second, so the result is cached until the file changes. This
module reads the file system and runs `--version` and `auth status`. It never reads credentials.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import TypeAlias

from fairlead.errors import AgentNotFound, ProcessError
from fairlead.wire.versions import Feature, Version

__all__ = [
    "DEMO",
    "Program",
    "command",
    "demo_environment",
    "find",
    "is_logged_in",
    "version_of",
]

ANSWER_TIMEOUT_S = 30.0
"""A cold Node start on a busy machine has taken eleven seconds (CLI-111)."""

Program: TypeAlias = tuple[str, ...]

DEMO = "demo"
"""The emulator that comes with Fairlead, as an agent."""

_versions: dict[tuple[str | int, ...], Version] = {}


def command(agent: str, path: str | None) -> Program:
    """The command that starts an agent, given its name or its path."""
    if agent == DEMO:
        return (sys.executable, "-m", "fairlead.emulator")
    return (find(agent, path),)


def find(agent: str, path: str | None) -> str:
    """The absolute path of an executable, given its name or its path."""
    # Imported here, because they import three compression libraries and the parsers of URLs.
    import shutil
    from pathlib import Path

    if os.sep in agent:
        candidate = Path(agent).expanduser()
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
        raise AgentNotFound(agent)
    executable = shutil.which(agent, path=path)
    if executable is None:
        raise AgentNotFound(agent)
    return str(Path(executable).absolute())


def demo_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Adds what the emulator needs: its import path, and a folder for its own sessions.

    Its sessions must not be listed with those of the real CLI.
    """
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = env.get("PYTHONPATH")
    cache = env.get("XDG_CACHE_HOME") or os.path.join(env.get("HOME") or "~", ".cache")
    config = os.path.expanduser(os.path.join(cache, "fairlead", "demo"))
    return {
        "CLAUDE_CONFIG_DIR": config,
        **env,
        "PYTHONPATH": f"{source}{os.pathsep}{path}" if path else source,
    }


async def version_of(executable: str | Program, env: Mapping[str, str]) -> Version:
    """The version that an agent reports."""
    program = (executable,) if isinstance(executable, str) else executable
    status = os.stat(program[0])
    stamp = (status.st_mtime_ns, status.st_size)
    key: tuple[str | int, ...] = (*program, *stamp, env.get("FAIRLEAD_EMULATE", ""))
    if key not in _versions:
        _versions[key] = await _ask(program, env)
    return _versions[key]


async def is_logged_in(executable: str, version: Version, env: Mapping[str, str]) -> bool | None:
    """Whether the user is logged in; None if this CLI cannot report it."""
    if not version.has(Feature.AUTH_STATUS):
        return None
    output, _ = await _answer((executable,), ("auth", "status"), env)
    try:
        status = json.loads(output)
    except ValueError:
        return None
    logged_in = status.get("loggedIn") if isinstance(status, dict) else None
    return logged_in if isinstance(logged_in, bool) else None


async def _ask(program: Program, env: Mapping[str, str]) -> Version:
    text, stderr = await _answer(program, ("--version",), env)
    version = Version.parse(text)
    if version is None:
        answer = text or stderr or "nothing"
        raise ProcessError(
            f"{program[0]!r} is not a Claude CLI: --version printed {answer[:200]!r}"
        )
    return version


async def _answer(
    program: Program, arguments: tuple[str, ...], env: Mapping[str, str]
) -> tuple[str, str]:
    """The output on stdout and stderr of the program with these arguments."""
    try:
        child = await asyncio.create_subprocess_exec(
            *program,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
        )
    except OSError as problem:
        raise ProcessError(f"cannot start {program[0]!r}: {problem.strerror}") from None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            output, stderr = await child.communicate()
    except TimeoutError:
        raise ProcessError(
            f"{program[0]!r} did not answer {' '.join(arguments)} within {ANSWER_TIMEOUT_S:g} s"
        ) from None
    finally:
        if child.returncode is None:  # Timed out, or the caller was cancelled.
            child.kill()
            await asyncio.shield(child.wait())
    return output.decode(errors="replace").strip(), stderr.decode(errors="replace").strip()
