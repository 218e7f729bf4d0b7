"""What a comparison measures: each scenario runs one tree once and returns its figures.

Less is better in every figure. All figures but the delays and round trips are CPU time.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import measurement, rounds, traffic
from bench.compare import lockstep, one_session
from bench.compare.trees import ROOT, Tree
from bench.flood import VERSION
from bench.server_load.load import Plan, run
from bench.traffic import Traffic

__all__ = ["SCENARIOS", "Figures", "Scenario", "Sizes"]

Figures = dict[str, float]

_IMPORT = """
import time
began = time.process_time()
import fairlead
fairlead.Session
print(time.process_time() - began)
"""


LOCKSTEP = lockstep.Plan()
LOAD = Plan(sessions=40, sockets=100, seconds=10.0, warm_s=2.0, idle_s=1.0, askers=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much each scenario runs."""

    imports: int = 5
    deltas: int = 50_000
    steps: int = 400
    flood: int = 20_000
    delayed: int = 300
    load: Plan = LOAD
    lockstep: lockstep.Plan = LOCKSTEP


QUICK = Sizes(
    imports=1,
    deltas=500,
    steps=5,
    flood=500,
    delayed=10,
    load=Plan(sessions=3, sockets=9, seconds=1.0, warm_s=0.3, idle_s=0.1, askers=2, actors=2),
    lockstep=lockstep.Plan(sessions=2, sockets=4, lines=10, warm=5, at_once=2),
)
CI = Sizes(
    imports=5,
    deltas=20_000,
    steps=150,
    flood=10_000,
    delayed=100,
    load=Plan(sessions=20, sockets=50, seconds=5.0, warm_s=1.0, idle_s=0.5, askers=2, actors=4),
    lockstep=lockstep.Plan(sessions=20, sockets=50, lines=120, at_once=20),
)

Scenario = Callable[[Tree, Sizes, Path], Figures]


def importing(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """`import fairlead`, with everything that a session needs at once."""
    taken = []
    for _ in range(sizes.imports):
        completed = subprocess.run(
            [sys.executable, "-c", _IMPORT],
            env=_environment(tree, folder),
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        taken.append(float(completed.stdout))
    return {"import fairlead, ms": 1e3 * min(taken)}


def deltas(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """Reading text deltas."""
    poured = traffic.write("text-deltas", traffic.text_deltas(sizes.deltas), folder)
    return {"reading deltas, µs per line": _read(tree, poured, folder)}


def mixed(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """Reading the steps of an agent, without and with a transcript."""
    poured = traffic.write("agent-session", traffic.agent_session(sizes.steps), folder)
    alone = _read(tree, poured, folder)
    folded = _read(tree, poured, folder, "--transcript")
    return {
        "reading mixed traffic, µs per line": alone,
        "the same with a transcript, µs per line": folded,
        "transcript against reading alone": folded / alone,
    }


def load(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """A server with many sessions and sockets."""
    figures = asyncio.run(run(sizes.load, folder, lambda _: None, source=tree.source))
    if not figures.complete:
        raise RuntimeError(f"a client did not get everything: {figures.table()}")
    return {
        "server under load, µs per line": 1e6
        * figures.server_cpu
        * figures.seconds
        / figures.lines,
        "slowest control p99, ms": 1e3 * figures.worst_p99,
    }


def in_step(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """A server with many sessions and sockets, at the pace that it can keep."""
    cpu_s = asyncio.run(lockstep.measure(sizes.lockstep, folder, tree.source))
    return {"server in lockstep, µs per line": 1e6 * cpu_s}


def delay(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """One session at 50 deltas a second."""
    flow = asyncio.run(
        one_session.measure_delay(tree.source, folder, deltas=sizes.delayed, per_s=50.0)
    )
    return {
        "line to frame p50, ms": 1e3 * flow.delays.percentile(0.5),
        "line to frame p99, ms": 1e3 * flow.delays.percentile(0.99),
        "one session at 50 lines/s, µs per line": flow.micros_per_line,
    }


def flood(tree: Tree, sizes: Sizes, folder: Path) -> Figures:
    """One session at full speed."""
    flow = asyncio.run(one_session.measure_flood(tree.source, folder, deltas=sizes.flood))
    return {"one session at full speed, µs per line": flow.micros_per_line}


SCENARIOS: dict[str, Scenario] = {
    "import": importing,
    "deltas": deltas,
    "mixed": mixed,
    "load": load,
    "lockstep": in_step,
    "delay": delay,
    "flood": flood,
}


def _read(tree: Tree, poured: Traffic, folder: Path, *flags: str) -> float:
    agent = rounds.make_agent(poured)
    with tempfile.TemporaryDirectory(dir=folder) as home:
        completed = subprocess.run(
            [sys.executable, "-m", "bench.run_fairlead", str(agent), VERSION, *flags],
            cwd=home,
            env=_environment(tree, Path(home)),
            capture_output=True,
            text=True,
            timeout=rounds.RUN_TIMEOUT_S,
        )
    if completed.returncode:
        raise RuntimeError(f"the {tree.name} code failed:\n{completed.stderr[-1500:]}")
    return 1e6 * measurement.read(completed.stdout).cpu_s / poured.messages


def _environment(tree: Tree, home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join((str(tree.source), str(ROOT))),
        "TMPDIR": str(home),
    }
