"""`python -m bench.server_load`: delays and costs of one server with many sessions and sockets."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import report, results
from bench.server_load.load import Plan, run

__all__ = ["main"]

FULL = Plan()
QUICK = Plan(sessions=4, sockets=12, seconds=2.0, warm_s=0.5, idle_s=0.5, askers=2, actors=2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    arguments = _parse(argv)
    plan = QUICK if arguments.quick else _plan(arguments)
    say(f"{report.machine()}; {report.load()}")
    with tempfile.TemporaryDirectory(prefix="fairlead-load-") as folder:
        figures = asyncio.run(run(plan, Path(folder), say))
    print(f"\n{figures.table()}")
    say(f"done; {report.load()}")
    if arguments.save:
        results.save("server", {**figures.summary(), "machine": report.machine()})
        say(f"the figures are in {results.FILE}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures.as_data(), indent=1) + "\n", "utf-8")
        say(f"all figures are in {arguments.json}")
    return 0 if figures.complete else 1


def say(text: str) -> None:
    """Tell what is going on, apart from the table."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.server_load", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test, a few seconds")
    parser.add_argument("--sessions", type=int, default=FULL.sessions, metavar="N")
    parser.add_argument("--sockets", type=int, default=FULL.sockets, metavar="N")
    parser.add_argument("--pace", type=float, default=FULL.lines_per_s, metavar="LINES_PER_S")
    parser.add_argument("--seconds", type=float, default=FULL.seconds, metavar="S")
    parser.add_argument("--save", action="store_true", help="replace them in bench/results.json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    return parser.parse_args(argv)


def _plan(arguments: argparse.Namespace) -> Plan:
    return Plan(
        sessions=arguments.sessions,
        sockets=arguments.sockets,
        lines_per_s=arguments.pace,
        seconds=arguments.seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
