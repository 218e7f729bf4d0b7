"""A user without a mouse: every step is a key, and the focus is checked after each one.

    keys = Keys(app)
    await keys.press("n")
    await keys.write("hello")
    await keys.to(app.page.get_by_role("button", name="Start"))
    await keys.press("Enter")

Once something has the focus it must never be lost to the body of the page, and whatever has it
must show that: by an outline, a shadow or the caret of a field.
"""

from __future__ import annotations

import re

from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage

__all__ = ["Keys"]

MOST = 80
"""Tab stops on one page; with more, the keyboard is no longer usable."""

SHOWN = """node => {
    if (node.matches("textarea, input:not([type=radio], [type=checkbox])")) return true;
    if (!node.matches(":focus-visible")) return false;
    for (let at = node, up = 0; at && up < 3; at = at.parentElement, up += 1) {
        // A message draws its outline with ::before.
        for (const style of [getComputedStyle(at), getComputedStyle(at, "::before")]) {
            if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) return true;
            if (style.boxShadow !== "none") return true;
        }
    }
    return false;
}"""

PLACE = """node => {
    const at = document.activeElement;
    if (node === at) return "here";
    const group = node.closest("[data-tab-stop]");
    if (group === null || !group.contains(at) || node.closest("[popover]") !== null) return "elsewhere";
    return node.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING ? "before" : "after";
}"""
"""Where a control is, seen from the one with the focus."""


class Keys:
    """The keyboard of one page."""

    def __init__(self, app: AppPage) -> None:
        self.app = app
        self.page = app.page
        self._has_focus = False

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, and see that the focus is somewhere."""
        for key in keys:
            await self.page.keyboard.press(key)
            await self._look(key)

    async def write(self, text: str) -> None:
        """Write into what has the focus, which must be a field."""
        await expect(self.page.locator("input:focus, textarea:focus")).to_be_attached()
        await self.page.keyboard.type(text)

    async def to(self, wanted: Locator, key: str = "Tab") -> None:
        """Go on with Tab (or Shift+Tab) until something has the focus, which must be seen.

        Inside a group that is one Tab stop, an arrow key goes on.
        """
        await expect(wanted).to_be_visible()
        for _ in range(MOST):
            place = await wanted.evaluate(PLACE)
            if place == "here":
                break
            arrow = "ArrowLeft" if place == "before" else "ArrowRight"
            await self.page.keyboard.press(key if place == "elsewhere" else arrow)
        await expect(wanted).to_be_focused()
        assert await wanted.evaluate(SHOWN), "the focus cannot be seen"
        self._has_focus = True

    async def go(self, name: str, key: str = "Tab") -> None:
        """Go to a button of the page, by its name, and press it."""
        pattern = re.compile(f"^{re.escape(name)}")
        await self.to(self.page.get_by_role("main").get_by_role("button", name=pattern).first, key)
        await self.press("Enter")

    async def held(self) -> None:
        """See that the focus is on something; a closing window may take a moment to give it back."""
        self._has_focus = True
        await self._look("what happened")

    async def _look(self, after: str) -> None:
        focused = self.page.locator(":focus").first
        if not self._has_focus:
            self._has_focus = await focused.count() > 0
            return
        words = f"the focus is lost after {after}"
        await expect(focused, words).to_be_attached(timeout=PATIENCE_MS / 2)
