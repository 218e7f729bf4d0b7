"""Takes screenshots of every state of the app, to be looked at.

    python -m tests.e2e.browser.pictures OUT --width 1440 --theme dark --only permission
    python -m tests.e2e.browser.pictures OUT --docs

Widths are 1440, 1024 and 390, themes light and dark: all of them unless some are named. `--only`
takes the beginning of a picture's name, and may be given more than once. `--docs` takes the
pictures of the documentation and copies them to docs/pictures. A shoot that fails is reported at
the end; the others continue.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from tests.e2e.browser.chromium import ARGUMENTS, HOW, find
from tests.e2e.browser.screenshots import ScreenshotTarget, Shoot, open_screenshot_run
from tests.e2e.browser.shoot_answers import ANSWERS
from tests.e2e.browser.shoot_changes import CHANGES
from tests.e2e.browser.shoot_order import ORDER
from tests.e2e.browser.shoot_pages import PAGES
from tests.e2e.browser.shoot_states import STATES
from tests.e2e.browser.shoot_talk import TALK

__all__ = ["SHOOTS", "main", "take"]

SHOOTS: dict[str, Shoot] = {**PAGES, **CHANGES, **ORDER, **TALK, **ANSWERS, **STATES}
"""By the beginning that all names of their pictures have."""

WIDTHS = (1440, 1024, 390)
THEMES = ("light", "dark")

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
DOCS: dict[str, tuple[str, int, str]] = {
    "home": ("board-home", 1440, "light"),
    "board": ("board-all", 1440, "light"),
    "change": ("card-edit-beside", 1440, "light"),
    "changes": ("changes-file", 1440, "light"),
    "changes-beside": ("changes-beside", 1440, "light"),
    "review": ("review-drafts", 1440, "light"),
    "git": ("git-hunks", 1440, "light"),
    "files": ("files-line", 1440, "light"),
    "variants": ("variants-compare", 1440, "light"),
    "rewind": ("rewind-preview", 1440, "light"),
    "sessions": ("order-selected", 1440, "light"),
    "drawn": ("extras-drawn", 1440, "light"),
    "desk": ("desk-decision", 1440, "light"),
    "desk-dark": ("desk-decision", 1440, "dark"),
    "details": ("panel-full", 1440, "light"),
    "inbox-phone": ("inbox-several", 390, "dark"),
    "permission": ("permission-hidden", 1440, "light"),
    "phone": ("permission-command", 390, "light"),
    "plan": ("plan-comment", 1440, "light"),
    "question": ("question-preview", 1440, "light"),
    "search": ("past-search", 1440, "light"),
    "usage": ("past-usage", 1440, "light"),
    "words": ("talk-words-end", 1440, "light"),
}
"""The pictures of the documentation: name, width and theme of each."""


async def take(browser: Browser, target: ScreenshotTarget) -> tuple[int, list[str]]:
    """The wanted pictures of one width and theme: how many, and what went wrong."""
    count, failed = 0, []
    for name, shoot in SHOOTS.items():
        if not target.wants_some(name):
            continue
        shots = None
        try:
            async with open_screenshot_run(browser, target) as shots:
                await shoot(shots)
        except Exception:  # noqa: BLE001 - it is reported at the end
            failed.append(f"{name} at {target.width} {target.theme}\n{traceback.format_exc()}")
        count += len(shots.kept) if shots is not None else 0
    return count, failed


def _targets(given: argparse.Namespace) -> Iterator[ScreenshotTarget]:
    if not given.docs:
        for width in given.width or WIDTHS:
            for theme in given.theme or THEMES:
                only = tuple(given.only or ())
                yield ScreenshotTarget(folder=given.out, width=width, theme=theme, only=only)
        return
    for width, theme in sorted({(width, theme) for _, width, theme in DOCS.values()}):
        only = tuple(name for name, *place in DOCS.values() if place == [width, theme])
        yield ScreenshotTarget(folder=given.out, width=width, theme=theme, only=only)


def _copy_docs(out: Path) -> None:
    for name, (picture, width, theme) in DOCS.items():
        shutil.copy(
            ScreenshotTarget(folder=out, width=width, theme=theme).path(picture),
            FOLDER / f"{name}.png",
        )


async def _take_all(given: argparse.Namespace) -> list[str]:
    path = find()
    if path is None:
        return [HOW]
    given.out.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        for target in _targets(given):
            count, wrong = await take(browser, target)
            failed += wrong
            print(f"{target.width} {target.theme}: {count} pictures")  # noqa: T201 - this is a program
        await browser.close()
    if given.docs and not failed:
        _copy_docs(given.out)
    return failed


def main() -> int:
    """Take the pictures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.browser.pictures")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    parser.add_argument("--theme", choices=THEMES, action="append")
    parser.add_argument("--only", metavar="NAME", action="append", help="a name or its beginning")
    parser.add_argument("--docs", action="store_true", help="take those of the documentation")
    failed = asyncio.run(_take_all(parser.parse_args()))
    for problem in failed:
        print(problem, file=sys.stderr)  # noqa: T201 - this is a program
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
