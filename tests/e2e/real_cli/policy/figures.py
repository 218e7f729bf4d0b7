"""The figures of the policy differential, and their section in docs/compatibility.md."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.real_cli.policy.compare import Case

__all__ = ["EVERYDAY_SHARE", "Figures", "figures_of", "replaced", "section", "write"]

TABLE = Path(__file__).parents[4] / "docs" / "compatibility.md"
TITLE = "Generated permission calls"
EVERYDAY_SHARE = 0.97
"""The share of the everyday mix that must be equal on each version."""
OUTCOMES = ("equal", "stricter", "laxer")
HOST = "host laxer"

HISTORY = Path(__file__).with_name("history.md")
"""What earlier runs found, in words; it follows the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The outcomes of one mix on one version."""

    version: str
    mix: str
    counts: Counter[str]

    @property
    def total(self) -> int:
        return sum(self.counts[name] for name in OUTCOMES)

    def share(self, outcome: str) -> float:
        """The share of one outcome."""
        return self.counts[outcome] / max(1, self.total)

    @property
    def passed(self) -> bool:
        """Whether nothing is laxer, and the everyday mix is equal often enough."""
        enough = self.mix != "everyday" or self.share("equal") >= EVERYDAY_SHARE
        return not self.counts["laxer"] and not self.counts[HOST] and enough

    def __str__(self) -> str:
        parts = [
            f"{name} {self.counts[name]} ({100 * self.share(name):.1f} %)" for name in OUTCOMES
        ]
        host = f"host rules laxer {self.counts[HOST]}"
        return f"{self.version}, {self.mix}: {self.total} calls, {', '.join(parts)}, {host}"


def figures_of(version: str, mix: str, cases: Sequence[Case]) -> Figures:
    """The figures of these cases."""
    counts = Counter(case.outcome for case in cases)
    counts[HOST] = sum(case.host_is_laxer for case in cases)
    return Figures(version=version, mix=mix, counts=counts)


def section(figures: Sequence[Figures], seed: str, day: datetime.date) -> str:
    """The section of the document."""
    lines = [
        f"## {TITLE}",
        "",
        "The permission policy compared with real CLIs: generated tool calls under generated rules, layouts",
        "and modes (see `tests/e2e/real_cli/policy`). *Stricter* means that the policy asks or denies, or",
        'says "may ask", where the CLI is more permissive; *laxer* is a failure. The mix `wild` is everything',
        "that the generator knows; `everyday` is what people type in a project, with rules that people have.",
        f"Run on {day} with seed {seed}.",
        "",
        "| version | mix | calls | equal | stricter | laxer | host rules laxer |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for entry in figures:
        cells = [f"{entry.counts[name]} ({100 * entry.share(name):.1f} %)" for name in OUTCOMES]
        cells.append(str(entry.counts[HOST]))
        lines.append(f"| {entry.version} | {entry.mix} | {entry.total} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", HISTORY.read_text("utf-8")])


def replaced(document: str, text: str) -> str:
    """The document with this section replaced, or added before the last one."""
    parts = document.split("\n## ")
    own = text.removeprefix("## ").rstrip() + "\n"
    places = [number for number, part in enumerate(parts) if part.startswith(TITLE)]
    if places:
        parts[places[0]] = own
    else:
        parts.insert(max(1, len(parts) - 1), own)
    return "\n## ".join(parts)


def write(figures: Sequence[Figures], seed: str) -> None:
    """Put the figures into the document."""
    today = datetime.datetime.now(datetime.UTC).date()
    document = TABLE.read_text("utf-8")
    TABLE.write_text(replaced(document, section(figures, seed, today)), "utf-8")
