"""The login cannot be borrowed, leaked or lured away (R5, T-09)."""

from __future__ import annotations

from urllib.parse import quote

from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.evil import ATTACKS, open_evil
from tests.e2e.browser.house import House
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
    playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    token = desk.access
    assert len(token) > 40
    async with open_evil() as neighbour:
        page = await desk.context.new_page()
        for host in ("127.0.0.1", "localhost"):
            await page.goto(neighbour.address(host))  # One site with us, as browsers see it.
            stored = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
            assert await page.evaluate(stored) == '["",{},{}]'
            given = {"base": playhouse.base, "token": "", "code": "", "script": "/icon.svg"}
            read = await page.evaluate(ATTACKS, given)
            assert {way: text for way, text in read.items() if text is not None} == {}
        await page.close()
    assert neighbour.visitors
    for visitor in neighbour.visitors:
        assert "cookie" not in visitor.headers
        assert token not in visitor.whole
    assert await desk.context.cookies() == []
    assert len(await playhouse.service.store.devices()) == 1


async def test_R15_no_script_can_read_what_the_device_comes_in_with(
    playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    stored = await desk.page.evaluate(STORED)
    assert (stored["keys"], stored["read"]) == (1, 0)
    assert desk.access not in stored["texts"]
    assert "token" not in stored["texts"]


async def test_no_secret_stands_in_any_address(playhouse: House, hostile: Browser) -> None:
    context = await hostile.new_context()
    addresses = listen(context)
    desk = Desk(playhouse, context, await context.new_page())
    link = playhouse.link()
    code = link.partition("#code=")[2]
    await desk.page.goto(link)
    await expect(desk.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    await until(lambda: bool(desk.access), PATIENCE_MS / 1000)
    token = desk.access
    await desk.page.reload()
    await expect(desk.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    assert desk.page.url == f"{playhouse.base}/"
    entries = "navigation.entries().map((one) => one.url)"
    asked = [*addresses, *await desk.page.evaluate(entries)]
    assert any(one.startswith("ws:") for one in asked)
    assert [one for one in asked if token in one] == []
    assert [one for one in asked if code in one and one != link] == []
    html = await desk.page.content()
    assert token not in html
    assert code not in html
    await desk.close()


async def test_a_link_lets_one_device_in_once(playhouse: House, visit: Visit) -> None:
    link = playhouse.link()
    first = await visit(playhouse, role=None)
    await first.page.goto(link)
    await expect(first.page.get_by_role("navigation", name="Sessions")).to_be_visible(
        timeout=PATIENCE_MS
    )
    second = await visit(playhouse, role=None)
    await second.page.goto(link)
    refused = second.page.get_by_role("alert")
    await expect(refused).to_contain_text("was already used", timeout=PATIENCE_MS)
    assert second.page.url == f"{playhouse.base}/"
    assert (await second.page.evaluate(STORED))["keys"] == 0
    assert len(await playhouse.service.store.devices()) == 1


async def test_no_link_can_name_another_server(playhouse: House, visit: Visit) -> None:
    desk = await visit(playhouse)
    addresses = listen(desk.context)
    ours = playhouse.base.replace("http", "ws") + "/ws"
    async with open_evil() as evil:
        for form in ("http://{}", "ws://{}/ws", "//{}", "{}"):
            place = form.format(f"127.0.0.1:{evil.port}")
            lure = "&".join(f"{name}={quote(place, safe='')}" for name in PARAMETERS)
            async with desk.page.expect_websocket(timeout=PATIENCE_MS) as opened:
                await desk.page.goto(f"{playhouse.base}/?{lure}#{lure}")
            assert (await opened.value).url == ours
            await expect(desk.page.get_by_role("navigation", name="Sessions")).to_be_visible(
                timeout=PATIENCE_MS
            )
        assert evil.visitors == []
    assert [
        one for one in addresses if not one.startswith((playhouse.base, "data:", "blob:"))
    ] == []
