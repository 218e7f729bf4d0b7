"""The web app on a phone behind a real nginx with TLS below a path (docs/remote.md)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.hostile_server import ammunition, attack, open_hostile_server
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import say, scene, use
from tests.server.remote.real_proxies import RealProxy, real_proxy
from tests.server.remote.recipes import PATH

pytestmark = pytest.mark.service_worker

TRUSTED = "127.0.0.1"

SCRIPT = [
    scene("first", say("Behind nginx.")),
    scene("touch", use("Bash", command="touch made-behind-nginx"), say("Touched.")),
    scene(None, say("Answer to: {{prompt}}")),
]

POISON = """async () => {
  const page = (await caches.keys()).find((name) => name.startsWith("fairlead-shell"));
  const cache = await caches.open(page);
  const evil = () => new Response("<title>evil</title>", { headers: { "content-type": "text/html" } });
  for (const request of await cache.keys()) await cache.put(request, evil());
  return (await cache.keys()).map((request) => new URL(request.url).pathname);
}"""


COPIED = """async (words) => {
  const name = "fairlead@/fairlead/";
  // Opening a database that is not there would create it, without the app's tables.
  if (!(await indexedDB.databases()).some((each) => each.name === name)) return false;
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(indexedDB.open(name));
  const rows = await done(database.transaction("copies").objectStore("copies").getAll());
  database.close();
  return JSON.stringify(rows.filter((row) => row.name !== "lobby")).includes(words);
}"""
"""Whether the page has stored a copy of the session with this text for reading offline."""


async def copied(app: AppPage, words: str) -> None:
    """Wait until the text can be read offline, which the page does not show."""
    async with asyncio.timeout(60):
        while not await app.page.evaluate(COPIED, words):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest_asyncio.fixture(loop_scope="session")
async def nginx(tmp_path: Path) -> AsyncIterator[RealProxy]:
    async with real_proxy("nginx", PATH, tmp_path, name="localhost") as proxy:
        yield proxy


async def on_phone(nginx: RealProxy, emulated: Emulated, visit: Visit) -> AppPage:
    server = await emulated(SCRIPT, public_url=nginx.public_url, trusted_proxies=(TRUSTED,))
    await nginx.start(server.service.port)
    return await visit(server, phone=True)


async def worker_scope(app: AppPage) -> str:
    """The scope of the app's service worker, once it controls the page."""
    await app.page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    found = "async () => (await navigator.serviceWorker.getRegistration()).scope"
    return str(await app.page.evaluate(found))


@pytest.mark.matrix(target="browser", cases=0)
async def test_U114_a_phone_pairs_streams_approves_uploads_and_survives_an_outage(
    nginx: RealProxy, emulated: Emulated, visit: Visit
) -> None:
    app = await on_phone(nginx, emulated, visit)
    assert app.page.url.startswith(f"{nginx.public_url}/")
    await app.start("first")
    await app.expect_words("Behind nginx.")
    assert re.fullmatch(rf"{nginx.public_url}/s/[\w-]+", app.page.url)
    await app.say("touch a file")
    await app.decide("Allow once")
    await app.expect_words("Touched.")
    assert (app.server.project / "made-behind-nginx").exists()
    picture = {"name": "dot.png", "mimeType": "image/png", "buffer": PICTURE}
    await app.page.locator("input[type=file]").set_input_files(picture)  # type: ignore[arg-type]
    attached = app.page.get_by_role("list", name="Attachments")
    await expect(attached).to_contain_text(re.compile(r"dot\.png.*B", re.DOTALL))
    await app.say("see this")
    await app.expect_words("Answer to: see this")
    shown = app.transcript.get_by_role("img", name=re.compile(r"Attachment|dot\.png"))
    await expect(shown.first).to_be_visible()
    await app.expect_rest()
    assert await worker_scope(app) == f"{nginx.public_url}/"
    await copied(app, "Answer to: see this")
    # The proxy is gone: the page opens from the worker's cache, with what was read before.
    await nginx.stop()
    offline = app.page.get_by_role("status").filter(has_text="Offline. Retrying")
    await expect(offline).to_be_visible(timeout=PATIENCE_MS)
    await app.page.reload()
    await expect(offline).to_be_visible(timeout=PATIENCE_MS)
    await app.expect_words("Answer to: see this")
    await nginx.start(app.server.service.port)
    await app.retry_connection()
    await expect(offline).to_have_count(0, timeout=PATIENCE_MS)
    await app.say("back again")
    await app.expect_words("Answer to: back again")


