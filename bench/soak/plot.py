"""The series of a long run as one SVG picture, each with the line that shows its slope."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from bench.report import short
from bench.soak.samples import MEASURES, WARM, Measure, Sample, slope

__all__ = ["picture"]

WIDTH, PANEL, LEFT, RIGHT, TOP = 860, 130, 90, 20, 40
SERIES, TREND, FONT = (
    "#2f6f4f",
    "#c2410c",
    "font-family='system-ui, sans-serif' font-size='13' fill='#1f2933'",
)


def picture(title: str, samples: Sequence[Sample]) -> str:
    """One panel for each measure, all over the same time, each from zero."""
    height = TOP + PANEL * len(MEASURES) + 10
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
        f"viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{escape(title)}'>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        f"<text x='16' y='24' font-weight='600' {FONT}>{escape(title)}</text>",
    ]
    for number, measure in enumerate(MEASURES):
        parts += _panel(TOP + PANEL * number, measure, samples)
    return "\n".join((*parts, "</svg>", ""))


def _panel(top: float, measure: Measure, samples: Sequence[Sample]) -> list[str]:
    values = [measure.value(one) for one in samples]
    most = max(values) or 1.0
    end = samples[-1].at_s or 1.0
    floor = top + PANEL - 26
    room = PANEL - 52

    def place(at_s: float, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * at_s / end
        return f"{x:.1f},{floor - room * value / most:.1f}"

    growth = slope(samples, measure)
    warm = [one for one in samples if one.at_s >= WARM * end]
    middle = sum(map(measure.value, warm)) / len(warm)
    center = sum(one.at_s for one in warm) / len(warm)
    trend = (
        place(one.at_s, middle + growth * (one.at_s - center) / 60) for one in (warm[0], warm[-1])
    )
    unit = f" {measure.unit}" if measure.unit else ""
    head = f"{measure.name}: {growth:+,.3g}{unit} a minute after the first third"
    points = " ".join(place(one.at_s, measure.value(one)) for one in samples)
    return [
        f"<text x='{LEFT}' y='{top + 16:.0f}' {FONT}>{escape(head)}</text>",
        f"<text x='{LEFT - 8}' y='{floor - room + 5:.0f}' text-anchor='end' {FONT}>"
        f"{short(most)}{unit}</text>",
        f"<text x='{LEFT - 8}' y='{floor + 4:.0f}' text-anchor='end' {FONT}>0</text>",
        f"<line x1='{LEFT}' y1='{floor}' x2='{WIDTH - RIGHT}' y2='{floor}' stroke='#9aa5b1'/>",
        f"<polyline fill='none' stroke='{SERIES}' stroke-width='1.5' points='{points}'/>",
        f"<polyline fill='none' stroke='{TREND}' stroke-width='1.5' stroke-dasharray='5 4' "
        f"points='{' '.join(trend)}'/>",
    ]
