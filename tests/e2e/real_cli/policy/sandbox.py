"""Runs a CLI so that nothing it executes can change anything but its own home folder.

    python -m tests.e2e.real_cli.policy.sandbox HOME READ_ONLY… -- claude …

A call that the CLI allows is executed. Two measures keep this harmless, and neither of them changes
a decision: the whole file system is mounted read-only except HOME (a mount namespace of its own),
and the CLI's shell (`SHELL`) is a program that does nothing. Files below HOME that must not change
either, such as the settings, are named as READ_ONLY. Linux only, like `fairlead.testing.isolated`.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

__all__ = ["IDLE_SHELL", "sandboxed"]

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
"""Numbers of the Linux kernel's interface (linux/sched.h, linux/mount.h)."""

IDLE_SHELL = "#!/bin/sh\nexit 0\n"
"""The shell of the CLI under test: accepts every command and runs none."""


def sandboxed(command: list[str], home: Path, read_only: list[Path]) -> list[str]:
    """The command line that runs `command` in the sandbox."""
    names = [str(path) for path in read_only]
    return [sys.executable, "-I", __file__, str(home), *names, "--", *command]


def enter(home: str, read_only: list[str]) -> None:
    """Move this process into the sandbox; OSError if the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        _check(libc.unshare(CLONE_NEWNS))
    else:
        _check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    for path in (home, *read_only):
        _check(libc.mount(path.encode(), path.encode(), None, MS_BIND, None))
    _set_read_only(libc, "/", recursive=True)
    _set_read_only(libc, home, clear=True)


def _set_read_only(
    libc: ctypes.CDLL, path: str, *, recursive: bool = False, clear: bool = False
) -> None:
    wanted = (0, MOUNT_ATTR_RDONLY) if clear else (MOUNT_ATTR_RDONLY, 0)
    attributes = struct.pack("QQQQ", *wanted, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    _check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, path.encode(), flags, attributes, len(attributes)))


def _check(code: int) -> None:
    if code != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


if __name__ == "__main__":
    separator = sys.argv.index("--")
    enter(sys.argv[1], sys.argv[2:separator])
    os.execv(sys.argv[separator + 1], sys.argv[separator + 1 :])
