"""The server's own process: what other programs of the same user can read of it."""

from __future__ import annotations

import subprocess
import sys

from fairlead.server.hardening import warning_as_root

PROGRAM = """
import ctypes
from fairlead.server.hardening import hide_memory
PR_GET_DUMPABLE = 3
before = ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)
print(before, hide_memory(), ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
"""


def test_R13_the_servers_memory_and_environment_are_closed_to_others() -> None:
    if not sys.platform.startswith("linux"):
        return  # Elsewhere there is no such switch.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    # The system then gives /proc/PID/environ and ptrace of this process to root alone.
    assert done.stdout.split() == ["1", "True", "0"]


def test_R13_starting_the_server_as_root_prints_a_warning() -> None:
    assert "root" in warning_as_root(0)
    assert warning_as_root(1000) == ""
