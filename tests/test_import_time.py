"""`import fairlead` is cheap, and so is all that a program needs to start."""

from __future__ import annotations

import subprocess
import sys

import fairlead

HEAVY = ("mcp", "pydantic", "tree_sitter", "pathspec", "sqlite3", "starlette", "rich", "email")

PROBE = """
import sys, time
began = time.process_time()
import fairlead
{use}
took = time.process_time() - began
print(took * 1000)
print([name for name in {heavy!r} if name in sys.modules])
"""


def probe(use: str) -> tuple[float, str]:
    program = PROBE.format(use=use, heavy=HEAVY)
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(3)
    ]
    return min(float(run[0]) for run in runs), runs[0][1]


def test_import_takes_under_150_milliseconds_of_cpu() -> None:
    milliseconds, _ = probe("")
    assert milliseconds < 150


def test_the_whole_session_loads_nothing_heavy() -> None:
    _, heavy = probe("fairlead.Session, fairlead.Options, fairlead.tool")
    assert heavy == "[]"


def test_every_public_name_can_be_loaded() -> None:
    for name in fairlead.__all__:
        assert getattr(fairlead, name) is not None
    assert sorted(fairlead.__all__) == sorted(set(fairlead.__all__))
    assert set(fairlead.__all__) <= set(dir(fairlead))
