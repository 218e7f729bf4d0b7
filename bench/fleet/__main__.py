"""`python -m bench.fleet`: the same load on one process and on workers; what do they cost and gain?

Runs the load of `bench.server_load` on `fairlead serve` and on `fairlead serve --workers N`, at each
pace in turn. A pace is carried if the server takes in at least 95 % of the lines and control stays
below the aim. Processor time is that of all processes of the server together.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import report, results
from bench.server_load.figures import AIM_S, Figures
from bench.server_load.load import Plan, run

__all__ = ["main"]

TAKEN = 0.95
FULL = Plan(sessions=60, sockets=120, seconds=10.0, warm_s=3.0, idle_s=1.0, askers=10, actors=5)
QUICK = Plan(sessions=4, sockets=12, seconds=2.0, warm_s=0.5, idle_s=0.5, askers=2, actors=2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test, a few seconds")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--paces", type=float, nargs="+", default=[10.0], metavar="LINES_PER_S")
    parser.add_argument("--save", action="store_true", help="replace them in bench/results.json")
    arguments = parser.parse_args(argv)
    say(f"{report.machine()}; {report.load()}")
    plan = QUICK if arguments.quick else FULL
    ways = {
        "one process": (),
        f"{arguments.workers} workers": ("--workers", str(arguments.workers)),
    }
    rows = []
    for pace in arguments.paces:
        for name, options in ways.items():
            say(f"{name}, {pace:g} lines a second of each session")
            with tempfile.TemporaryDirectory(prefix="fairlead-fleet-") as folder:
                figures = asyncio.run(
                    run(replace(plan, lines_per_s=pace), Path(folder), say, options=options)
                )
            rows.append({"way": name, "load": report.load(), **_summary(figures)})
    print(_table(rows))
    say(f"done; {report.load()}")
    if arguments.save:
        results.save("fleet", {"machine": report.machine(), "rows": rows})
        say(f"the figures are in {results.FILE}")
    return 0 if all(row["complete"] for row in rows) else 1


def say(text: str) -> None:
    """Report progress, apart from the table."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


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
        "intent_p50_ms": 1e3 * stored.percentile(0.5),
        "control_p99_ms": 1e3 * p99,
        "mib": figures.rss_end / 2**20,
        "carried": taken >= TAKEN * wanted and p99 < AIM_S,
        "complete": figures.complete,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| way | lines/s of a session | lines/s in all | µs of CPU a line | cores | stored intent "
        "p50, ms | control p99, ms | MiB | carried |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    lines += [
        f"| {row['way']} | {row['lines_per_s']:g} | {row['lines_taken_per_s']:,.0f} "
        f"| {row['micros_per_line']:.0f} | {row['cores']:.2f} | {row['intent_p50_ms']:.1f} "
        f"| {row['control_p99_ms']:.0f} | {row['mib']:.0f} "
        f"| {'yes' if row['carried'] else 'no'} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
