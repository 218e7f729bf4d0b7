"""A server runs on uvloop, and on asyncio's own loop where there is no uvloop."""

from __future__ import annotations

import signal
import subprocess
import sys

PROGRAM = """
import asyncio, sys
{before}
from fairlead.server.event_loop import run
async def name():
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]
print(run(name()))
"""


def _loop_of(before: str) -> str:
    program = PROGRAM.format(before=before)
    completed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    return completed.stdout.strip()


def test_a_server_runs_on_uvloop() -> None:
    assert _loop_of("") == "uvloop"


def test_a_server_runs_without_uvloop() -> None:
    assert _loop_of('sys.modules["uvloop"] = None') == "asyncio"


def test_B138_a_crash_shows_what_every_thread_was_doing() -> None:
    program = """
import signal
from fairlead.server.event_loop import run
async def crashing():
    signal.raise_signal(signal.SIGSEGV)
run(crashing())
"""
    crashed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert crashed.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in crashed.stderr
    assert "in crashing" in crashed.stderr


def test_B138_a_server_runs_without_stderr() -> None:
    assert _loop_of("sys.stderr = None") == "uvloop"
