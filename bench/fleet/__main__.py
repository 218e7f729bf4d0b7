"""`python -m bench.fleet`: the cost of a bus and the gain of several processes, against one `serve`.

Three parts, each with all ways in one run:

- cost: CPU time per line of each kind of process, in lockstep, so that it depends little on other
  load. What the bus adds on a node is the difference to a server whose sockets are subtracted.
- delay: from the CLI's write of a line to the arrival of its frame at a client, one session.
- throughput: the load of `bench.server_load` at rising paces. A pace is carried if at least 95 % of
  the lines are taken in and control stays below the aim; the ratio is of the lines a second. A server
  is not tried further after two paces that it did not carry. With `--share` each process of a server
  gets only this share of a core (root, Linux), so that the programs that make the load do not compete.

A fleet is a real nats-server, a gateway and nodes, each a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from bench import report, results
from bench.compare import lockstep, one_session
from bench.fleet.fleet_server import FleetServer
from bench.fleet.tables import cost_table, delay_table, throughput_table
from bench.server_load.figures import AIM_S, Figures
from bench.server_load.load import Plan, Start, run
from bench.server_load.processes import SOURCE, LoadedServer, Server

__all__ = ["main"]

PARTS = ("cost", "delay", "throughput")
TAKEN = 0.95
PACES = [100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 800.0]
GIVEN_UP = 2
"""A server that did not carry so many paces in sequence is not tried at higher ones."""
T = TypeVar("T")


LOCKSTEP = lockstep.Plan(sessions=40, sockets=40, lines=129, at_once=20)
LOAD = Plan(sessions=60, sockets=120, seconds=10.0, warm_s=3.0, idle_s=1.0, askers=10, actors=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much each part runs."""

    lockstep: lockstep.Plan = LOCKSTEP
    more_sockets: int = 120
    """Sockets of the second run of `serve`, which tells what a socket costs."""
    deltas: int = 300
    per_s: float = 50.0
    load: Plan = LOAD
    rounds: int = 3


