"""The limits of the benchmark's servers, with a real process; without the right to set them, it says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.server_load import limited_cores
from bench.server_load.limited_cores import LimitedCores, NoControlGroups

WAITING = "import sys; sys.stdin.read()"


def _groups_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cgroup").read_text()


def test_a_process_is_limited_until_it_ends_or_the_reason_is_given() -> None:
    process = subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE)
    try:
        before = _groups_of(process.pid)
        with LimitedCores(0.25) as cores:
            try:
                cores.limit(process.pid)
                limited = True
            except NoControlGroups:  # This user may not limit processes.
                limited = False
            assert ("/fairlead-bench-" in _groups_of(process.pid)) is limited
            assert limited or _groups_of(process.pid) == before
            process.communicate()
        assert not list(limited_cores.GROUPS.glob("**/fairlead-bench-*"))
    finally:
        process.kill()
        process.wait()


def test_without_a_share_nothing_is_limited() -> None:
    process = subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE)
    try:
        before = _groups_of(process.pid)
        with LimitedCores(0.0) as cores:
            cores.limit(process.pid)
            assert _groups_of(process.pid) == before
    finally:
        process.communicate()


def test_a_machine_without_control_groups_gets_the_reason(tmp_path: Path) -> None:
    with (
        LimitedCores(0.5, tmp_path / "none") as cores,
        pytest.raises(NoControlGroups, match="Run the benchmark as root"),
    ):
        cores.limit(1)
