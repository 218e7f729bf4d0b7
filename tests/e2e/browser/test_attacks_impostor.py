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

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.fake_cli import FakeCli
from tests.e2e.browser.port_impostor import CHALLENGE, WELCOME, take_port
from tests.e2e.browser.server_process import ServerProcess
from tests.e2e.browser.stored_secrets import STORED

CONTROLLED = "() => navigator.serviceWorker.controller !== null"

WHOSE = 'async () => (await fetch("/whose")).text()'
"""The impostor's worker answers this request; the server has no such page."""

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
async def server_process(tmp_path: Path, fake_cli: FakeCli) -> AsyncIterator[ServerProcess]:
    project = tmp_path / "project"
    project.mkdir()
    server_process = ServerProcess(tmp_path, agent=fake_cli.agent, project=project)
    await server_process.start()
    yield server_process
    await server_process.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def app(server_process: ServerProcess, chromium: Browser) -> AsyncIterator[AppPage]:
    context = await chromium.new_context(locale="en-GB")
    app = AppPage(cast(AppServer, server_process), context, await context.new_page())
    yield await app.sign_in()
    app.errors.clear()  # A page of the squatter's may have any.
    await app.close()


async def is_impostor_page(page: Page) -> bool:
    return bool(await page.evaluate("window.squatted === true"))


def sessions_of(page: Page) -> Any:
    return page.get_by_role("navigation", name="Sessions")


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize(
    "says",
    [(), (WELCOME,), (CHALLENGE,), (CHALLENGE, WELCOME), ({"type": "bye", "reason": "x", "again": False},)],
    ids=["nothing", "welcome", "challenge", "both", "bye"],
)  # fmt: skip
async def test_R15_an_open_tab_sends_an_impostor_nothing_usable(
    server_process: ServerProcess, app: AppPage, fake_cli: FakeCli, says: tuple[dict[str, Any], ...]
) -> None:
    await app.start("go")
    await (await fake_cli.enter()).prompted()
    access = app.access
    await server_process.stop()
    async with take_port(server_process.port, *says) as impostor:
        await impostor.spoke.wait()
        await app.say("a secret prompt")
        if says and says[0] is not CHALLENGE and says[0]["type"] != "bye":
            words = "Another program is listening at the server's address"
            await expect(app.page.get_by_text(words)).to_be_visible(timeout=PATIENCE_MS)
        impostor.spoke.clear()
        await impostor.spoke.wait()  # It came back, and knows no better.
        assert {json.loads(one)["type"] for one in impostor.heard} == {"greet"}
        nonces = [json.loads(one)["nonce"] for one in impostor.heard]
        assert len(set(nonces)) == len(nonces) >= 2
        told = "\n".join([*impostor.heard, *(f"{path}{more}" for path, more in impostor.asked)])
        assert access not in told
        assert "authorization" not in told.lower()
        assert "secret prompt" not in told
    await server_process.start()
    online = app.page.get_by_text("Offline. Retrying")
    await expect(online).to_have_count(0, timeout=60_000)
    assert await app.page.get_by_role("heading", name="Pair this device").count() == 0


@pytest.mark.matrix(target="browser", cases=0)
async def test_R15_a_reload_while_an_impostor_listens_shows_the_apps_own_page(
    server_process: ServerProcess, app: AppPage
) -> None:
    await app.page.wait_for_function(CONTROLLED)
    await server_process.stop()
    async with take_port(server_process.port) as impostor:
        await app.page.reload()
        assert not await is_impostor_page(app.page)
        await impostor.spoke.wait()
        assert [path for path, _ in impostor.asked if path == "/sw.js"] == []
        assert {json.loads(one)["type"] for one in impostor.heard} == {"greet"}
    await server_process.start()
    await expect(sessions_of(app.page)).to_be_visible(timeout=PATIENCE_MS)


async def test_R16_what_an_impostors_page_left_behind_does_not_run_in_the_app(
    server_process: ServerProcess, app: AppPage
) -> None:
    page = app.page
    await page.wait_for_function(CONTROLLED)
    await server_process.stop()
    async with take_port(server_process.port):
        # A browser without our worker: as after a forced reload.
        other = await app.context.new_page()
        session = await app.context.new_cdp_session(other)
        await session.send("Network.enable")
        await session.send("Network.setBypassServiceWorker", {"bypass": True})
        await other.goto(server_process.base)
        assert await is_impostor_page(other)
        stored = await other.evaluate(STORED)
        assert (stored["keys"], stored["read"]) == (1, 0)
        assert "token" not in stored["texts"]
        await other.evaluate(POISON)
        scripts = await page.evaluate("[...document.scripts].map((one) => one.src)")
        for script in scripts:  # Into the browser's own cache, for ever.
            await other.evaluate("(src) => import(src)", script)
        await other.close()
    await server_process.start()
    for _ in range(3):
        await page.goto(server_process.base)
        await expect(sessions_of(page)).to_be_visible(timeout=PATIENCE_MS)
        assert not await is_impostor_page(page)
    await page.evaluate(
        "navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => one.unregister())))"
    )
    await page.goto(server_process.base)  # Without a worker the page's own hashes count.
    assert not await is_impostor_page(page)


@pytest.mark.matrix(target="browser", cases=0)
async def test_R16_an_impostors_worker_is_replaced_by_the_apps(
    server_process: ServerProcess, app: AppPage
) -> None:
    page = app.page
    await page.wait_for_function(CONTROLLED)
    await server_process.stop()
    async with take_port(server_process.port):
        await page.evaluate(
            "navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => one.unregister())))"
        )
        await page.goto(server_process.base)
        await page.evaluate(
            "caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))"
            ".then(() => navigator.serviceWorker.register('/worker-of-mine.js'))"
        )
        await page.wait_for_function(CONTROLLED)
        await page.goto(server_process.base)
        assert await page.evaluate(WHOSE) == "squatter"
    await server_process.start()
    # Each visit makes the browser look for an update of the worker, at a moment of its own choice:
    # the first page after the restart may still be the squatter's.
    await page.goto(server_process.base)
    async with asyncio.timeout(60):
        await page.evaluate(UNTIL_OURS)
    await page.goto(server_process.base)
    assert not await is_impostor_page(page)
    await expect(sessions_of(page)).to_be_visible(timeout=PATIENCE_MS)
