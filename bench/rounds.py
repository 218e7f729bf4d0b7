"""Runs contenders on traffic, in turns, and collects their reports.

A round is one run of every contender, one after the other, so that whatever else the machine
does hits all of them alike. Each run is a process of its own in an empty folder, with an
environment that holds nothing of the user's. Below: `peers`, `flood`, `measurement`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import flood, measurement
from bench.measurement import Measurement
from bench.peers import Contender
from bench.traffic import Traffic

__all__ = ["RunFailed", "Runs", "check_counts", "make_agent", "run"]

RUN_TIMEOUT_S = 600.0
"""The slowest contender takes ten seconds on an idle machine."""


class RunFailed(Exception):
    """A contender failed or did not end in time."""


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of one contender on one traffic."""

    contender: Contender
    traffic: Traffic
    seen: Measurement
    """A run before the first round, in which the kinds of messages were counted."""
    timed: tuple[Measurement, ...]

    @property
    def micros(self) -> tuple[float, ...]:
        """Microseconds of CPU time for each line that was written, run by run."""
        return tuple(1e6 * run.cpu_s / self.traffic.messages for run in self.timed)

    @property
    def micros_median(self) -> float:
        """The median of these."""
        return median(self.micros)

    @property
    def import_s(self) -> float:
        """Processor seconds that the import took, as a median."""
        return median(run.import_s for run in self.timed)

    @property
    def peak_rss(self) -> int:
        """The most memory that any of the runs held, as a median, in bytes."""
        return int(median(run.peak_rss for run in self.timed))

    @property
    def missing(self) -> dict[str, int]:
        """How many messages of each `type` were written and not delivered."""
        came = self.seen.kinds or {}
        lost = {kind: count - came.get(kind, 0) for kind, count in self.traffic.kinds.items()}
        return {kind: count for kind, count in lost.items() if count}


def make_agent(traffic: Traffic) -> Path:
    """An executable in place of the CLI that writes this traffic."""
    agent = traffic.path.with_suffix(".agent")
    command = shlex.join([sys.executable, str(Path(flood.__file__)), str(traffic.path)])
    agent.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    agent.chmod(0o755)
    return agent


def run(contender: Contender, agent: Path, *flags: str) -> Measurement:
    """Let a contender read one turn of the agent."""
    with tempfile.TemporaryDirectory(prefix="fairlead-bench-") as home:
        env = {
            "HOME": home,
            "LANG": "C.UTF-8",
            "PATH": os.defpath,
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "TMPDIR": home,
        }
        completed = subprocess.run(
            contender.command(agent, *flags),
            cwd=home,
            env=env,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
        )
    if completed.returncode:
        output = (completed.stderr or completed.stdout).strip()[-1500:]
        raise RunFailed(f"{contender.name} ended with {completed.returncode}:\n{output}")
    return measurement.read(completed.stdout)


def check_counts(
    contenders: list[Contender], seen: list[Measurement], timed: list[Measurement]
) -> None:
    """Raise unless every contender delivered as many messages as in its first run."""
    for contender, look, item in zip(contenders, seen, timed, strict=True):
        if item.messages != look.messages:
            raise RunFailed(
                f"{contender.name} delivered {item.messages:,} messages, {look.messages:,} before"
            )