QUICK = Sizes(
    lockstep=lockstep.Plan(sessions=4, sockets=4, lines=12, warm=4, at_once=4),
    more_sockets=8,
    deltas=10,
    load=Plan(sessions=4, sockets=12, seconds=2.0, warm_s=0.5, idle_s=0.5, askers=2, actors=2),
    rounds=1,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a smoke test; its figures mean nothing"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="of cost and delay")
    parser.add_argument("--paces", type=float, nargs="+", default=PACES, metavar="LINES_PER_S")
    parser.add_argument(
        "--share", type=float, default=0.0, metavar="CORE", help="of each process in throughput"
    )
    parser.add_argument("--save", action="store_true", help="replace them in bench/results.json")
    arguments = parser.parse_args(argv)
    sizes = QUICK if arguments.quick else Sizes()
    if arguments.rounds:
        sizes = replace(sizes, rounds=arguments.rounds)
    began = report.load()
    say(f"{report.machine()}; {began}")
    found: dict[str, Any] = {}
    if "cost" in arguments.only:
        found["cost"] = _cost(sizes, arguments.workers)
        print(cost_table(found["cost"]), flush=True)
    if "delay" in arguments.only:
        found["delay"] = _delay(sizes, arguments.workers)
        print(delay_table(found["delay"]), flush=True)
    if "throughput" in arguments.only:
        sizes = replace(sizes, load=replace(sizes.load, share=arguments.share))
        found["throughput"] = _throughput(sizes, arguments.workers, arguments.paces)
        print(throughput_table(found["throughput"]), flush=True)
    say(f"done; {report.load()}")
    if arguments.save:
        before = results.load().get("fleet", {})
        facts = {"machine": report.machine(), "load": f"{began} - {report.load()}"}
        parts = {
            **before.get("parts", {}),
            **{name: {**facts, "rows": found[name]} for name in found},
        }
        results.save("fleet", {"parts": parts})
        say(f"the figures are in {results.FILE}")
    return 0 if all(row.get("complete", True) for rows in found.values() for row in rows) else 1


def say(text: str) -> None:
    """Report progress, apart from the tables."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


# What is started


async def _serve(folder: Path, agent: Path, project: Path, *, options: Any = ()) -> LoadedServer:
    return await Server.start(folder, agent, project, options=tuple(options))


async def _fleet(folder: Path, agent: Path, project: Path, *, nodes: int = 1) -> LoadedServer:
    return await FleetServer.start(folder, agent, project, nodes)


def _ways(workers: int, nodes: int) -> dict[str, Start]:
    return {
        "one process": _serve,
        f"{workers} workers": partial(_serve, options=("--workers", str(workers))),
        f"{nodes} node{'s' if nodes > 1 else ''} and a gateway": partial(_fleet, nodes=nodes),
    }


def _in_folder(measure: Callable[[Path], Coroutine[Any, Any, T]]) -> T:
    with tempfile.TemporaryDirectory(prefix="fairlead-fleet-") as folder:
        return asyncio.run(measure(Path(folder)))


# The parts


def _cost(sizes: Sizes, workers: int) -> list[dict[str, Any]]:
    """Microseconds of CPU time per line, the median of the rounds, by way and kind of process."""
    plan = sizes.lockstep
    more = replace(plan, sockets=sizes.more_sockets)
    runs = {name: (start, plan) for name, start in _ways(workers, 1).items()}
    runs["one process, more sockets"] = _serve, more
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in runs}
    for number in range(sizes.rounds):
        for name, (start, wanted) in runs.items():
            say(f"cost, round {number + 1}: {name}")
            parts = _in_folder(partial(_lockstep, wanted, start))
            taken[name].append({part: 1e6 * cpu_s for part, cpu_s in parts.items()})
    return [
        {
            "way": name,
            "sockets_per_session": runs[name][1].sockets / plan.sessions,
            "micros": {part: median(each[part] for each in rounds) for part in rounds[0]},
            "rounds": rounds,
        }
        for name, rounds in taken.items()
    ]


async def _lockstep(plan: lockstep.Plan, start: Start, folder: Path) -> dict[str, float]:
    return await lockstep.measure_parts(plan, folder, start)


def _delay(sizes: Sizes, workers: int) -> list[dict[str, Any]]:
    """Milliseconds from a line to its frame; each row has the medians of all rounds."""
    ways = _ways(workers, 1)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(sizes.rounds):
        for name, start in ways.items():
            say(f"delay, round {number + 1}: {name}")
            flow = _in_folder(partial(_flow, sizes, start))
            times = (flow.delays.percentile(share) for share in (0.5, 0.99))
            p50, p99 = (1e3 * each for each in times)
            taken[name].append((p50, p99))
    return [
        {
            "way": name,
            "p50_ms": median(each[0] for each in rounds),
            "p99_ms": median(each[1] for each in rounds),
            "rounds": rounds,
        }
        for name, rounds in taken.items()
    ]


async def _flow(sizes: Sizes, start: Start, folder: Path) -> one_session.Flow:
    return await one_session.measure_delay(
        SOURCE, folder, deltas=sizes.deltas, per_s=sizes.per_s, start=start
    )


def _throughput(sizes: Sizes, workers: int, paces: Sequence[float]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    ways = _ways(workers, 2)
    failed = dict.fromkeys(ways, 0)
    for pace in paces:
        for name, start in ways.items():
            if failed[name] == GIVEN_UP:
                continue
            say(f"throughput: {name}, {pace:g} lines a second of each session")
            plan = replace(sizes.load, lines_per_s=pace)
            figures = _in_folder(partial(_load, plan, start))
            row = {"way": name, "share": plan.share, "load": report.load(), **_summary(figures)}
            rows.append(row)
            failed[name] = 0 if row["carried"] else failed[name] + 1
    return rows


async def _load(plan: Plan, start: Start, folder: Path) -> Figures:
    return await run(plan, folder, say, start=start)


def _summary(figures: Figures) -> dict[str, Any]:
    wanted = figures.sessions * figures.lines_per_s
    taken = figures.lines / max(1e-9, figures.seconds)
    stored = figures.times[0]
    # A short run may have no permission request.
    p99 = max(each.percentile(0.99) for each in figures.times if each.seconds)
    return {
        "lines_per_s": figures.lines_per_s,
        "lines_taken_per_s": taken,
        "micros_per_line": 1e6 * figures.server_cpu * figures.seconds / max(1, figures.lines),
        "cores": figures.server_cpu,
        "cores_by_part": figures.cpu_parts,
        "intent_p50_ms": 1e3 * stored.percentile(0.5),
        "control_p99_ms": 1e3 * p99,
        "mib": figures.rss_end / 2**20,
        "carried": taken >= TAKEN * wanted and p99 < AIM_S,
        "complete": figures.complete,
    }


if __name__ == "__main__":
    sys.exit(main())
