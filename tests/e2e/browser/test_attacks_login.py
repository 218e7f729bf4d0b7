"""The login cannot be borrowed, leaked or lured away (R5, T-09)."""

from __future__ import annotations

from urllib.parse import quote

from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.hostile_server import ATTACKS, open_hostile_server
from tests.e2e.browser.stored_secrets import STORED
from tests.waiting import until

PARAMETERS = (
    "server", "host", "url", "api", "base", "backend",
    "ws", "socket", "endpoint", "gateway", "origin", "redirect",
)  # fmt: skip
"""Names under which apps have let a link tell them where their server is."""


def listen(context: BrowserContext) -> list[str]:
    """Every address that pages of a context ask for, sockets too."""
    addresses: list[str] = []
    context.on("request", lambda request: addresses.append(request.url))
    context.on("page", lambda page: page.on("websocket", lambda one: addresses.append(one.url)))
    return addresses


async def test_a_server_on_another_port_gets_nothing_of_the_login(
    fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server, fresh=True)
    token = app.access
    assert len(token) > 40
    async with open_hostile_server() as neighbour:
        page = await app.context.new_page()
        for host in ("127.0.0.1", "localhost"):
            await page.goto(neighbour.address(host))  # One site with us, as browsers see it.
            stored = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
            assert await page.evaluate(stored) == '["",{},{}]'
            given = {"base": fake_cli_server.base, "token": "", "code": "", "script": "/icon.svg"}
            read = await page.evaluate(ATTACKS, given)
            assert {way: text for way, text in read.items() if text is not None} == {}
        await page.close()
    assert neighbour.visitors
    for visitor in neighbour.visitors:
        assert "cookie" not in visitor.headers
        assert token not in visitor.whole
    assert await app.context.cookies() == []
    assert len(await fake_cli_server.service.store.devices()) == 1


async def test_R15_no_script_can_read_what_the_device_comes_in_with(
    fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server, fresh=True)
    stored = await app.page.evaluate(STORED)
    assert (stored["keys"], stored["read"]) == (1, 0)
    assert app.access not in stored["texts"]
    assert "token" not in stored["texts"]


async def test_no_secret_is_in_any_address(fake_cli_server: AppServer, hostile: Browser) -> None:
    context = await hostile.new_context()
    addresses = listen(context)
    app = AppPage(fake_cli_server, context, await context.new_page())
    link = fake_cli_server.link()
    code = link.partition("#code=")[2]
    await app.page.goto(link)
    await expect(app.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    await until(lambda: bool(app.access), PATIENCE_MS / 1000)
    token = app.access
    await app.page.reload()
    await expect(app.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    assert app.page.url == f"{fake_cli_server.base}/"
    entries = "navigation.entries().map((one) => one.url)"
    asked = [*addresses, *await app.page.evaluate(entries)]
    assert any(one.startswith("ws:") for one in asked)
    assert [one for one in asked if token in one] == []
    assert [one for one in asked if code in one and one != link] == []
    html = await app.page.content()
    assert token not in html
    assert code not in html
    await app.close()


async def test_a_link_lets_one_device_in_once(fake_cli_server: AppServer, visit: Visit) -> None:
    link = fake_cli_server.link()
    first = await visit(fake_cli_server, role=None, fresh=True)
    await first.page.goto(link)
    await expect(first.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    second = await visit(fake_cli_server, role=None, fresh=True)
    await second.page.goto(link)
    refused = second.page.get_by_role("alert")
    await expect(refused).to_contain_text("was already used", timeout=PATIENCE_MS)
    assert second.page.url == f"{fake_cli_server.base}/"
    assert (await second.page.evaluate(STORED))["keys"] == 0
    assert len(await fake_cli_server.service.store.devices()) == 1


async def test_no_link_can_name_another_server(fake_cli_server: AppServer, visit: Visit) -> None:
    app = await visit(fake_cli_server, fresh=True)
    addresses = listen(app.context)
    ours = fake_cli_server.base.replace("http", "ws") + "/ws"
    async with open_hostile_server() as hostile_server:
        for form in ("http://{}", "ws://{}/ws", "//{}", "{}"):
            place = form.format(f"127.0.0.1:{hostile_server.port}")
            lure = "&".join(f"{name}={quote(place, safe='')}" for name in PARAMETERS)
            async with app.page.expect_websocket(timeout=PATIENCE_MS) as opened:
                await app.page.goto(f"{fake_cli_server.base}/?{lure}#{lure}")
            assert (await opened.value).url == ours
            await expect(app.page.get_by_role("navigation", name="Sessions")).to_be_visible(
                timeout=PATIENCE_MS
            )
        assert hostile_server.visitors == []
    assert [
        one for one in addresses if not one.startswith((fake_cli_server.base, "data:", "blob:"))
    ] == []
