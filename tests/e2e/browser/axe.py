"""axe-core in a page: every rule of WCAG 2.0, 2.1 and 2.2 at A and AA, and its best practices.

    report = Report()
    await report.look(app, "home")
    report.check()

Violations are collected over many states and reported together, each with the state it was seen in,
because fixing a page one violation at a time is slow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.browser.app_page import AppPage

__all__ = ["Report"]

SOURCE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

OF_COLOR = ("color-contrast", "link-in-text-block")
"""The rules that a theme can break; the others are the same in both."""

RUN = """async runOnly => {
    await document.fonts.ready;
    const passing = document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < Infinity);
    await Promise.allSettled(passing.map(one => one.finished));
    const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return found.violations.map(one => ({
        rule: one.id,
        help: one.help,
        nodes: one.nodes.map(node => ({ at: node.target.join(" "), html: node.html, why: node.failureSummary })),
    }));
}"""
FITS = "() => document.documentElement.scrollWidth <= innerWidth"


class Report:
    """What axe found, in which state; and what did not fit the screen."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self.states: list[str] = []
        self.violations: list[str] = []

    async def look(self, app: AppPage, state: str) -> None:
        """Examine what the page shows now, in both themes."""
        page = app.page
        if not await page.evaluate("'axe' in globalThis"):
            await page.evaluate(SOURCE.read_text(encoding="utf-8"))
        self.states.append(state)
        if not await page.evaluate(FITS):
            self.violations.append(f"{self._prefix}{state}: wider than the screen")
        self._add(f"{state}, light", await page.evaluate(RUN, {"type": "tag", "values": TAGS}))
        await page.emulate_media(color_scheme="dark")
        self._add(f"{state}, dark", await page.evaluate(RUN, {"type": "rule", "values": OF_COLOR}))
        await page.emulate_media(color_scheme="light")

    def _add(self, where: str, found: list[dict[str, Any]]) -> None:
        for one in found:
            for node in one["nodes"]:
                why = " ".join(node["why"].split())
                rule = f"{self._prefix}{where}: {one['rule']}"
                self.violations.append(f"{rule}\n    {node['html'][:200]}\n    {why[:300]}")

    def check(self) -> None:
        """Fail with all that was found."""
        assert self.states, "nothing was looked at"
        assert not self.violations, f"{len(self.violations)} violations\n" + "\n".join(
            self.violations
        )
