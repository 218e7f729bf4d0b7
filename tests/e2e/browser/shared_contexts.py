"""Browser contexts that one test after another uses, each with a page of its own.

    contexts = SharedContexts(browser)
    app = await contexts.open(server, size={"width": 1440, "height": 900})
    await contexts.release(app)          # The next test may use the context.
    await contexts.close()

To open the app in a new context takes 1.0 s of CPU time, and 0.7 s in a shared one. It keeps what no test
can notice: the process, and files of the app with their compiled code, which have an address with a
hash and never change. The app is isolated by its origin (COOP and COEP), so only pages of the same
address and port share a process; all servers of a worker have one port (`app_server.py`), and a page
with the app's icon stays open there, because the process would end with its last page. `release`
removes everything else: pages, cookies, all storage of the origins that were used, permissions and
the offline state.

What cannot be removed from a context is refused, such as an init script: such a test takes a context of
its own, `visit(server, fresh=True)`. So does the second page of a test, because it is another device.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, NoReturn

from playwright.async_api import Browser, BrowserContext, CDPSession, Page, ViewportSize

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer

__all__ = ["SharedContexts", "settings"]

ICON = "icon.svg"
"""A file of the app that has its headers and no script."""

PERMANENT = ("add_init_script", "expose_binding", "expose_function", "on", "once", "route")
"""Methods whose effect on a context would reach the next test."""


def settings(*, phone: bool, dark: bool = False, worker: bool = False) -> dict[str, Any]:
    """What every context of the tests has."""
    return {
        "color_scheme": "dark" if dark else "light",
        "has_touch": phone,
        "reduced_motion": "reduce",
        "locale": "en-GB",
        "service_workers": "allow" if worker else "block",
    }


def _refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("other tests use this context: take visit(server, fresh=True)")


@dataclass
class _Shared:
    """One context, its page that stays open, and whether a test has it now."""

    context: BrowserContext
    anchor: Page
    session: CDPSession
    taken: bool = False


class SharedContexts:
    """One context for wide screens and one for phones, made when they are first needed."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: dict[bool, _Shared] = {}

    def is_free(self, *, phone: bool) -> bool:
        """Whether no page of the present test has the context."""
        return phone not in self._contexts or not self._contexts[phone].taken

    async def open(
        self, server: AppServer, *, size: ViewportSize, dark: bool = False, phone: bool = False
    ) -> AppPage:
        """A new page in a shared context, which is empty."""
        shared = self._contexts.get(phone) or await self._make(phone)
        icon = f"{server.base.rstrip('/')}/{ICON}"
        if shared.anchor.url != icon:
            await shared.anchor.goto(icon)
        page = await shared.context.new_page()
        await page.set_viewport_size(size)
        if dark:
            await page.emulate_media(color_scheme="dark")
        shared.taken = True
        return AppPage(server, shared.context, page)

    async def release(self, app: AppPage) -> None:
        """Remove what a test left in the context of a page; if that fails, the next one gets another."""
        phone, shared = next(
            (phone, one) for phone, one in self._contexts.items() if one.context is app.context
        )
        try:
            await self._empty(shared, app.origins | {app.server.base.rstrip("/")})
        except BaseException:
            del self._contexts[phone]
            await shared.context.close()
            raise
        shared.taken = False

    async def close(self) -> None:
        for shared in self._contexts.values():
            await shared.context.close()

    async def _make(self, phone: bool) -> _Shared:
        context = await self._browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1440, "height": 900},
            **settings(phone=phone),
        )
        anchor = await context.new_page()
        for name in PERMANENT:
            setattr(context, name, _refuse)
        made = _Shared(context, anchor, await context.new_cdp_session(anchor))
        self._contexts[phone] = made
        return made

    async def _empty(self, shared: _Shared, origins: set[str]) -> None:
        context = shared.context
        await asyncio.gather(*(page.close() for page in context.pages if page is not shared.anchor))
        await context.clear_cookies()
        await context.clear_permissions()
        await context.set_offline(False)
        for origin in origins:
            what = {"origin": origin, "storageTypes": "all"}
            await shared.session.send("Storage.clearDataForOrigin", what)
