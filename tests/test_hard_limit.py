"""A test that cannot be interrupted fails, and the tests after it run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(300)  # It starts pytest and its workers.

TESTS = """
import signal
import threading

import pytest

@pytest.mark.timeout(1)
def test_that_hangs():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threading.Event().wait()

@pytest.mark.parametrize("number", range(5))
def test_after_it(number):
    pass
"""


def test_a_test_that_its_timeout_cannot_end_is_ended_and_named(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(TESTS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.hard_limit", "-o", "grace=1"),
            *("-q", "-n", "1", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_hanging.py::test_that_hangs" in done.stdout
    assert "1 failed, 5 passed" in done.stdout
    assert "line 10 in test_that_hangs" in done.stderr
