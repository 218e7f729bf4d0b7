"""What is measured of a server again and again, and how fast each of it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from bench.server_load.processes import usage_of

__all__ = ["MEASURES", "Measure", "Sample", "slope", "take"]

MIB = 1024 * 1024
WARM = 1 / 3
"""The share of a run before the slope is computed: until then caches and the first sessions fill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The server at one moment."""

    at_s: float
    rss: int
    descriptors: int
    threads: int
    children: int
    database: int
    """Bytes of the database with its write-ahead log."""
    latency_s: float
    """Median of the round trips since the last sample."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One series of a run."""

    name: str
    unit: str
    value: Callable[[Sample], float]


MEASURES = (
    Measure("memory", "MiB", lambda one: one.rss / MIB),
    Measure("file descriptors", "", lambda one: one.descriptors),
    Measure("threads", "", lambda one: one.threads),
    Measure("CLI processes", "", lambda one: one.children),
    Measure("database", "MiB", lambda one: one.database / MIB),
    Measure("round trip of a stored intent, median", "ms", lambda one: 1e3 * one.latency_s),
)


def take(pid: int, data: Path, at_s: float, latencies: Sequence[float]) -> Sample:
    """Measure a server now."""
    process = Path(f"/proc/{pid}")
    children = [
        child
        for task in process.glob("task/*/children")
        for child in task.read_text("ascii").split()
    ]
    return Sample(
        at_s=at_s,
        rss=usage_of(pid).rss,
        descriptors=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        children=len(children),
        database=sum(file.stat().st_size for file in data.glob("*.db*")),
        latency_s=median(latencies),
    )


def slope(samples: Sequence[Sample], measure: Measure) -> float:
    """How much a series grows in a minute, after the warm part of the run: least squares."""
    points = [(one.at_s / 60, measure.value(one)) for one in samples]
    points = [point for point in points if point[0] >= WARM * points[-1][0]]
    x, y = fmean(point[0] for point in points), fmean(point[1] for point in points)
    spread = sum((at - x) ** 2 for at, _ in points)
    return sum((at - x) * (value - y) for at, value in points) / spread if spread else 0.0
