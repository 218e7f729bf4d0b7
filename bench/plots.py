"""`python -m bench.plots`: draws `bench/results.json` as SVG files in docs/pictures.

Plain horizontal bars, because the figures are a few numbers that are compared with each other. The
background is white, so that a page with a dark theme shows them too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from bench import results
from bench.report import short

__all__ = ["Bar", "chart", "draw"]

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"

WIDTH, LABEL, VALUE = 860, 400, 90
"""Of the picture, of the names on the left, and of the numbers on the right, in pixels."""
ROW, BAR, TOP = 30, 18, 56
OURS, OTHERS = "#2f6f4f", "#9aa5b1"
FONT = "font-family='system-ui, sans-serif' font-size='13' fill='#1f2933'"


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure."""

    name: str
    value: float
    ours: bool = True


def chart(title: str, unit: str, bars: list[Bar]) -> str:
    """An SVG picture with one bar for each figure, from zero, all on one scale."""
    height = TOP + ROW * len(bars) + 14
    longest = max((bar.value for bar in bars), default=0.0) or 1.0
    room = WIDTH - LABEL - VALUE
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
        f"viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{_text(title)}'>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        f"<text x='16' y='24' font-weight='600' {FONT}>{_text(title)}</text>",
        f"<text x='16' y='42' {FONT} opacity='0.7'>{_text(unit)}; shorter is better</text>",
    ]
    for number, bar in enumerate(bars):
        y = TOP + ROW * number
        width = max(1.0, room * bar.value / longest)
        middle = y + BAR / 2 + 5
        fill = OURS if bar.ours else OTHERS
        parts += [
            f"<text x='{LABEL - 10}' y='{middle}' text-anchor='end' {FONT}>{_text(bar.name)}</text>",
            f"<rect x='{LABEL}' y='{y}' width='{width:.1f}' height='{BAR}' rx='2' fill='{fill}'/>",
            f"<text x='{LABEL + width + 8:.1f}' y='{middle}' {FONT}>{short(bar.value)}</text>",
        ]
    return "\n".join((*parts, "</svg>", ""))


def draw(parts: dict[str, Any], folder: Path) -> list[Path]:
    """Write a picture for each part that was measured; returns their paths."""
    pictures: dict[str, str] = {}
    for outcome in parts.get("reading", ()):
        name = outcome["traffic"]["name"]
        bars = [
            Bar(one["name"], one["micros_per_message"], one["name"].startswith("Fairlead"))
            for one in outcome["contenders"]
        ]
        unit = "µs of CPU time per message"
        pictures[f"bench-reading-{name}"] = chart(f"Reading {name}", unit, bars)
    if "server" in parts:
        pictures["bench-server"] = _server(parts["server"])
    if "servers" in parts:
        pictures["bench-servers"] = _servers(parts["servers"])
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, picture in pictures.items():
        path = folder / f"{name}.svg"
        path.write_text(picture, "utf-8")
        paths.append(path)
    return paths


def _server(figures: dict[str, Any]) -> str:
    sessions, sockets = figures["sessions"], figures["sockets"]
    title = f"Control round trips with {sessions} sessions and {sockets} sockets, 99th percentile"
    bars = [Bar(row["name"], row["p99_ms"]) for row in figures["round_trips"]]
    return chart(title, "milliseconds", bars)


def _servers(figures: dict[str, Any]) -> str:
    title = f"{figures['sessions']} sessions at {figures['lines_per_s']:g} lines a second each"
    unit = "CPU time per line, µs"
    bars = [
        Bar(f"{one['name']} {one['version']}", one["figures"][unit], one["name"] == "Fairlead")
        for one in figures["servers"]
        if unit in one["figures"]
    ]
    return chart(title, f"{unit}, of all processes of the server", bars)


def main() -> int:
    """Draw everything."""
    paths = draw(results.load(), PICTURES)
    if not paths:
        print(f"bench: {results.FILE} has no figures; run `make bench` first", file=sys.stderr)
        return 1
    for path in paths:
        print(path)
    return 0


def _text(text: str) -> str:
    return escape(text, {"'": "&apos;"})


if __name__ == "__main__":
    sys.exit(main())
