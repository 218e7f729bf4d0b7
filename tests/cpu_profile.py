"""A pytest plugin that measures the CPU time of every test, with all processes that it starts.

    pytest FOLDER -n 0 -p tests.cpu_profile --cpu-profile out.tsv
    python -m tests.cpu_profile out.tsv            the sums by folder and file, and the longest tests

Wall time depends on what else the machine does; CPU time hardly does. Each line of the file has a
test's wall time and its CPU time in setup, call and teardown. The CPU time is that of the worker
and of all its living and ended descendants, so it contains browsers and CLIs. What a shared
fixture costs is counted for the first test that uses it and for the last one. A background process
that no longer has a parent, such as a daemon, is not counted. Linux only.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

__all__ = ["Row", "cpu_of_tree", "main", "summary"]

PHASES = ("setup", "call", "teardown")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """The times of one test, in seconds."""

    test: str
    wall_s: float
    setup_s: float
    call_s: float
    teardown_s: float

    @property
    def cpu_s(self) -> float:
        return self.setup_s + self.call_s + self.teardown_s


def cpu_of_tree(root: int) -> float:
    """The CPU seconds of a process, its living descendants, and all that they have waited for."""
    ticks, waiting = 0, [root]
    while waiting:
        process = Path("/proc", str(waiting.pop()))
        try:
            # The name of the program stands in parentheses and can contain blanks.
            fields = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
            for thread in (process / "task").iterdir():
                waiting += map(int, (thread / "children").read_text("utf-8").split())
        except OSError:  # The process or the thread has ended.
            continue
    return ticks / TICKS_PER_S


class _Recorder:
    """Writes one line for each test."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cpu: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        began = time.monotonic()
        self._cpu = {}
        result = yield
        cpu = "\t".join(f"{self._cpu.get(phase, 0.0):.2f}" for phase in PHASES)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\t{time.monotonic() - began:.2f}\t{cpu}\n")
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        return (yield from self._measure("setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from self._measure("call"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        return (yield from self._measure("teardown"))

    def _measure(self, phase: str) -> Generator[None, object, object]:
        began = cpu_of_tree(os.getpid())
        try:
            return (yield)
        finally:
            # Less than nothing if a process ended for which its parent did not wait.
            self._cpu[phase] = max(0.0, cpu_of_tree(os.getpid()) - began)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-profile", metavar="FILE", help="write the CPU time of each test here")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--cpu-profile")
    if path:
        config.pluginmanager.register(_Recorder(Path(path).resolve()), "cpu-profile")


def summary(rows: Iterable[Row], *, longest: int) -> str:
    """The sums by folder and by file, largest first, and the tests that use the most CPU time."""
    everything = sorted(rows, key=lambda row: -row.cpu_s)
    lines: list[str] = []
    for title, level in (("folders", "folder"), ("files", "file"), ("functions", "function")):
        groups: dict[str, list[Row]] = defaultdict(list)
        for row in everything:
            groups[_group(row.test, level)].append(row)
        lines.append(f"{title}: CPU s, of it setup, wall s, tests")
        ranking = sorted(groups.items(), key=lambda pair: -sum(row.cpu_s for row in pair[1]))
        for name, members in ranking[:longest]:
            cpu, setup, wall = (
                sum(getattr(row, field) for row in members)
                for field in ("cpu_s", "setup_s", "wall_s")
            )
            lines.append(f"{cpu:8.1f} {setup:8.1f} {wall:8.1f} {len(members):5d}  {name}")
    total = sum(row.cpu_s for row in everything)
    lines.append(f"all {len(everything)} tests: {total:.0f} s of CPU time")
    return "\n".join(lines)


def _group(test: str, level: str) -> str:
    file = test.partition("::")[0]
    if level == "folder":
        return file.rpartition("/")[0]
    return file if level == "file" else test.partition("[")[0]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cpu_profile")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--longest", type=int, default=40, help="lines per table (default: 40)")
    arguments = parser.parse_args()
    rows = [
        Row(test, *map(float, numbers))
        for file in arguments.files
        for test, *numbers in (line.split("\t") for line in file.read_text("utf-8").splitlines())
    ]
    sys.stdout.write(summary(rows, longest=arguments.longest) + "\n")


if __name__ == "__main__":
    main()
