"""The wrapper that takes the network away, tried for real in child processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fairlead.testing.isolated import REFUSED, can_isolate, isolated_command, outside_is_reachable

TIMEOUT_S = 60

LOOK_AROUND = """
import socket
from fairlead.testing.isolated import outside_is_reachable
with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname(), 5) as client:
        print("loopback", "outside" if outside_is_reachable() else "alone")
"""


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)


def test_an_isolated_command_has_loopback_and_nothing_else_where_the_kernel_allows_it() -> None:
    completed = run(isolated_command([sys.executable, "-c", LOOK_AROUND]))
    assert completed.returncode == 0
    if can_isolate():
        assert (completed.stdout, completed.stderr) == ("loopback alone\n", "")
    else:
        assert completed.stdout.startswith("loopback")
        assert "network isolation is not possible" in completed.stderr


def test_asking_whether_it_is_allowed_leaves_this_process_as_it_was() -> None:
    before = os.readlink("/proc/self/ns/net"), outside_is_reachable()
    can_isolate()
    assert (os.readlink("/proc/self/ns/net"), outside_is_reachable()) == before


def test_the_command_keeps_its_arguments_and_its_exit_code() -> None:
    script = "import sys; print(sys.argv[1:]); sys.exit(7)"
    completed = run(isolated_command([sys.executable, "-c", script, "--require", "a b"]))
    assert (completed.returncode, completed.stdout) == (7, "['--require', 'a b']\n")


def test_a_missing_command_is_reported() -> None:
    completed = run(isolated_command(["no-such-program"]))
    assert completed.returncode == 127
    assert "cannot run 'no-such-program'" in completed.stderr


def test_no_command_is_a_mistake_of_the_caller() -> None:
    completed = run(isolated_command([]))
    assert completed.returncode == 2
    assert "give a command" in completed.stderr


LIMIT = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
"""Leaves no namespace to give. Holds in a user namespace of its own: the machine is untouched."""


@pytest.mark.parametrize("flags", [[], ["--require"]], ids=["falls back", "refuses"])
def test_a_kernel_that_refuses_is_reported_and_nothing_is_left_half_done(flags: list[str]) -> None:
    wrapper = [sys.executable, "-m", "fairlead.testing.isolated", *flags, "--"]
    command = [*wrapper, sys.executable, "-c", "print('ran')"]
    if can_isolate():
        command = ["unshare", "--user", "--map-root-user", "sh", "-c", LIMIT, "sh", *command]
    completed = run(command)
    assert "network isolation is not possible" in completed.stderr
    assert (completed.returncode, completed.stdout) == ((REFUSED, "") if flags else (0, "ran\n"))
