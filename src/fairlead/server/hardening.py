"""How `fairlead serve` protects its own process before it listens."""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["hide_memory", "warning_as_root"]

_PR_SET_DUMPABLE = 4


def hide_memory() -> bool:
    """Hide this process's memory and environment from other programs; False if that fails.

    Linux only. A program that the CLI starts runs as the same user and could otherwise read tokens
    and variables in /proc. It also disables core dumps. Child processes are not affected.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return False
    return int(prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)) == 0


def warning_as_root(user: int | None = None) -> str:
    """A warning for a server that is started as root; empty for other users."""
    if (os.geteuid() if user is None else user) != 0:
        return ""
    return (
        "started as root: every approved command can change the whole machine. Use a regular user"
    )
