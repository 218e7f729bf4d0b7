"""Ratios of new to old, with their spread."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Any

__all__ = ["Measure", "collect", "table"]


@dataclass(slots=True)
class Measure:
    """One figure of both trees, round by round."""

    name: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """New divided by old, one ratio for each round; below 1 is better."""
        return [n / o for o, n in zip(self.old, self.new, strict=True) if o > 0]

    @property
    def ratio(self) -> float:
        """The median ratio."""
        return median(self.ratios) if self.ratios else float("nan")

    def row(self) -> str:
        """A row of the table."""
        low, high = min(self.ratios, default=0.0), max(self.ratios, default=0.0)
        return (
            f"| {self.name} | {median(self.old):,.2f} | {median(self.new):,.2f} "
            f"| {self.ratio:.2f} | {low:.2f} - {high:.2f} |"
        )

    def as_data(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {"name": self.name, "old": self.old, "new": self.new, "ratio": self.ratio}


def collect(measures: dict[str, Measure], side: str, figures: dict[str, float]) -> None:
    """Add the figures of one run of one side, `old` or `new`."""
    for name, value in figures.items():
        measure = measures.setdefault(name, Measure(name))
        (measure.old if side == "old" else measure.new).append(value)


def table(measures: dict[str, Measure]) -> str:
    """All ratios."""
    head = "| figure | old, median | new, median | new/old, median | lowest - highest |"
    return "\n".join((head, "|---|---:|---:|---:|---:|", *(m.row() for m in measures.values())))
