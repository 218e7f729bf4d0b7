"""Which executable is the agent, which version it is, and whether somebody is logged in.

Asking a CLI for its version costs up to a second, so the answer is kept for as long as the
file stays the same. Touches the file system and starts `--version` and `auth status`; nothing
else, and credentials never: only the CLI itself knows about those.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from fairlead.errors import AgentNotFound, ProcessError
from fairlead.wire.versions import Feature, Version

__all__ = ["find", "is_logged_in", "version_of"]

ANSWER_TIMEOUT_S = 30.0
"""A cold Node start on a busy machine has taken eleven seconds (TRUTH 1.1)."""

_known: dict[tuple[str, int, int], Version] = {}


def find(agent: str, path: str | None) -> str:
    """The absolute path of an executable, given its name or its path."""
    if os.sep in agent:
        candidate = Path(agent).expanduser()
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
        raise AgentNotFound(agent)
    found = shutil.which(agent, path=path)
    if found is None:
        raise AgentNotFound(agent)
    return str(Path(found).absolute())


async def version_of(executable: str, env: Mapping[str, str]) -> Version:
    """The version that an executable says it has."""
    facts = os.stat(executable)
    key = (executable, facts.st_mtime_ns, facts.st_size)
    if key not in _known:
        _known[key] = await _ask(executable, env)
    return _known[key]


async def is_logged_in(executable: str, version: Version, env: Mapping[str, str]) -> bool | None:
    """Whether the CLI could talk to its model; None where it cannot be asked."""
    if not version.has(Feature.AUTH_STATUS):
        return None
    output, _ = await _answer(executable, ("auth", "status"), env)
    try:
        told = json.loads(output)
    except ValueError:
        return None
    found = told.get("loggedIn") if isinstance(told, dict) else None
    return found if isinstance(found, bool) else None


async def _ask(executable: str, env: Mapping[str, str]) -> Version:
    text, complaint = await _answer(executable, ("--version",), env)
    version = Version.parse(text)
    if version is None:
        said = text or complaint or "nothing"
        raise ProcessError(f"{executable!r} is not a Claude CLI: --version said {said[:200]!r}")
    return version


async def _answer(
    executable: str, arguments: tuple[str, ...], env: Mapping[str, str]
) -> tuple[str, str]:
    """What it prints, and what it complains of, when it is started with these arguments."""
    try:
        child = await asyncio.create_subprocess_exec(
            executable,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
        )
    except OSError as problem:
        raise ProcessError(f"cannot start {executable!r}: {problem.strerror}") from None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            output, complaint = await child.communicate()
    except TimeoutError:
        raise ProcessError(
            f"{executable!r} did not answer {' '.join(arguments)} within {ANSWER_TIMEOUT_S:g} s"
        ) from None
    finally:
        if child.returncode is None:  # Timed out, or whoever asked has gone.
            child.kill()
            await asyncio.shield(child.wait())
    return output.decode(errors="replace").strip(), complaint.decode(errors="replace").strip()
