"""Pictures of the door, the start, every page, every window over the page and the connection."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.e2e.browser.album import Shoot, Studio
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.scripts import say, scene, use
from tests.e2e.browser.shop import FLAKY

__all__ = ["PAGES"]

ANSWER = "The retry queue waits twice as long after each failure, up to five minutes."
SCRIPT = [scene("files", use("Bash", command="ls", description="List"), say("Here they are.")),
          scene(None, say(ANSWER))]  # fmt: skip


async def door(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house, signed_in=False)
    await desk.page.goto(house.base)
    await expect(desk.page.get_by_role("heading", name="Pair this device")).to_be_visible()
    await studio.keep(desk, "door-sign-in")


async def home(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await studio.keep(desk, "home-empty")
    await desk.page.goto(f"{house.base}/inbox")
    await expect(desk.page.get_by_role("heading", name="Inbox")).to_be_visible()
    await studio.keep(desk, "home-inbox-empty")


async def past(studio: Studio) -> None:
    """A server that was used for a month."""
    await studio.past()
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await expect(desk.page.get_by_role("heading", name="Where were we?")).to_be_visible()
    await studio.keep(desk, "past-home")
    if studio.album.phone:
        await desk.page.get_by_role("button", name="Sessions", exact=True).click()
        await expect(desk.page.get_by_role("navigation", name="Sessions")).to_be_visible()
        await studio.keep(desk, "past-drawer")
    for path, words, name in (
        ("usage", "By model", "past-usage"),
        ("search?q=tests", "hits", "past-search"),
        ("search?q=zebra", "No message", "past-search-nothing"),
    ):
        await desk.page.goto(f"{house.base}/{path}")
        await expect(desk.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await studio.keep(desk, name)


async def page(studio: Studio) -> None:
    """The other pages."""
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.start("How does the retry queue work?")
    await desk.expect_words(ANSWER)
    await desk.expect_rest()
    session = desk.session
    for path, words, name in (
        ("settings", "Theme", "page-settings"),
        (f"settings?session={session}", "Effort", "page-settings-session"),
        ("keys", "New session", "page-keys"),
        (f"help?session={session}", "/compact", "page-help"),
        (f"s/{session}/log", "system", "page-log"),
        ("s/00000000-0000-4000-8000-000000000000", "not here", "page-missing"),
    ):
        await desk.page.goto(f"{house.base}/{path}")
        await expect(desk.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await studio.keep(desk, name)
        if name == "page-keys":
            await desk.page.get_by_role("button", name="Change the key for: Usage").click()
            await desk.page.keyboard.press("i")
            await expect(desk.page.get_by_role("alert")).to_contain_text("Inbox")
            await studio.keep(desk, "page-keys-conflict")
        if name == "page-log":
            lines = desk.page.get_by_role("region", name="Lines")
            await lines.get_by_role("button", name=re.compile("result.success")).click()
            await studio.keep(desk, "page-log-open")


async def devices(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.page.goto(f"{house.base}/devices")
    await expect(desk.page.get_by_text("this device").first).to_be_visible()
    await studio.keep(desk, "devices-list")
    await desk.page.get_by_role("button", name="Make a link").click()
    await expect(desk.page.get_by_role("timer")).to_be_visible()
    await studio.keep(desk, "devices-code")


async def window(studio: Studio) -> None:
    """What lies over a page."""
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    for keys, title, name in (
        ("n", "New session", "window-new"),
        ("Control+k", "Find anything", "window-palette"),
        ("?", "Keys", "window-keys"),
    ):
        await desk.page.keyboard.press(keys)
        shown = desk.page.get_by_role("dialog", name=re.compile(f"^{title}"))
        await expect(shown).to_be_visible()
        await studio.keep(desk, name)
        if name == "window-new":
            await shown.get_by_text(re.compile("^Limits")).click()
            await studio.keep(desk, "window-new-more")
        await desk.page.keyboard.press("Escape")
        await expect(shown).to_have_count(0)
    await desk.start("How does the retry queue work?")
    await desk.expect_words(ANSWER)
    await desk.expect_rest()
    await desk.more("Fork")
    await expect(desk.page.get_by_role("dialog", name="Fork the session")).to_be_visible()
    await studio.keep(desk, "window-fork")
    await desk.page.keyboard.press("Escape")
    await expect(desk.page.get_by_role("dialog")).to_have_count(0)
    await desk.page.get_by_role("button", name="More", exact=True).click()
    await studio.keep(desk, "window-menu")
    await desk.page.keyboard.press("Escape")


async def lineage(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.start("How does the retry queue work?")
    await desk.expect_words(ANSWER)
    await desk.expect_rest()
    first = desk.page.url
    await desk.fork()
    await desk.say("And without the cap?")
    await expect(desk.transcript.get_by_text(ANSWER)).to_have_count(2)
    await desk.expect_rest()
    await studio.details(desk)
    await studio.keep(desk, "lineage-fork")
    await desk.page.goto(first)
    await desk.expect_words(ANSWER)
    await studio.details(desk)
    await studio.keep(desk, "lineage-origin")


async def foreign(studio: Studio) -> None:
    """A session that the CLI had without the server."""
    house = await studio.emulated(SCRIPT, before="How does the retry queue work?")
    desk = await studio.visit(house)
    if studio.album.phone:
        await desk.page.get_by_role("button", name="Sessions", exact=True).click()
    await expect(desk.listed("retry queue").first).to_be_visible()
    await studio.keep(desk, "foreign-list")
    await desk.listed("retry queue").first.click()
    await desk.expect_words(ANSWER)
    await studio.keep(desk, "foreign-session")


async def connection(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.start(FLAKY)
    await desk.expect_words(ANSWER)
    await desk.expect_rest()
    await _cut(desk)
    await studio.keep(desk, "connection-lost")
    await desk.say("Are you still there?")
    await studio.keep(desk, "connection-outbox")


async def _cut(desk: Desk) -> None:
    await desk.context.set_offline(True)
    await desk.page.evaluate("sockets.at(-1).close()")
    await expect(desk.page.get_by_text(re.compile("^No connection"))).to_be_visible()


PAGES: dict[str, Shoot] = {
    "door": door,
    "home": home,
    "past": past,
    "page": page,
    "devices": devices,
    "window": window,
    "lineage": lineage,
    "foreign": foreign,
    "connection": connection,
}
