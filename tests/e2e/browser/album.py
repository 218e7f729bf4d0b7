"""A studio for pictures of the app: servers, desks of one width and theme, and what to keep.

    async with open_studio(browser, album) as studio:
        house = await studio.emulated(SCRIPT)
        desk = await studio.visit(house)
        await desk.start("go")
        await studio.keep(desk, "first-words")

Knows nothing of what is in a picture; `shop` has the things, the `shoot_*` modules the poses.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Locator, expect

from fairlead.testing.emulated import EmulatedClaude
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.house import House, open_house
from tests.e2e.browser.puppet import Puppet, Theatre, open_theatre
from tests.e2e.browser.shop import furnish, remember
from tests.e2e.browser.sockets import KEEP_SOCKETS

__all__ = ["PHONE", "Album", "Shoot", "Studio", "open_studio"]

PHONE = 390
YESTERDAY = time.time() - 86_400
HEIGHTS = {PHONE: 844, 1024: 768}

STILL = """async () => {
    await document.fonts.ready;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """Where pictures go, and which of them are wanted."""

    folder: Path
    width: int
    theme: str
    only: tuple[str, ...] = ()
    """Beginnings of names; none for all."""

    @property
    def phone(self) -> bool:
        return self.width <= PHONE

    def wants(self, name: str) -> bool:
        return not self.only or any(name.startswith(one) for one in self.only)

    def wants_some(self, shoot: str) -> bool:
        """Whether any picture whose name begins with this is wanted."""
        return self.wants(shoot) or any(one.startswith(f"{shoot}-") for one in self.only)

    def path(self, name: str) -> Path:
        return self.folder / f"{name}-{self.width}-{self.theme}.png"


class Studio:
    """One shoot: its servers and desks, closed with it."""

    def __init__(self, browser: Browser, album: Album, folder: Path, ends: AsyncExitStack) -> None:
        self._browser = browser
        self._folder = folder
        self._ends = ends
        self.album = album
        self.kept: list[str] = []

    async def emulated(self, script: Any, *, before: str | None = None, **options: Any) -> House:
        """A server in a shop whose agent plays a script; `before` was asked without the server."""
        claude = EmulatedClaude(self._folder / "claude", script)
        project = claude.project = self._folder / "shop-api"
        furnish(project)
        if before is not None:
            claude.run(before)
            for path in claude.transcripts():
                os.utime(path, (YESTERDAY, YESTERDAY))  # A fresh file seems to be in use.
        return await self._ends.enter_async_context(
            open_house(
                self._folder, agent=claude.executable, project=project, home=claude.home,
                **options,
            )
        )  # fmt: skip

    async def theatre(self) -> tuple[House, Theatre]:
        """A server whose agent hangs on strings."""
        theatre = await self._ends.enter_async_context(open_theatre(self._folder))
        project = self._folder / "shop-api"
        furnish(project)
        return (
            await self._ends.enter_async_context(
                open_house(self._folder, agent=theatre.agent, project=project)
            ),
            theatre,
        )

    async def perform(self, prompt: str) -> tuple[Desk, Puppet]:
        """A desk in the middle of a turn of an agent on strings."""
        house, theatre = await self.theatre()
        desk = await self.visit(house)
        await desk.start(prompt)
        puppet = await theatre.enter()
        await puppet.prompted()
        return desk, puppet

    async def past(self) -> None:
        """Let the next server have been used for a month."""
        await remember(self._folder / "data", self._folder)

    async def visit(self, house: House, *, signed_in: bool = True) -> Desk:
        """A page of the album's width and theme."""
        album = self.album
        context = await self._browser.new_context(
            viewport={"width": album.width, "height": HEIGHTS.get(album.width, 900)},
            color_scheme="dark" if album.theme == "dark" else "light",
            has_touch=album.phone,
            reduced_motion="reduce",
            locale="en-GB",
            permissions=["clipboard-read", "clipboard-write"],
        )
        self._ends.push_async_callback(context.close)
        await context.add_init_script(KEEP_SOCKETS)
        desk = Desk(house, context, await context.new_page())
        return await desk.sign_in() if signed_in else desk

    async def keep(self, desk: Desk, name: str) -> None:
        """Take the picture, if it is wanted."""
        if not self.album.wants(name):
            return
        await desk.page.evaluate(STILL)
        await desk.page.screenshot(path=self.album.path(name))
        self.kept.append(name)

    async def details(self, desk: Desk) -> Locator:
        """The details of a session, opened where there is no room for them beside it."""
        panel = desk.page.get_by_role("complementary", name="Details")
        if not await panel.is_visible():
            toggle = desk.page.get_by_role("button", name="Details", exact=True)
            if await toggle.is_visible():
                await toggle.click()
            else:
                await desk.more("Details")
            await expect(panel).to_be_visible()
        return panel

    async def put_away(self, desk: Desk) -> None:
        """Close the details where they lie over the conversation."""
        panel = desk.page.get_by_role("complementary", name="Details")
        close = panel.get_by_role("button", name="Close", exact=True).first
        if await close.is_visible():
            await close.click()


Shoot = Callable[[Studio], Awaitable[None]]


@asynccontextmanager
async def open_studio(browser: Browser, album: Album) -> AsyncIterator[Studio]:
    """For one shoot."""
    with tempfile.TemporaryDirectory(prefix="ada-") as folder:
        async with AsyncExitStack() as ends:
            yield Studio(browser, album, Path(folder), ends)
