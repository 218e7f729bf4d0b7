"""Child processes as the system reports them: whether they run, and what is in their stdout."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from pathlib import Path

__all__ = ["CHUNK_BYTES", "alive", "in_pipe", "is_full"]

F_GETPIPE_SZ = 1032
CHUNK_BYTES = 256 * 1024
"""What asyncio reads of a pipe at most at once."""


def alive(pid: int) -> bool:
    """Whether a process is there, and not just waiting to be buried."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def in_pipe(pid: int) -> tuple[int, int]:
    """How many bytes of a program's stdout are unread, and how many there can be."""
    pipe = os.open(f"/proc/{pid}/fd/1", os.O_RDONLY | os.O_NONBLOCK)
    try:
        waiting = fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0))
        return struct.unpack("i", waiting)[0], fcntl.fcntl(pipe, F_GETPIPE_SZ)
    finally:
        os.close(pipe)


def is_full(pid: int | None) -> bool:
    """Whether a program waits at its pipe: a line that does not fit into a page begins another."""
    waiting, room = in_pipe(pid or 0)
    return waiting > room * 0.85
