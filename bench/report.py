"""The benchmark's outcome as a table for people and as JSON for programs."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.rounds import Runs

__all__ = ["as_data", "load", "machine", "short", "table", "verdicts"]

AIMS = {"TypeScript SDK": 0.45, "Python SDK": 0.10}
"""The target: Fairlead's CPU time divided by a peer's, at most."""

BUSY_SHARE = 0.5
"""With a load above this share of the cores, figures are only good for ratios."""


def machine() -> str:
    """The processor and the system, in a line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}"


def load() -> str:
    """How busy the machine is with other work, in words."""
    average = os.getloadavg()[0]
    busy = average > BUSY_SHARE * (os.cpu_count() or 1)
    advice = " (busy: trust the ratios, not the absolute figures)" if busy else ""
    return f"load average {average:.1f} on {os.cpu_count()} cores{advice}"


def short(value: float) -> str:
    """A figure with three digits that matter, and never with an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def table(outcome: list[Runs]) -> str:
    """The figures of one traffic, each compared with Fairlead's."""
    traffic = outcome[0].traffic
    mean = traffic.size / traffic.messages
    rows = [
        f"{traffic.name}: {traffic.messages:,} messages, {traffic.size / 1e6:.1f} MB, "
        f"{mean:,.0f} bytes each; rounds: {len(outcome[0].timed)}",
        "",
        "| contender | µs CPU per message | lowest - highest | times Fairlead "
        "| import, ms CPU | peak RSS, MiB | delivered |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_row(runs, outcome) for runs in outcome),
    ]
    return "\n".join(rows)


def verdicts(outcome: list[Runs]) -> str:
    """Fairlead's time divided by each peer's, and whether it meets the target."""
    lines = []
    for runs in outcome:
        times, aim = _times(runs, outcome), AIMS.get(runs.contender.name)
        if times is not None and aim is not None:
            met = "met" if 1 / times <= aim else "MISSED"
            lines.append(
                f"{runs.traffic.name}: Fairlead takes {1 / times:.2f}x the time of the "
                f"{runs.contender.name} (aim: at most {aim:.2f}x, {met})."
            )
    return "\n".join(lines)


def as_data(outcome: list[Runs]) -> dict[str, Any]:
    """Everything that was measured on one traffic."""
    traffic = outcome[0].traffic
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "load_average": os.getloadavg(),
        "traffic": {
            "name": traffic.name,
            "messages": traffic.messages,
            "bytes": traffic.size,
            "kinds": traffic.kinds,
        },
        "contenders": [
            {
                "name": runs.contender.name,
                "version": runs.contender.version,
                "runtime": runs.contender.runtime,
                "micros_per_message": runs.micros_median,
                "times_fairlead": _times(runs, outcome),
                "missing": runs.missing,
                "runs": [run._asdict() for run in runs.timed],
            }
            for runs in outcome
        ],
    }


def _row(runs: Runs, outcome: list[Runs]) -> str:
    who = f"{runs.contender.name} {runs.contender.version}, {runs.contender.runtime}"
    times = _times(runs, outcome)
    cells = (
        who,
        f"{runs.micros_median:.2f}",
        f"{min(runs.micros):.2f} - {max(runs.micros):.2f}",
        "" if times is None else f"{times:.2f}x",
        f"{runs.import_s * 1e3:.0f}",
        f"{runs.peak_rss / 2**20:.0f}",
        _delivered(runs),
    )
    return "| " + " | ".join(cells) + " |"


def _delivered(runs: Runs) -> str:
    if not runs.missing:
        return "all"
    return "not " + ", ".join(f"{count:,} {kind}" for kind, count in runs.missing.items())


def _times(runs: Runs, outcome: list[Runs]) -> float | None:
    """A contender's time divided by Fairlead's; None if Fairlead did not take part."""
    for actual in outcome:
        if actual.contender.name == "Fairlead":
            return runs.micros_median / actual.micros_median
    return None
