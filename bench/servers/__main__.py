"""`python -m bench.servers`: Fairlead and the servers that a user could choose instead, in turns.

Install first (`--install`, which needs the network), then run on loopback only:

    python -m bench.servers --install
    python -m fairlead.testing.isolated -- python -m bench.servers --save
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import report, results
from bench.peers import PeerUnavailable
from bench.servers.contenders import CONTENDERS
from bench.servers.figures import Run, Server, table
from bench.servers.measure import Plan, measure

__all__ = ["main"]

OUT = Path(__file__).parent.parent / "out"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    arguments = _parse(argv)
    OUT.mkdir(exist_ok=True)
    names = list(arguments.only or CONTENDERS)
    if arguments.install:
        for name in names:
            CONTENDERS[name](OUT, say)
        return 0
    plan = Plan(arguments.sessions, arguments.lines, arguments.pace, arguments.deltas)
    machine, load = report.machine(), report.load()
    say(f"{machine}; {load}")
    servers = asyncio.run(_rounds(names, plan, arguments.rounds))
    print(f"\n{plan.sessions} sessions with one client each, {plan.per_s:g} lines a second each\n")
    print(table(servers))
    say(f"done; {report.load()}")
    if arguments.save:
        figures = {
            "machine": machine,
            "load": [load, report.load()],
            "sessions": plan.sessions,
            "lines_per_s": plan.per_s,
            "deltas": plan.deltas,
            "servers": [server.as_data() for server in servers],
        }
        results.save("servers", figures)
        say(f"the figures are in {results.FILE}")
    return 0 if any(server.runs for server in servers) else 1


async def _rounds(names: list[str], plan: Plan, rounds: int) -> list[Server]:
    runs: dict[str, list[Run]] = {name: [] for name in names}
    problems: dict[str, str] = {}
    versions: dict[str, tuple[str, str]] = {}
    for number in range(1, rounds + 1):
        for name in names:
            if name in problems:
                continue
            try:
                contender = CONTENDERS[name](OUT, say)
                versions[name] = contender.name, contender.version
                runs[name].append(await measure(contender, plan))
            except (PeerUnavailable, TimeoutError, OSError) as problem:
                problems[name] = str(problem) or type(problem).__name__
                say(f"{name}: {problems[name]}")
                continue
            last = runs[name][-1]
            say(f"round {number}, {name}: {1e6 * last.line_s:.0f} µs per line")
    found = []
    for name in names:
        title, version = versions.get(name, (name, ""))
        why = problems.get(name, "")
        found.append(Server(name=title, version=version, runs=tuple(runs[name]), problem=why))
    return found


def say(text: str) -> None:
    """Tell what is going on, apart from the table."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.servers", description=__doc__)
    parser.add_argument("--install", action="store_true", help="only install the other servers")
    parser.add_argument("--sessions", type=int, default=10, metavar="N")
    parser.add_argument("--lines", type=int, default=200, metavar="N", help="of each session")
    parser.add_argument("--pace", type=float, default=20.0, metavar="LINES_PER_S")
    parser.add_argument(
        "--deltas", type=int, default=20_000, metavar="N", help="of one session, at full speed"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--save", action="store_true", help="replace them in bench/results.json")
    parser.add_argument(
        "--only", nargs="+", choices=tuple(CONTENDERS), metavar="NAME", help=", ".join(CONTENDERS)
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
