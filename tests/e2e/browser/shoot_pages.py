"""Pictures of the sign-in page, the first page, every other page, every dialog and the connection."""

from __future__ import annotations

import json
import re

from playwright.async_api import expect

from fairlead.server.notices.targets import ChannelTarget, channel_id
from fairlead.store.tables import notices as table
from tests.e2e.browser.album import Shoot, Studio
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.scripts import say, scene, use
from tests.e2e.browser.shop import FLAKY
from tests.git.repositories import new_repository

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
    await expect(desk.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await studio.keep(desk, "past-home")
    if studio.album.phone:
        await desk.page.get_by_role("button", name="Sessions", exact=True).click()
        await expect(desk.page.get_by_role("navigation", name="Sessions")).to_be_visible()
        await studio.keep(desk, "past-drawer")
    for path, words, name in (
        ("usage", "By model", "past-usage"),
        ("search?q=tests", "results", "past-search"),
        ("search?q=zebra", "No results", "past-search-nothing"),
    ):
        await desk.page.goto(f"{house.base}/{path}")
        await expect(desk.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await studio.keep(desk, name)


async def channels(studio: Studio) -> None:
    """The channels in the settings: a good one, a failing one that is open, and the form."""
    house = await studio.emulated(SCRIPT)
    targets, store = house.service.notices.targets, house.service.store
    for channel, name, service, url in (
        ("good", "My phone", "ntfy", "ntfys://ntfy.example.org/topic"),
        ("failing", "Team", "Slack", "slack://a/b/c"),
    ):
        row = ChannelTarget(id=channel, name=name, service=service, url=url)
        await targets.put(channel_id(channel), row)
    problem = "Slack answered with status 404."
    await store.apply(lambda db: table.finish(db, 1, channel_id("good"), 1_800_000_000.0))
    await store.apply(lambda db: table.finish(db, 1, channel_id("failing"), None, problem))
    desk = await studio.visit(house)
    await desk.page.goto(f"{house.base}/settings")
    await desk.page.get_by_role("button", name="Settings of Team").click()
    await desk.page.get_by_role("button", name="New channel…").click()
    form = desk.page.get_by_role("form", name="New channel")
    await expect(form).to_be_visible()
    await form.scroll_into_view_if_needed()
    await studio.keep(desk, "channels-open")
    await desk.page.get_by_text("Last sent").scroll_into_view_if_needed()
    await studio.keep(desk, "channels-list")


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
        ("s/00000000-0000-4000-8000-000000000000", "not found", "page-missing"),
    ):
        await desk.page.goto(f"{house.base}/{path}")
        await expect(desk.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await studio.keep(desk, name)
        if name == "page-keys":
            await desk.page.get_by_role("button", name="Change shortcut: Usage").click()
            await desk.page.keyboard.press("i")
            await expect(desk.page.get_by_role("alert")).to_contain_text("Inbox")
            await studio.keep(desk, "page-keys-conflict")
        if name == "page-log":
            lines = desk.page.get_by_role("region", name="Lines")
            await lines.get_by_role("button", name=re.compile("result.success")).click()
            await studio.keep(desk, "page-log-open")


async def board(studio: Studio) -> None:
    """What needs the user, what runs, what finished: on the board, the first page and the inbox."""
    await studio.past()
    house, theatre = await studio.theatre()
    desk = await studio.visit(house)
    puppets = []
    for prompt, words in (
        ("Fix the flaky checkout test", "The test waits with a fixed sleep. I replace it."),
        ("Speed up the search page", "The index is missing. I measure the query first."),
        ("Write the release notes of 2.4", "The notes are in CHANGELOG.md and cover 14 changes."),
    ):
        await desk.start(prompt)
        puppets.append(await theatre.enter())
        await puppets[-1].prompted()
        await puppets[-1].say(words)
        await desk.expect_words(words)
    todos = [{"content": name, "status": status, "activeForm": name} for name, status in
             (("Measure the query", "completed"), ("Add the index", "in_progress"), ("Measure again", "pending"))]  # fmt: skip
    await puppets[1].used("TodoWrite", {"todos": todos}, "ok", {"oldTodos": [], "newTodos": todos})
    await puppets[0].ask("a", {"command": "python3 -m unittest -v", "description": "Run the tests"})
    await desk.page.goto(f"{house.base}/board")
    needs = desk.page.get_by_role("region", name=re.compile("^Needs you"))
    await expect(needs.get_by_role("link")).to_be_visible()
    await puppets[2].finish()
    done = desk.page.get_by_role("region", name=re.compile("^Done"))
    await expect(done.get_by_role("link", name=re.compile("release notes"))).to_be_visible()
    await studio.keep(desk, "board-all")
    await desk.page.goto(house.base)
    await expect(desk.page.get_by_role("region", name="Finished since you looked")).to_be_visible()
    await studio.keep(desk, "board-home")
    await desk.page.goto(f"{house.base}/inbox")
    await expect(
        desk.page.get_by_role("main").get_by_text("python3 -m unittest").first
    ).to_be_visible()
    await studio.keep(desk, "board-inbox")


async def changes(studio: Studio) -> None:
    """The changes of a session in a repository."""
    edits = [
        use("Edit", file_path="shop/checkout.py", old_string="order_id=len(cart)", new_string="order_id=next(NUMBERS)"),
        use("Write", file_path="shop/numbers.py", content="from itertools import count\n\nNUMBERS = count(1)\n"),
        say("Every order has its own number now."),
    ]  # fmt: skip
    house = await studio.emulated([scene(None, *edits)])
    new_repository(house.project)
    desk = await studio.visit(house)
    await desk.start("Give every order its own number", Mode="acceptEdits")
    await desk.expect_words("Every order has its own number now.")
    await desk.expect_rest()
    await desk.more("Changes")
    files = desk.page.get_by_role("navigation", name="Changed files")
    await files.get_by_role("button", name=re.compile("^checkout.py")).click()
    lines = desk.page.get_by_role("region", name="Lines of shop/checkout.py")
    await expect(lines).to_contain_text("NUMBERS")
    await studio.keep(desk, "changes-file")


async def devices(studio: Studio) -> None:
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.page.goto(f"{house.base}/devices")
    await expect(desk.page.get_by_text("this device").first).to_be_visible()
    await studio.keep(desk, "devices-list")
    await desk.page.get_by_role("button", name="Create link").click()
    await expect(desk.page.get_by_role("timer")).to_be_visible()
    await studio.keep(desk, "devices-code")


async def window(studio: Studio) -> None:
    """What lies over a page."""
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    for keys, title, name in (
        ("n", "New session", "window-new"),
        ("Control+k", "Find anything", "window-palette"),
        ("?", "Keyboard shortcuts", "window-keys"),
    ):
        await desk.leave_field()
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
    await expect(desk.page.get_by_role("dialog", name="Fork session")).to_be_visible()
    await studio.keep(desk, "window-fork")
    await desk.page.keyboard.press("Escape")
    await expect(desk.page.get_by_role("dialog")).to_have_count(0)
    await desk.page.get_by_role("button", name="More", exact=True).click()
    await studio.keep(desk, "window-menu")
    await desk.page.keyboard.press("Escape")


async def trust(studio: Studio) -> None:
    """The question before a project's own files make the CLI run something."""
    house = await studio.emulated(SCRIPT)
    run = "npx prettier --write . && ./scripts/notify.sh \u202eafter every edit"
    hook = {"matcher": "Edit", "hooks": [{"type": "command", "command": run}]}
    settings = house.project / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"PostToolUse": [hook]}}))
    servers = {"catalogue": {"command": "node", "args": ["tools/catalogue.js", "--write"]}}
    (house.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    desk = await studio.visit(house)
    dialog = await desk.open_new_session()
    await dialog.get_by_label("First message").fill("How does the retry queue work?")
    await dialog.get_by_role("button", name="Start").click()
    await expect(desk.trust_question).to_be_visible()
    await studio.keep(desk, "trust-question")


async def draft(studio: Studio) -> None:
    """The draft of another device: offered, then shown."""
    house = await studio.emulated(SCRIPT)
    desk = await studio.visit(house)
    await desk.start("How does the retry queue work?")
    await desk.expect_words(ANSWER)
    await desk.expect_rest()
    other = await studio.visit(house)
    await other.page.goto(desk.page.url)
    await other.composer.fill("And what happens to a letter\nthat is refused \u200bthree times?")
    offer = desk.page.get_by_role("button", name=re.compile("^Draft from"))
    await expect(offer).to_be_visible()
    await studio.keep(desk, "draft-offered")
    await offer.click()
    await studio.keep(desk, "draft-shown")


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
    await expect(desk.page.get_by_text(re.compile("^Offline"))).to_be_visible()


PAGES: dict[str, Shoot] = {
    "door": door,
    "home": home,
    "past": past,
    "page": page,
    "channels": channels,
    "board": board,
    "changes": changes,
    "devices": devices,
    "window": window,
    "trust": trust,
    "draft": draft,
    "lineage": lineage,
    "foreign": foreign,
    "connection": connection,
}
