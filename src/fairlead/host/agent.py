"""Which executable is the agent, and which version it is.

Asking a CLI for its version costs up to a second, so the answer is kept for as long as the
file stays the same. Touches the file system and starts `--version`; nothing else.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from fairlead.errors import AgentNotFound, ProcessError
from fairlead.wire.versions import Version

__all__ = ["find", "version_of"]

VERSION_TIMEOUT_S = 30.0
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


async def _ask(executable: str, env: Mapping[str, str]) -> Version:
    try:
        child = await asyncio.create_subprocess_exec(
            executable,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
        )
    except OSError as problem:
        raise ProcessError(f"cannot start {executable!r}: {problem.strerror}") from None
    try:
        async with asyncio.timeout(VERSION_TIMEOUT_S):
            output, complaint = await child.communicate()
    except TimeoutError:
        child.kill()
        await child.wait()
        raise ProcessError(
            f"{executable!r} did not tell its version within {VERSION_TIMEOUT_S:g} s"
        ) from None
    text = output.decode(errors="replace").strip()
    version = Version.parse(text)
    if version is None:
        said = text or complaint.decode(errors="replace").strip() or "nothing"
        raise ProcessError(f"{executable!r} is not a Claude CLI: --version said {said[:200]!r}")
    return version
