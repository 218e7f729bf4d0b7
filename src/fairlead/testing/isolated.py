"""Run a command in a network namespace that has nothing but loopback.

    python -m fairlead.testing.isolated -- pytest tests/e2e/real_cli

The command and all its children can reach each other on 127.0.0.1 and nothing else, so a CLI under
test cannot connect to any other host. Linux only; it needs no other tool and, if the kernel lets
users create namespaces, no privilege. If isolation is not possible, the command runs without it,
after a message on stderr; with `--require` it does not run (exit 3).

The model API must be in the same namespace, so whole test runs are wrapped and not single CLIs.
Real CLIs must be fetched before (`real_cli`).
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fairlead.interrupts import end_on_interrupt

__all__ = ["can_isolate", "enter", "isolated_command", "main", "outside_is_reachable"]

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
"""Numbers of the Linux kernel's interface (linux/sched.h, linux/sockios.h, linux/if.h)."""

REFUSED = 3
"""Exit code of `--require` and `--check` if isolation is not possible."""

UNUSED_ADDRESS = ("192.0.2.1", 9)
"""An address reserved for documentation: routed if any outside address is, and used by no host."""

CHECK_TIMEOUT_S = 30.0


def isolated_command(argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` isolated."""
    return [sys.executable, "-m", "fairlead.testing.isolated", "--", *argv]


def can_isolate() -> bool:
    """Whether isolation is possible on this machine."""
    return _refusal() is None


def _refusal() -> str | None:
    """Why isolation is not possible. Tried in a child, because it cannot be undone."""
    command = [sys.executable, "-m", "fairlead.testing.isolated", "--check"]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S)
    return None if completed.returncode == 0 else completed.stderr.strip()


def outside_is_reachable() -> bool:
    """Whether there is a route to other hosts; checks the routing table and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(UNUSED_ADDRESS)
        except OSError as error:
            if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
                return False
            raise
    return True


def enter() -> None:
    """Move this process into a fresh network namespace with loopback up; `OSError` if refused."""
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, "network namespaces exist on Linux only")
    try:
        _unshare(CLONE_NEWNET)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        _unshare(CLONE_NEWUSER | CLONE_NEWNET)
        _map_ids(user, group)
    _bring_loopback_up()


def _unshare(flags: int) -> None:
    # os.unshare came with Python 3.12.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(ctypes.c_int(flags)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _map_ids(user: int, group: int) -> None:
    """Keep the user and group ids inside the user namespace, so that files keep their owner."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        _, flags = struct.unpack("16sh22x", fcntl.ioctl(control, SIOCGIFFLAGS, request))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


def main(argv: Sequence[str] | None = None) -> int:
    """Enter the namespace and execute the command."""
    parser = argparse.ArgumentParser(prog="python -m fairlead.testing.isolated")
    parser.add_argument("--require", action="store_true", help="do not run without isolation")
    parser.add_argument(
        "--check", action="store_true", help="only check whether isolation is possible"
    )
    parser.add_argument("command", nargs="*", help="after --, the command and its arguments")
    arguments = parser.parse_args(argv)
    end_on_interrupt()
    if not arguments.command and not arguments.check:
        parser.error("give a command after --")
    if arguments.check:
        return _check()
    refusal = _refusal()
    if refusal is None:
        enter()
    elif arguments.require:
        sys.stderr.write(f"fairlead: network isolation is not possible: {refusal}\n")
        return REFUSED
    else:
        sys.stderr.write(
            f"fairlead: network isolation is not possible ({refusal}); "
            "the command runs with the network of this machine.\n"
        )
    sys.stderr.flush()
    try:
        os.execvp(arguments.command[0], arguments.command)
    except OSError as error:
        sys.stderr.write(f"fairlead: cannot run {arguments.command[0]!r}: {error.strerror}.\n")
        return 127


def _check() -> int:
    try:
        enter()
    except OSError as error:
        sys.stderr.write(f"{error.strerror}\n")
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
