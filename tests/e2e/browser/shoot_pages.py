"""Pictures of the sign-in page, the first page, every other page, every dialog and the connection."""

from __future__ import annotations

import json
import re

from playwright.async_api import expect

from fairlead.server.notices.targets import ChannelTarget, channel_id
from fairlead.store.tables import notices as table
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.sample_project import FLAKY
from tests.e2e.browser.screenshots import ScreenshotRun, Shoot
from tests.e2e.browser.scripts import say, scene, use

__all__ = ["PAGES"]

ANSWER = "The retry queue waits twice as long after each failure, up to five minutes."
SCRIPT = [scene("files", use("Bash", command="ls", description="List"), say("Here they are.")),
          scene(None, say(ANSWER))]  # fmt: skip


async def door(shots: ScreenshotRun) -> None:
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server, signed_in=False)
    await app.page.goto(server.base)
    await expect(app.page.get_by_role("heading", name="Pair this device")).to_be_visible()
    await shots.keep(app, "door-sign-in")


async def home(shots: ScreenshotRun) -> None:
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await shots.keep(app, "home-empty")
    await app.page.goto(f"{server.base}/inbox")
    await expect(app.page.get_by_role("heading", name="Inbox")).to_be_visible()
    await shots.keep(app, "home-inbox-empty")


