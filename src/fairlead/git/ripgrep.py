"""Searches files with ripgrep, if it is installed.

ripgrep reads no configuration file here, follows no links and runs no other program. It gets the
folder as a descriptor, so that a folder that is moved to the same path is not searched.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys

from fairlead.git.errors import GitError

__all__ = ["find_ripgrep", "ripgrep"]

ARGUMENTS = (
    "--no-config", "--json", "--fixed-strings", "--smart-case", "--no-follow", "--no-messages",
    "--hidden", "--glob=!.git", "--no-require-git", "--max-count=50", "--max-filesize=2M",
    "--threads=2", "--sort=path",
)  # fmt: skip


def find_ripgrep() -> str | None:
    """The path of the program, or None."""
    return shutil.which("rg")


async def ripgrep(
    program: str, folder: int, path: str, text: str, *, limit: int, deadline_s: float
) -> bytes:
    """What ripgrep prints for a text, up to `limit` bytes and up to a deadline.

    `folder` is the descriptor of the folder; its `path` is used where the system has no /proc.
    """
    where = f"/proc/self/fd/{folder}" if sys.platform == "linux" else path
    process = await asyncio.create_subprocess_exec(
        program,
        *ARGUMENTS,
        "--regexp",
        text,
        "--",
        "./",
        cwd=where,
        env={name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    pieces: list[bytes] = []
    try:
        async with asyncio.timeout(deadline_s):
            while sum(map(len, pieces)) <= limit and (
                piece := await process.stdout.read(256 * 1024)
            ):
                pieces.append(piece)
    except TimeoutError:
        pass  # What it has found so far is useful.
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
    if code > 1 and not pieces:
        raise GitError("grep", "ripgrep failed")
    return b"".join(pieces)
