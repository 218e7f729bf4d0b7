"""Another user listens on the server's port while the server is down (T-43, T-44)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.puppet import Theatre
from tests.e2e.browser.serving import Serving
from tests.e2e.browser.squatter import CHALLENGE, WELCOME, squat
from tests.e2e.browser.stored_secrets import STORED

CONTROLLED = "() => navigator.serviceWorker.controller !== null"

WHOSE = 'async () => (await fetch("/whose")).text()'
"""The squatter's worker answers this request; the server has no such page."""

UNTIL_OURS = f"""
async () => {{
  const whose = {WHOSE};
  while ((await whose()) === "squatter") await new Promise((done) => setTimeout(done, 100));
}}
"""

POISON = """
async () => {
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      const kind = request.url.endsWith(".js") ? "text/javascript" : "text/html";
      const text = kind === "text/html" ? "<script>window.squatted = true</script>" : "window.squatted = true";
      await cache.put(request, new Response(text, { headers: { "content-type": kind } }));
    }
  }
}
"""


@pytest_asyncio.fixture(loop_scope="session")
async def serving(tmp_path: Path, theatre: Theatre) -> AsyncIterator[Serving]:
    project = tmp_path / "project"
    project.mkdir()
    serving = Serving(tmp_path, agent=theatre.agent, project=project)
    await serving.start()
    yield serving
    await serving.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(serving: Serving, chromium: Browser) -> AsyncIterator[Desk]:
    context = await chromium.new_context(locale="en-GB")
    desk = Desk(cast(House, serving), context, await context.new_page())
    yield await desk.sign_in()
    desk.errors.clear()  # A page of the squatter's may have any.
    await desk.close()


async def is_squatted(page: Page) -> bool:
    return bool(await page.evaluate("window.squatted === true"))


def sessions_of(page: Page) -> Any:
    return page.get_by_role("navigation", name="Sessions")


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize(
    "says",
    [(), (WELCOME,), (CHALLENGE,), (CHALLENGE, WELCOME), ({"type": "bye", "reason": "x", "again": False},)],
    ids=["nothing", "welcome", "challenge", "both", "bye"],
)  # fmt: skip
async def test_R15_an_open_tab_tells_a_squatter_nothing_that_can_be_used(
    serving: Serving, desk: Desk, theatre: Theatre, says: tuple[dict[str, Any], ...]
) -> None:
    await desk.start("go")
    await (await theatre.enter()).prompted()
    access = desk.access
    await serving.stop()
    async with squat(serving.port, *says) as squatter:
        await squatter.spoke.wait()
        await desk.say("a secret prompt")
        if says and says[0] is not CHALLENGE and says[0]["type"] != "bye":
            words = "Another program is listening at the server's address"
            await expect(desk.page.get_by_text(words)).to_be_visible(timeout=PATIENCE_MS)
        squatter.spoke.clear()
        await squatter.spoke.wait()  # It came back, and knows no better.
        assert {json.loads(one)["type"] for one in squatter.heard} == {"greet"}
        nonces = [json.loads(one)["nonce"] for one in squatter.heard]
        assert len(set(nonces)) == len(nonces) >= 2
        told = "\n".join([*squatter.heard, *(f"{path}{more}" for path, more in squatter.asked)])
        assert access not in told
        assert "authorization" not in told.lower()
        assert "secret prompt" not in told
    await serving.start()
    online = desk.page.get_by_text("Offline. Retrying")
    await expect(online).to_have_count(0, timeout=60_000)
    assert await desk.page.get_by_role("heading", name="Pair this device").count() == 0


async def test_R15_a_reload_beside_a_squatter_shows_our_own_page(
    serving: Serving, desk: Desk
) -> None:
    await desk.page.wait_for_function(CONTROLLED)
    await serving.stop()
    async with squat(serving.port) as squatter:
        await desk.page.reload()
        assert not await is_squatted(desk.page)
        await squatter.spoke.wait()
        assert [path for path, _ in squatter.asked if path == "/sw.js"] == []
        assert {json.loads(one)["type"] for one in squatter.heard} == {"greet"}
    await serving.start()
    await expect(sessions_of(desk.page)).to_be_visible(timeout=PATIENCE_MS)


async def test_R16_what_a_squatters_page_left_behind_does_not_run_in_our_app(
    serving: Serving, desk: Desk
) -> None:
    page = desk.page
    await page.wait_for_function(CONTROLLED)
    await serving.stop()
    async with squat(serving.port):
        # A browser without our worker: as after a forced reload.
        other = await desk.context.new_page()
        session = await desk.context.new_cdp_session(other)
        await session.send("Network.enable")
        await session.send("Network.setBypassServiceWorker", {"bypass": True})
        await other.goto(serving.base)
        assert await is_squatted(other)
        stored = await other.evaluate(STORED)
        assert (stored["keys"], stored["read"]) == (1, 0)
        assert "token" not in stored["texts"]
        await other.evaluate(POISON)
        scripts = await page.evaluate("[...document.scripts].map((one) => one.src)")
        for script in scripts:  # Into the browser's own cache, for ever.
            await other.evaluate("(src) => import(src)", script)
        await other.close()
    await serving.start()
    for _ in range(3):
        await page.goto(serving.base)
        await expect(sessions_of(page)).to_be_visible(timeout=PATIENCE_MS)
        assert not await is_squatted(page)
    await page.evaluate(
        "navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => one.unregister())))"
    )
    await page.goto(serving.base)  # Without a worker the page's own hashes count.
    assert not await is_squatted(page)


async def test_R16_a_squatters_worker_is_replaced_by_ours(serving: Serving, desk: Desk) -> None:
    page = desk.page
    await page.wait_for_function(CONTROLLED)
    await serving.stop()
    async with squat(serving.port):
        await page.evaluate(
            "navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => one.unregister())))"
        )
        await page.goto(serving.base)
        await page.evaluate(
            "caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))"
            ".then(() => navigator.serviceWorker.register('/worker-of-mine.js'))"
        )
        await page.wait_for_function(CONTROLLED)
        await page.goto(serving.base)
        assert await page.evaluate(WHOSE) == "squatter"
    await serving.start()
    # Each visit makes the browser look for an update of the worker, at a moment of its own choice:
    # the first page after the restart may still be the squatter's.
    await page.goto(serving.base)
    async with asyncio.timeout(60):
        await page.evaluate(UNTIL_OURS)
    await page.goto(serving.base)
    assert not await is_squatted(page)
    await expect(sessions_of(page)).to_be_visible(timeout=PATIENCE_MS)
