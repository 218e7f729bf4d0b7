"""Takes screenshots of the app: servers, pages of one width and theme, and the target folder.

    async with open_screenshot_run(browser, target) as shots:
        server = await shots.emulated(SCRIPT)
        app = await shots.visit(server)
        await app.start("go")
        await shots.keep(app, "first-words")

Does not know what a screenshot shows; `sample_project` has the data, the `shoot_*` modules the
states.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, Locator, expect

from fairlead.testing.emulated import EmulatedClaude
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer, open_app_server
from tests.e2e.browser.fake_cli import FakeCli, FakeCliProcess, open_fake_cli
from tests.e2e.browser.sample_project import remember, write_project
from tests.e2e.browser.sockets import KEEP_SOCKETS

__all__ = ["PHONE", "ScreenshotRun", "ScreenshotTarget", "Shoot", "open_screenshot_run"]

T = TypeVar("T")

PHONE = 390
YESTERDAY = time.time() - 86_400
HEIGHTS = {PHONE: 844, 1024: 768}

STILL = """async () => {
    await document.fonts.ready;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotTarget:
    """Where screenshots are saved, and which of them are selected."""

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


class ScreenshotRun:
    """One run: its servers and pages, closed with it."""

    def __init__(
        self, browser: Browser, target: ScreenshotTarget, folder: Path, ends: AsyncExitStack
    ) -> None:
        self._browser = browser
        self.folder = folder
        self._ends = ends
        self.target = target
        self.kept: list[str] = []

    async def emulated(
        self, script: Any, *, before: str | None = None, **options: Any
    ) -> AppServer:
        """A server in a shop whose agent plays a script; `before` was asked without the server."""
        claude = EmulatedClaude(self.folder / "claude", script)
        project = claude.project = self.folder / "shop-api"
        write_project(project)
        if before is not None:
            claude.run(before)
            for path in claude.transcripts():
                os.utime(path, (YESTERDAY, YESTERDAY))  # A fresh file seems to be in use.
        return await self._ends.enter_async_context(
            open_app_server(
                self.folder, agent=claude.executable, project=project, home=claude.home,
                **options,
            )
        )  # fmt: skip

    async def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter something that ends with the run."""
        return await self._ends.enter_async_context(context)

    async def fake_cli(self) -> tuple[AppServer, FakeCli]:
        """A server whose agent hangs on strings."""
        fake_cli = await self._ends.enter_async_context(open_fake_cli(self.folder))
        project = self.folder / "shop-api"
        write_project(project)
        return (
            await self._ends.enter_async_context(
                open_app_server(self.folder, agent=fake_cli.agent, project=project)
            ),
            fake_cli,
        )

    async def begin_turn(self, prompt: str) -> tuple[AppPage, FakeCliProcess]:
        """A page in the middle of a turn of the fake CLI."""
        server, fake_cli = await self.fake_cli()
        app = await self.visit(server)
        await app.start(prompt)
        cli = await fake_cli.enter()
        await cli.prompted()
        return app, cli

    async def past(self) -> None:
        """Let the next server have been used for a month."""
        await remember(self.folder / "data", self.folder)

    async def visit(self, server: AppServer, *, signed_in: bool = True) -> AppPage:
        """A page of the album's width and theme."""
        target = self.target
        context = await self._browser.new_context(
            viewport={"width": target.width, "height": HEIGHTS.get(target.width, 900)},
            color_scheme="dark" if target.theme == "dark" else "light",
            has_touch=target.phone,
            reduced_motion="reduce",
            locale="en-GB",
            permissions=["clipboard-read", "clipboard-write"],
        )
        self._ends.push_async_callback(context.close)
        await context.add_init_script(KEEP_SOCKETS)
        app = AppPage(server, context, await context.new_page())
        return await app.sign_in() if signed_in else app

    async def keep(self, app: AppPage, name: str) -> None:
        """Take the picture, if it is wanted."""
        if not self.target.wants(name):
            return
        await app.page.evaluate(STILL)
        await app.page.screenshot(path=self.target.path(name))
        self.kept.append(name)

    async def details(self, app: AppPage) -> Locator:
        """The details of a session, opened if there is no room for them next to it."""
        panel = app.page.get_by_role("complementary", name="Details")
        if not await panel.is_visible():
            toggle = app.page.get_by_role("button", name="Details", exact=True)
            if await toggle.is_visible():
                await toggle.click()
            else:
                await app.more("Details")
            await expect(panel).to_be_visible()
        return panel

    async def put_away(self, app: AppPage) -> None:
        """Close the details if they cover the conversation."""
        panel = app.page.get_by_role("complementary", name="Details")
        close = panel.get_by_role("button", name="Close", exact=True).first
        if await close.is_visible():
            await close.click()


Shoot = Callable[[ScreenshotRun], Awaitable[None]]


@asynccontextmanager
async def open_screenshot_run(
    browser: Browser, target: ScreenshotTarget
) -> AsyncIterator[ScreenshotRun]:
    """For one shoot."""
    with tempfile.TemporaryDirectory(prefix="ada-") as folder:
        async with AsyncExitStack() as ends:
            yield ScreenshotRun(browser, target, Path(folder), ends)
