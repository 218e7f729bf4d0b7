"""Takes pictures of every state of the app, for somebody to look at.

    python -m tests.e2e.browser.pictures OUT --width 1440 --theme dark --only permission

Widths are 1440, 1024 and 390, themes light and dark: all of them unless some are named. `--only`
takes the beginning of a picture's name, and may be given more than once. A shoot that fails is
told at the end; the others go on.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import traceback
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from tests.e2e.browser.album import Album, Shoot, open_studio
from tests.e2e.browser.chromium import ARGUMENTS, HOW, find
from tests.e2e.browser.shoot_answers import ANSWERS
from tests.e2e.browser.shoot_pages import PAGES
from tests.e2e.browser.shoot_talk import TALK

__all__ = ["SHOOTS", "main", "take"]

SHOOTS: dict[str, Shoot] = {**PAGES, **TALK, **ANSWERS}
"""By the beginning that all names of their pictures have."""

WIDTHS = (1440, 1024, 390)
THEMES = ("light", "dark")


async def take(browser: Browser, album: Album) -> tuple[int, list[str]]:
    """The wanted pictures of one width and theme: how many, and what went wrong."""
    count, failed = 0, []
    for name, shoot in SHOOTS.items():
        if not album.wants_some(name):
            continue
        studio = None
        try:
            async with open_studio(browser, album) as studio:
                await shoot(studio)
        except Exception:  # noqa: BLE001 - it is told, with all of it, at the end
            failed.append(f"{name} at {album.width} {album.theme}\n{traceback.format_exc()}")
        count += len(studio.kept) if studio is not None else 0
    return count, failed


async def _take_all(given: argparse.Namespace) -> list[str]:
    path = find()
    if path is None:
        return [HOW]
    given.out.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        for width in given.width or WIDTHS:
            for theme in given.theme or THEMES:
                only = tuple(given.only or ())
                album = Album(folder=given.out, width=width, theme=theme, only=only)
                count, wrong = await take(browser, album)
                failed += wrong
                print(f"{width} {theme}: {count} pictures")  # noqa: T201 - this is a program
        await browser.close()
    return failed


def main() -> int:
    """Take the pictures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.browser.pictures")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    parser.add_argument("--theme", choices=THEMES, action="append")
    parser.add_argument("--only", metavar="NAME", action="append", help="a name or its beginning")
    failed = asyncio.run(_take_all(parser.parse_args()))
    for one in failed:
        print(one, file=sys.stderr)  # noqa: T201 - this is a program
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