async def test_U114_every_page_has_an_address_below_the_path(
    nginx: RealProxy, emulated: Emulated, visit: Visit
) -> None:
    app = await on_phone(nginx, emulated, visit)
    await app.start("first")
    await app.expect_words("Behind nginx.")
    session = app.page.url
    for page, title in (
        ("inbox", "Inbox"), ("board", "Board"), ("usage", "Usage"), ("search?q=nginx", "Search"),
        ("devices", "Devices"), ("settings", "Settings"), ("keys", "Keyboard"), ("help", "Help"),
    ):  # fmt: skip
        await app.page.goto(f"{nginx.public_url}/{page}")
        heading = app.page.get_by_role("heading", name=re.compile(title)).first
        await expect(heading).to_be_visible(timeout=PATIENCE_MS)
        assert app.page.url.startswith(f"{nginx.public_url}/{page}")
        outside = "nodes => nodes.map(a => a.getAttribute('href')).filter(h => h.startsWith('/'))"
        links = await app.page.locator("a[href]").evaluate_all(outside)
        assert all(link.startswith(f"{PATH}/") for link in links), links
    await app.page.goto(f"{nginx.public_url}/devices")
    await app.page.get_by_role("button", name=re.compile("Show QR code|Pair")).first.click()
    shown = app.page.get_by_text(f"{nginx.public_url}/#code=")
    await expect(shown).to_be_visible(timeout=PATIENCE_MS)
    await app.page.goto(session)
    await app.expect_words("Behind nginx.")
    stored = (
        "async () => [(await indexedDB.databases()).map(d => d.name), Object.keys(localStorage)]"
    )
    databases, keys = await app.page.evaluate(stored)
    assert databases
    assert all(name.endswith(f"@{PATH}/") for name in [*databases, *keys])


@pytest.mark.matrix(target="browser", cases=0)
async def test_R22_the_worker_below_a_path_serves_only_files_with_the_right_hash(
    nginx: RealProxy, emulated: Emulated, visit: Visit
) -> None:
    app = await on_phone(nginx, emulated, visit)
    await app.start("first")
    await app.expect_words("Behind nginx.")
    await worker_scope(app)
    poisoned = await app.page.evaluate(POISON)
    assert f"{PATH}/" in poisoned
    assert all(path.startswith(f"{PATH}/") for path in poisoned)
    await app.page.reload()
    await app.expect_words("Behind nginx.")
    assert await app.page.title() != "evil"
    await app.page.evaluate(POISON)
    await nginx.stop()
    # Without a server there is no good copy left, and the bad one is not shown.
    failed = await app.page.evaluate(
        "() => fetch(location.href).then((answer) => answer.text(), () => 'refused')"
    )
    assert "evil" not in failed


async def test_R22_a_hostile_page_gains_nothing_behind_nginx(
    nginx: RealProxy, emulated: Emulated, hostile: Browser
) -> None:
    server = await emulated(SCRIPT, public_url=nginx.public_url, trusted_proxies=(TRUSTED,))
    await nginx.start(server.service.port)
    token = (await server.service.devices.make_device("the owner", "owner")).token
    code = server.service.devices.issue_code()
    devices = [device.id for device in await server.service.store.devices()]
    context = await hostile.new_context(ignore_https_errors=True)
    page = await context.new_page()
    async with open_hostile_server() as hostile_server:
        await page.goto(hostile_server.address())
        read = await attack(page, ammunition(token, code, nginx.public_url))
    gained = {way: text for way, text in read.items() if text is not None}
    assert gained == {}
    rebound = await page.goto(f"https://evil.test:{nginx.port}{PATH}/")
    assert rebound is not None
    assert rebound.status == 421
    own = f"https://evil.test:{nginx.port}{PATH}"
    told = {text for text in (await attack(page, ammunition(token, code, own))).values() if text}
    assert told
    assert all("Unknown Host header" in text for text in told), told
    await context.close()
    assert [device.id for device in await server.service.store.devices()] == devices
    assert await server.service.store.sessions() == []
    assert await asyncio.wait_for(server.service.devices.pair(code, "the owner", "127.0.0.1"), 30)
