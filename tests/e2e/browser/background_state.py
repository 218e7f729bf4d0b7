"""What every part of the app shows of background work."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.e2e.browser.app_page import AppPage

__all__ = ["expect_background"]


async def expect_background(app: AppPage, title: str, count: int) -> None:
    """Every place says that it is the user's turn and that so much runs in the background."""
    words = f"Your turn · {count} in background" if count else "Your turn"
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("status").filter(has_text=words).first).to_be_visible()
    status = app.page.get_by_role("region", name="Status")
    await expect(status).to_contain_text(words)
    await expect(status.get_by_role("button", name="Stop turn")).to_have_count(0)
    await expect(app.stop_button).to_have_count(0)
    if count:
        await expect(app.listed(title).first).to_contain_text(words)
        await expect(app.composer).to_have_attribute("placeholder", re.compile(f"^{words}"))
        groups = app.page.get_by_role("navigation", name="Sessions").get_by_role("heading")
        await expect(groups.first).to_contain_text("Running")
    else:
        await expect(app.listed(title).first).not_to_contain_text("in background")
