"""`python -m bench`: the CPU time of Fairlead and the official SDKs for reading the same output.

Prepares the traffic and the contenders, lets each run once to see what it delivers, then runs
the rounds and prints a table for each traffic. Measures processor time of the reading process
alone. Elapsed time would also depend on other load and on the child process.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import report, results, rounds, traffic
from bench.peers import CONTENDERS, Contender, PeerUnavailable
from bench.rounds import RunFailed, Runs
from bench.traffic import Traffic

OUT = Path(__file__).parent / "out"

FULL = {"deltas": 200_000, "steps": 2_000, "rounds": 5}
QUICK = {"deltas": 2_000, "steps": 20, "rounds": 1}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    arguments = _parse(argv)
    sizes = QUICK if arguments.quick else FULL
    count = arguments.rounds or sizes["rounds"]
    say(f"{report.machine()}; {report.load()}")
    OUT.mkdir(exist_ok=True)
    try:
        contenders = [CONTENDERS[name](OUT, say) for name in arguments.only or CONTENDERS]
        outcomes = [_measure(item, contenders, count) for item in _traffics(sizes)]
    except (PeerUnavailable, RunFailed) as problem:
        say(str(problem))
        return 1
    for outcome in outcomes:
        print(f"\n{report.table(outcome)}")
    if arguments.quick:
        say("this was a smoke test: so little traffic says nothing about speed")
    else:
        print("", *map(report.verdicts, outcomes), sep="\n")
    say(f"done; {report.load()}")
    matches = [report.as_data(outcome) for outcome in outcomes]
    if arguments.save:
        results.save("reading", matches)
        say(f"the figures are in {results.FILE}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(matches, indent=1) + "\n", "utf-8")
        say(f"all figures are in {arguments.json}")
    return 0


def say(text: str) -> None:
    """Tell what is going on, apart from the table."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little traffic, one round")
    parser.add_argument("--rounds", type=_positive, metavar="N", help="how often each one runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    parser.add_argument("--save", action="store_true", help="replace them in bench/results.json")
    parser.add_argument(
        "--only", nargs="+", choices=tuple(CONTENDERS), metavar="NAME", help=", ".join(CONTENDERS)
    )
    return parser.parse_args(argv)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _traffics(sizes: dict[str, int]) -> list[Traffic]:
    say(f"writing {sizes['deltas']:,} text deltas and a session of {sizes['steps']:,} steps")
    return [
        traffic.write("text-deltas", traffic.text_deltas(sizes["deltas"]), OUT),
        traffic.write("agent-session", traffic.agent_session(sizes["steps"]), OUT),
    ]


def _measure(one: Traffic, contenders: list[Contender], count: int) -> list[Runs]:
    agent = rounds.make_agent(one)
    say(f"{one.name}: one look at what each contender delivers")
    seen = [rounds.run(contender, agent, "--kinds") for contender in contenders]
    timed = []
    for number in range(1, count + 1):
        timed.append([rounds.run(contender, agent) for contender in contenders])
        rounds.check_counts(contenders, seen, timed[-1])
        took = ", ".join(
            f"{contender.name} {1e6 * run.cpu_s / one.messages:.2f}"
            for contender, run in zip(contenders, timed[-1], strict=True)
        )
        say(f"{one.name}: round {number} of {count}, µs per message: {took}")
    per_contender = zip(*timed, strict=True)
    return [
        Runs(contender, one, look, runs)
        for contender, look, runs in zip(contenders, seen, per_contender, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(main())
