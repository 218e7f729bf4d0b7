"""Names that others wrote hide nothing, wherever they are listed (T-41)."""

from __future__ import annotations

import time
import uuid

from playwright.async_api import Page, expect

from fairlead.store.tables.devices import Device
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.hidden_characters import BARE, NAMED


async def bare(page: Page) -> list[str]:
    """Hidden characters that the page shows unchanged, the tab's title included."""
    found: list[str] = await page.locator("body").evaluate(BARE)
    title = await page.title()
    return found + [f"tab: U+{ord(one):X}" for one in title if one in NAMED and ord(one) > 126]


async def test_no_title_or_name_hides_a_character(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    page = app.page
    await app.start("edit")
    session, title = app.session, f"title{NAMED}"
    await app.more("Rename")
    await page.get_by_role("textbox", name="Session name").first.fill(title)
    await page.keyboard.press("Enter")
    heading = page.get_by_role("heading", level=1)
    await expect(heading.locator('[title^="U+"]').first).to_be_visible()
    assert await bare(page) == []
    device = Device(
        id=str(uuid.uuid4()), name=f"phone{NAMED}", role="viewer", token_hash=uuid.uuid4().hex,
        created=time.time(), last_seen=time.time(),
    )  # fmt: skip
    await demo.service.store.put_device(device)
    demo.service.registry.paired(device)
    await page.goto(f"{demo.base}/devices")
    shown = page.get_by_role("list", name="Devices").locator('[title^="U+"]')
    await expect(shown.first).to_be_visible()
    assert await bare(page) == []
    await page.get_by_role("button", name="Revoke phone").click()
    await expect(page.get_by_role("dialog")).to_contain_text("⟨RLO⟩")
    assert await bare(page) == []
    await page.goto(f"{demo.base}/inbox")
    await expect(page.get_by_text("title").first).to_be_visible()
    assert await bare(page) == []
    await page.goto(f"{demo.base}/s/{session}/log")
    await expect(page.get_by_text("⟨RLO⟩").first).to_be_visible()
    assert await bare(page) == []
    await page.goto(f"{demo.base}/")
    await expect(page.get_by_role("main").locator('[title^="U+"]').first).to_be_visible()
    assert await bare(page) == []
