"""What one test leaves in a browser does not reach the next one, although they share a context."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.shared_contexts import SharedContexts
from tests.waiting import until

SIZE: ViewportSize = {"width": 1440, "height": 900}

LEAVE = """async () => {
    localStorage.left = sessionStorage.left = document.cookie = "left=1";
    await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
    await (await caches.open("left")).put("/left", new Response("left"));
    globalThis.left = true;
}"""

LEFT = """async () => [
    Object.keys(localStorage), Object.keys(sessionStorage), document.cookie, await caches.keys(),
    (await indexedDB.databases()).map((one) => one.name), "left" in globalThis, history.length,
    (await navigator.permissions.query({ name: "clipboard-read" })).state, navigator.onLine,
]"""


async def test_nothing_of_a_page_reaches_the_next_one(
    contexts: SharedContexts, demo: AppServer
) -> None:
    address = f"{demo.base}/help"
    clean = await contexts.open(demo, size=SIZE)
    await clean.page.goto(address)
    nothing = await clean.page.evaluate(LEFT)
    await contexts.release(clean)

    app = await contexts.open(demo, size=SIZE)
    await app.sign_in()
    await app.page.evaluate(LEAVE)
    await app.context.grant_permissions(["clipboard-read"])
    await app.page.evaluate("console.error('left')")
    other = await app.context.new_page()
    await other.goto(demo.base)
    left = await app.page.evaluate(LEFT)
    assert all(one != two for one, two in zip(left[:6], nothing[:6], strict=True)), left
    followers = demo.service.registry.hub.followers
    await until(lambda: followers("lobby") == 2)
    await app.context.set_offline(True)
    await contexts.release(app)
    assert app.errors == ["left"]
    assert other.is_closed()
    await until(lambda: followers("lobby") == 0)

    after = await contexts.open(demo, size=SIZE)
    await after.page.goto(address)
    await expect(after.page.get_by_role("heading", name="Pair this device")).to_be_visible()
    assert await after.page.evaluate(LEFT) == nothing
    assert after.errors == []
    assert after.context is app.context
    await contexts.release(after)


async def test_what_cannot_be_removed_from_a_shared_context_is_refused(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo, role=None)
    opened: list[Page] = []
    with pytest.raises(AssertionError, match="fresh=True"):
        await app.context.add_init_script("1")
    with pytest.raises(AssertionError, match="fresh=True"):
        app.context.on("page", opened.append)
    second = await visit(demo, role=None)
    assert second.context is not app.context
    fresh = await visit(demo, role=None, fresh=True)
    await fresh.context.add_init_script("1")
