"""`python -m bench.soak`: many sessions for a long time; memory, descriptors and the rest as plots."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench import report, results
from bench.plots import PICTURES
from bench.soak.plot import picture
from bench.soak.run import Outcome, Plan, run
from bench.soak.samples import MEASURES, slope

__all__ = ["main"]

HOUR = 3600.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, print the slopes, and draw the series."""
    arguments = _parse(argv)
    plan = Plan(seconds=arguments.seconds, sessions=arguments.sessions)
    machine, load = report.machine(), report.load()
    say(f"{machine}; {load}")
    with tempfile.TemporaryDirectory(prefix="fairlead-soak-") as folder:
        outcome = asyncio.run(run(plan, Path(folder), say))
    title = f"{plan.sessions} sessions for {plan.seconds / 60:.3g} minutes"
    print(f"\n{title}: {_sums(outcome)}; {machine}; {load}\n\n{_table(outcome)}")
    if arguments.save:
        series = [asdict(one) for one in outcome.samples]
        figures = {"machine": machine, "load": [load, report.load()], "seconds": plan.seconds}
        counts = {"sessions": plan.sessions, "did": _sums(outcome)}
        results.save("soak", {**figures, **counts, "slopes": _slopes(outcome), "last": series[-1]})
        path = PICTURES / "bench-soak.svg"
        path.write_text(picture(title, outcome.samples), "utf-8")
        say(f"the plots are in {path}")
    return 0


def _sums(outcome: Outcome) -> str:
    return (
        f"{outcome.turns} turns in {outcome.sessions} sessions, {outcome.restarts} restarted CLIs, "
        f"{outcome.reconnects} reconnected clients"
    )


def _slopes(outcome: Outcome) -> dict[str, float]:
    return {measure.name: slope(outcome.samples, measure) for measure in MEASURES}


def _table(outcome: Outcome) -> str:
    lines = ["| | at the start | at the end | slope a minute, after the first third |"]
    lines.append("|---|---:|---:|---:|")
    first, last = outcome.samples[0], outcome.samples[-1]
    for measure in MEASURES:
        name = f"{measure.name}, {measure.unit}" if measure.unit else measure.name
        values = f"{report.short(measure.value(first))} | {report.short(measure.value(last))}"
        lines.append(f"| {name} | {values} | {slope(outcome.samples, measure):+,.3g} |")
    return "\n".join(lines)


def say(text: str) -> None:
    """Tell what is going on, apart from the table."""
    print(f"soak: {text}", file=sys.stderr, flush=True)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=HOUR, metavar="S")
    parser.add_argument("--sessions", type=int, default=50, metavar="N")
    parser.add_argument("--save", action="store_true", help="keep the slopes and draw the plots")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