async def past(shots: ScreenshotRun) -> None:
    """A server that was used for a month."""
    await shots.past()
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await expect(app.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await shots.keep(app, "past-home")
    if shots.target.phone:
        await app.page.get_by_role("button", name="Sessions", exact=True).click()
        await expect(app.page.get_by_role("navigation", name="Sessions")).to_be_visible()
        await shots.keep(app, "past-drawer")
    for path, words, name in (
        ("usage", "By model", "past-usage"),
        ("search?q=tests", "results", "past-search"),
        ("search?q=zebra", "No results", "past-search-nothing"),
    ):
        await app.page.goto(f"{server.base}/{path}")
        await expect(app.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await shots.keep(app, name)


async def channels(shots: ScreenshotRun) -> None:
    """The channels in the settings: a good one, a failing one that is open, and the form."""
    server = await shots.emulated(SCRIPT)
    targets, store = server.service.notices.targets, server.service.store
    for channel, name, service, url in (
        ("good", "My phone", "ntfy", "ntfys://ntfy.example.org/topic"),
        ("failing", "Team", "Slack", "slack://a/b/c"),
    ):
        row = ChannelTarget(id=channel, name=name, service=service, url=url)
        await targets.put(channel_id(channel), row)
    problem = "Slack answered with status 404."
    await store.apply(lambda db: table.finish(db, 1, channel_id("good"), 1_800_000_000.0))
    await store.apply(lambda db: table.finish(db, 1, channel_id("failing"), None, problem))
    app = await shots.visit(server)
    await app.page.goto(f"{server.base}/settings")
    await app.page.get_by_role("button", name="Settings of Team").click()
    await app.page.get_by_role("button", name="New channel…").click()
    form = app.page.get_by_role("form", name="New channel")
    await expect(form).to_be_visible()
    await form.scroll_into_view_if_needed()
    await shots.keep(app, "channels-open")
    await app.page.get_by_text("Last sent").scroll_into_view_if_needed()
    await shots.keep(app, "channels-list")


async def page(shots: ScreenshotRun) -> None:
    """The other pages."""
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await app.start("How does the retry queue work?")
    await app.expect_words(ANSWER)
    await app.expect_rest()
    session = app.session
    for path, words, name in (
        ("settings", "Theme", "page-settings"),
        (f"settings?session={session}", "Effort", "page-settings-session"),
        ("keys", "New session", "page-keys"),
        (f"help?session={session}", "/compact", "page-help"),
        (f"s/{session}/log", "system", "page-log"),
        ("s/00000000-0000-4000-8000-000000000000", "not found", "page-missing"),
    ):
        await app.page.goto(f"{server.base}/{path}")
        await expect(app.page.get_by_role("main").get_by_text(words).first).to_be_visible()
        await shots.keep(app, name)
        if name == "page-keys":
            await app.page.get_by_role("button", name="Change shortcut: Usage").click()
            await app.page.keyboard.press("i")
            await expect(app.page.get_by_role("alert")).to_contain_text("Inbox")
            await shots.keep(app, "page-keys-conflict")
        if name == "page-log":
            lines = app.page.get_by_role("region", name="Lines")
            await lines.get_by_role("button", name=re.compile("result.success")).click()
            await shots.keep(app, "page-log-open")


async def board(shots: ScreenshotRun) -> None:
    """What needs the user, what runs, what finished: on the board, the first page and the inbox."""
    await shots.past()
    server, fake_cli = await shots.fake_cli()
    app = await shots.visit(server)
    clis = []
    for prompt, words in (
        ("Fix the flaky checkout test", "The test waits with a fixed sleep. I replace it."),
        ("Speed up the search page", "The index is missing. I measure the query first."),
        ("Write the release notes of 2.4", "The notes are in CHANGELOG.md and cover 14 changes."),
    ):
        await app.start(prompt)
        clis.append(await fake_cli.enter())
        await clis[-1].prompted()
        await clis[-1].say(words)
        await app.expect_words(words)
    todos = [{"content": name, "status": status, "activeForm": name} for name, status in
             (("Measure the query", "completed"), ("Add the index", "in_progress"), ("Measure again", "pending"))]  # fmt: skip
    await clis[1].used("TodoWrite", {"todos": todos}, "ok", {"oldTodos": [], "newTodos": todos})
    await clis[0].ask("a", {"command": "python3 -m unittest -v", "description": "Run the tests"})
    await app.page.goto(f"{server.base}/board")
    needs = app.page.get_by_role("region", name=re.compile("^Needs you"))
    await expect(needs.get_by_role("link")).to_be_visible()
    await clis[2].finish()
    done = app.page.get_by_role("region", name=re.compile("^Done"))
    await expect(done.get_by_role("link", name=re.compile("release notes"))).to_be_visible()
    await shots.keep(app, "board-all")
    await app.page.goto(server.base)
    await expect(app.page.get_by_role("region", name="Finished since you looked")).to_be_visible()
    await shots.keep(app, "board-home")
    await app.page.goto(f"{server.base}/inbox")
    await expect(
        app.page.get_by_role("main").get_by_text("python3 -m unittest").first
    ).to_be_visible()
    await shots.keep(app, "board-inbox")


async def devices(shots: ScreenshotRun) -> None:
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await app.page.goto(f"{server.base}/devices")
    await expect(app.page.get_by_text("this device").first).to_be_visible()
    await shots.keep(app, "devices-list")
    await app.page.get_by_role("button", name="Create link").click()
    await expect(app.page.get_by_role("timer")).to_be_visible()
    await shots.keep(app, "devices-code")


async def window(shots: ScreenshotRun) -> None:
    """Dialogs over a page."""
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    for keys, title, name in (
        ("n", "New session", "window-new"),
        ("Control+k", "Find anything", "window-palette"),
        ("?", "Keyboard shortcuts", "window-keys"),
    ):
        await app.leave_field()
        await app.page.keyboard.press(keys)
        shown = app.page.get_by_role("dialog", name=re.compile(f"^{title}"))
        await expect(shown).to_be_visible()
        await shots.keep(app, name)
        if name == "window-new":
            await shown.get_by_text(re.compile("^Limits")).click()
            await shots.keep(app, "window-new-more")
        await app.page.keyboard.press("Escape")
        await expect(shown).to_have_count(0)
    await app.start("How does the retry queue work?")
    await app.expect_words(ANSWER)
    await app.expect_rest()
    await app.more("Fork")
    await expect(app.page.get_by_role("dialog", name="Fork session")).to_be_visible()
    await shots.keep(app, "window-fork")
    await app.page.keyboard.press("Escape")
    await expect(app.page.get_by_role("dialog")).to_have_count(0)
    await app.page.get_by_role("button", name="More", exact=True).click()
    await shots.keep(app, "window-menu")
    await app.page.keyboard.press("Escape")


async def trust(shots: ScreenshotRun) -> None:
    """The question before a project's own files make the CLI run something."""
    server = await shots.emulated(SCRIPT)
    run = "npx prettier --write . && ./scripts/notify.sh \u202eafter every edit"
    hook = {"matcher": "Edit", "hooks": [{"type": "command", "command": run}]}
    settings = server.project / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"PostToolUse": [hook]}}))
    servers = {"catalogue": {"command": "node", "args": ["tools/catalogue.js", "--write"]}}
    (server.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    app = await shots.visit(server)
    dialog = await app.open_new_session()
    await dialog.get_by_label("First message").fill("How does the retry queue work?")
    await dialog.get_by_role("button", name="Start").click()
    await expect(app.trust_question).to_be_visible()
    await shots.keep(app, "trust-question")


async def draft(shots: ScreenshotRun) -> None:
    """The draft of another device: offered, then shown."""
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await app.start("How does the retry queue work?")
    await app.expect_words(ANSWER)
    await app.expect_rest()
    other = await shots.visit(server)
    await other.page.goto(app.page.url)
    await other.composer.fill("And what happens to a letter\nthat is refused \u200bthree times?")
    offer = app.page.get_by_role("button", name=re.compile("^Draft from"))
    await expect(offer).to_be_visible()
    await shots.keep(app, "draft-offered")
    await offer.click()
    await shots.keep(app, "draft-shown")


async def lineage(shots: ScreenshotRun) -> None:
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await app.start("How does the retry queue work?")
    await app.expect_words(ANSWER)
    await app.expect_rest()
    first = app.page.url
    await app.fork()
    await app.say("And without the cap?")
    await expect(app.transcript.get_by_text(ANSWER)).to_have_count(2)
    await app.expect_rest()
    await shots.details(app)
    await shots.keep(app, "lineage-fork")
    await app.page.goto(first)
    await app.expect_words(ANSWER)
    await shots.details(app)
    await shots.keep(app, "lineage-origin")


async def foreign(shots: ScreenshotRun) -> None:
    """A session that the CLI had without the server."""
    server = await shots.emulated(SCRIPT, before="How does the retry queue work?")
    app = await shots.visit(server)
    if shots.target.phone:
        await app.page.get_by_role("button", name="Sessions", exact=True).click()
    await expect(app.listed("retry queue").first).to_be_visible()
    await shots.keep(app, "foreign-list")
    await app.listed("retry queue").first.click()
    await app.expect_words(ANSWER)
    await shots.keep(app, "foreign-session")


async def connection(shots: ScreenshotRun) -> None:
    server = await shots.emulated(SCRIPT)
    app = await shots.visit(server)
    await app.start(FLAKY)
    await app.expect_words(ANSWER)
    await app.expect_rest()
    await _cut(app)
    await shots.keep(app, "connection-lost")
    await app.say("Are you still there?")
    await shots.keep(app, "connection-outbox")


async def _cut(app: AppPage) -> None:
    await app.context.set_offline(True)
    await app.page.evaluate("sockets.at(-1).close()")
    await expect(app.page.get_by_text(re.compile("^Offline"))).to_be_visible()


PAGES: dict[str, Shoot] = {
    "door": door,
    "home": home,
    "past": past,
    "page": page,
    "channels": channels,
    "board": board,
    "devices": devices,
    "window": window,
    "trust": trust,
    "draft": draft,
    "lineage": lineage,
    "foreign": foreign,
    "connection": connection,
}
