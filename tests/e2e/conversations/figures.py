"""The figures of a differential, and their section in docs/compatibility.md."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.conversations.known_differences import KNOWN, Known, known_of
from tests.e2e.conversations.verdict import Verdict

__all__ = ["SHARE", "replaced", "section", "summary", "unnamed", "write"]

TABLE = Path(__file__).parents[3] / "docs" / "compatibility.md"
TITLE = "Generated conversations"
SHARE = 0.95
"""The share of scripts that must be equal on each version."""

EARLIER: tuple[tuple[str, str, str], ...] = (
    ("2026-11-17, seed 13, 22 themes", "60 of 99", "27 of 99"),
    ("2026-11-17, seed 2718, 42 themes", "–", "129 of 155"),
    ("2026-11-17, seed 5151", "148 of 164", "70 of 83"),
    ("2026-11-17, seed 9001, with crossings", "59 of 60", "52 of 60"),
    ("2026-11-17, seed 9002, combinations only", "44 of 50", "23 of 30"),
    ("2026-11-17, seed 31415, three parts", "199 of 210", "188 of 210"),
    ("2026-11-17, seed 7001, in small parts", "230 of 240", "390 of 410"),
    ("2026-11-18, seed 8118, scripts 0 to 99", "not finished", "96 of 100"),
    ("2026-11-18, seed 60221, one play each on a busy machine", "474 of 500", "442 of 500"),
)
"""Date and seed of earlier comparisons, with the equal scripts of 2.1.38 and 2.1.325.

Only first runs are listed, before the corrections that they led to: they show what to expect of a
script that is new to the emulator.
"""

EARLIER_TITLE = (
    "Earlier seeds, each on its first run, before the corrections that it led to. They show what to\n"
    "expect of scripts that are new to the emulator:"
)


def versions_of(verdicts: Sequence[Verdict]) -> list[str]:
    return list(dict.fromkeys(verdict.version for verdict in verdicts))


def share(verdicts: Sequence[Verdict], version: str) -> float:
    """The share of equal scripts on a version."""
    own = [verdict.is_equal for verdict in verdicts if verdict.version == version]
    return sum(own) / len(own)


def unnamed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Differences that no entry of `known_differences` explains."""
    return [v for v in verdicts if not v.is_equal and known_of(v) is None]


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many scripts are equal, by version and theme."""
    lines = []
    for version in versions_of(verdicts):
        own = [verdict for verdict in verdicts if verdict.version == version]
        same = sum(verdict.is_equal for verdict in own)
        lines.append(f"{version}: {same} of {len(own)} equal ({100 * same / len(own):.1f} %)")
        missing = Counter(v.script.theme for v in own if not v.is_equal)
        lines += [f"    {theme}: {count} differ" for theme, count in missing.most_common()]
    return "\n".join(lines)


def section(verdicts: Sequence[Verdict], seed: int, day: datetime.date) -> str:
    """The section of the document."""
    versions = versions_of(verdicts)
    lines = [
        f"## {TITLE}",
        "",
        "The emulator compared with the real CLI of the same version: generated host scripts (see",
        "`tests/e2e/conversations`) are played to both under the same scripted model, and their lines are",
        f"compared as skeletons. Run on {day} with seed {seed}: {_counts(verdicts)}.",
        "",
        _row(["scripts", *versions]),
        "|---|" + ":-:|" * len(versions),
    ]
    themes = sorted({verdict.script.theme for verdict in verdicts})
    lines += [_row([theme, *(_equal(verdicts, v, theme) for v in versions)]) for theme in themes]
    lines.append(_row(["**all**", *(_equal(verdicts, v) for v in versions)]))
    lines += ["", "Scripts on which the two differ, by reason:", ""]
    lines += [_row(["difference", *versions]), "|---|" + ":-:|" * len(versions)]
    for known in KNOWN:
        counts = [_count(verdicts, version, known) for version in versions]
        if any(counts):
            lines.append(_row([known.words, *map(str, counts)]))
    lines += ["", EARLIER_TITLE, "", _row(["first run", "2.1.38", "2.1.325"])]
    lines += ["|---|:-:|:-:|", *(_row(row) for row in EARLIER)]
    return "\n".join([*lines, ""])


def _counts(verdicts: Sequence[Verdict]) -> str:
    """How many scripts were compared on each version."""
    numbers = Counter(verdict.version for verdict in verdicts)
    return " and ".join(f"{count} scripts on {version}" for version, count in numbers.items())


def _equal(verdicts: Sequence[Verdict], version: str, theme: str | None = None) -> str:
    own = [
        verdict.is_equal
        for verdict in verdicts
        if verdict.version == version and theme in (None, verdict.script.theme)
    ]
    return f"{sum(own)} of {len(own)}" if own else "–"


def _count(verdicts: Sequence[Verdict], version: str, known: Known) -> int:
    own = [v for v in verdicts if v.version == version and not v.is_equal]
    return sum(known_of(verdict) is known for verdict in own)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def replaced(document: str, text: str) -> str:
    """The document with its section of conversations replaced, or added before the last one."""
    parts = document.split("\n## ")
    own = text.removeprefix("## ").rstrip() + "\n"
    places = [number for number, part in enumerate(parts) if part.startswith(TITLE)]
    if places:
        parts[places[0]] = own
    else:
        parts.insert(max(1, len(parts) - 1), own)
    return "\n## ".join(parts)


def write(verdicts: Sequence[Verdict], seed: int) -> None:
    """Put the figures into the document."""
    today = datetime.datetime.now(datetime.UTC).date()
    document = TABLE.read_text("utf-8")
    TABLE.write_text(replaced(document, section(verdicts, seed, today)), "utf-8")
