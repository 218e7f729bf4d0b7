"""Settings, help, keys, context, cost, MCP and completion (docs/web.md)."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, Route, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit
from tests.e2e.browser.fake_cli import FakeCli
from tests.e2e.browser.scripts import WAIT_FOR_GO, named, say, scene, use
from tests.e2e.real_cli.stdio_server import small_server

HELLO = scene(None, say("You said: {{prompt}}"))


def part(app: AppPage, title: str) -> Locator:
    """A part of the details of the session."""
    panel = app.page.get_by_role("complementary", name="Details")
    return panel.get_by_role("region", name=title)


async def begun(app: AppPage, *, answer: str | None = None) -> None:
    """An idle session with one answer."""
    await app.start("hello", answer=answer)
    await app.expect_words("You said: hello")
    await app.expect_rest()
    await app.leave_field()


async def test_U37_settings_change_the_running_session(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await begun(app)
    session = app.session
    await app.page.keyboard.press(",")
    main = app.page.get_by_role("main")
    chosen = main.get_by_role("combobox", name="Session", exact=True)
    await expect(chosen).to_have_attribute("data-value", session)
    model = main.get_by_role("combobox", name="Model", exact=True).first
    await expect(model).to_be_enabled()
    await app.select(model, "haiku")
    mode = main.get_by_role("combobox", name="Permission mode", exact=True)
    await expect(mode).to_be_enabled()
    await app.select(mode, "acceptEdits")
    effort = main.get_by_role("combobox", name="Effort", exact=True)
    await expect(effort).to_be_enabled()
    await app.select(effort, "low")
    await expect(effort).to_be_enabled()
    await expect(main).to_contain_text("Fast mode")
    await app.listed("hello").first.click()
    await app.say("and now")
    await app.expect_words("You said: and now")
    for name, words in (("Model", "haiku"), ("Permission mode", "Accept edits"), ("Effort", "low")):
        switch = main.get_by_role("button", name=re.compile(f"^{name}:"))
        await expect(switch).to_contain_text(words)
    flags = " ".join(app.server.command_line(session)).replace("=", " ")
    assert "--effort low" in flags


async def test_U38_the_model_is_switched_from_the_header(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await begun(app)
    switch = app.page.get_by_role("main").get_by_role("button", name=re.compile("^Model:"))
    await expect(switch).to_contain_text("opus")
    await switch.click()
    await app.page.get_by_role("menuitemradio", name=re.compile("^Haiku")).click()
    await expect(switch).to_contain_text("haiku")
    await app.say("still here?")
    await app.expect_words("You said: still here?")
    await expect(part(app, "Cost")).to_contain_text("haiku 5.5")


async def test_U39_preferences_of_a_device_persist(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await app.page.goto(f"{app.server.base}/settings")
    looks = app.page.get_by_role("radiogroup", name="Theme")
    await looks.get_by_role("radio", name="Dark").check(force=True)
    await expect(app.page.locator("html")).to_have_attribute("data-theme", "dark")
    await app.page.reload()
    await expect(looks.get_by_role("radio", name="Dark")).to_be_checked()
    await expect(app.page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_U40_help_shows_what_the_session_reported(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await begun(app)
    await app.page.keyboard.press("h")
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("heading", name="Help")).to_be_visible()
    for title, words in (
        (re.compile("[Cc]ommands"), "/compact"),
        (re.compile("[Tt]ools"), "NotebookEdit"),
        (re.compile("[Aa]gents"), "general-purpose"),
        (re.compile("[Ss]kills"), "deep-research"),
        (re.compile("[Pp]lugins"), "cc-plugin"),
    ):
        section = main.get_by_role("region", name=title)
        await expect(section.first).to_be_visible()
        more = section.get_by_role("button", name=re.compile("^Show all"))
        if await more.count():
            await more.click()
        await expect(section.first).to_contain_text(words)
    await expect(main).to_contain_text("2.1.325")
    await main.get_by_role("searchbox", name="Find in help").fill("notebook")
    await expect(main.get_by_text("NotebookEdit")).to_be_visible()
    await expect(main.get_by_text("/compact")).to_have_count(0)


async def test_U41_keys_are_shown_changed_and_reset(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await app.page.goto(f"{app.server.base}/keys")
    main = app.page.get_by_role("main")
    for words in ("Send the message", "New line", "Slash commands", "New session"):
        await expect(main.get_by_text(words, exact=True).first).to_be_visible()
    await main.get_by_role("button", name="Change shortcut: New session").click()
    await app.page.keyboard.press("Alt+y")
    await expect(main.get_by_role("button", name="Reset to N")).to_be_visible()
    await app.page.reload()
    await expect(main.get_by_role("button", name="Reset to N")).to_be_visible()
    await app.page.keyboard.press("n")
    await expect(app.page.get_by_role("dialog")).to_have_count(0)
    await app.page.keyboard.press("Alt+y")
    await expect(app.page.get_by_role("dialog", name="New session")).to_be_visible()
    await app.page.keyboard.press("Escape")
    await main.get_by_role("button", name="Reset to N").click()
    await app.page.keyboard.press("n")
    await expect(app.page.get_by_role("dialog", name="New session")).to_be_visible()


async def test_U42_the_keys_are_listed_in_a_dialog(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    await app.press_outside_fields("?")
    window = app.page.get_by_role("dialog", name=re.compile("^Keyboard shortcuts"))
    await expect(window).to_contain_text("New session")
    await expect(window).to_contain_text("Send the message")
    await app.page.keyboard.press("Escape")
    await expect(window).to_have_count(0)


async def test_U43_the_context_gauge_shows_its_parts_and_warns(
    emulated: Emulated, visit: Visit
) -> None:
    full = {"input_tokens": 850_000, "output_tokens": 10}
    reply = {"blocks": [{"type": "text", "text": "A lot to read."}], "usage": full}
    little = {"blocks": [{"type": "text", "text": "Little."}]}
    app = await visit(await emulated({"queue": [little, reply], "scenes": [HELLO]}))
    await app.start("hello")
    await app.expect_words("Little.")
    await app.expect_rest()
    context = part(app, "Context")
    await expect(context.get_by_role("meter")).to_have_attribute("aria-valuenow", "0")
    await context.get_by_role("button", name="Refresh").click()
    for words in ("System prompt", "System tools", "Messages"):
        await expect(context.get_by_role("listitem").filter(has_text=words)).to_be_visible()
    await expect(context).not_to_contain_text("full.")
    await app.say("more")
    await app.expect_words("A lot to read.")
    await expect(context).to_contain_text(re.compile(r"8\d % full"))
    await context.get_by_role("button", name="Compact now").click()
    await app.expect_words(re.compile("^Context compacted"))


async def test_U44_the_cost_is_always_visible_with_the_last_turn(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO]))
    await begun(app)
    shown = app.page.get_by_title(re.compile("^Cost of the session"))
    await expect(shown).to_have_text(re.compile(r"\$0\.0012 · last turn \$0\.0012"))
    await app.say("again")
    await app.expect_words("You said: again")
    await expect(shown).to_have_text(re.compile(r"\$0\.0025 · last turn \$0\.0012"))
    await expect(part(app, "Cost")).to_contain_text("$0.0025")
    await expect(part(app, "Cost").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^Cost of 2 turns; the last cost \$0\.0012")
    )
    await app.say("/cost")
    await expect(app.transcript.get_by_text("Total cost").last).to_be_visible()


async def test_U45_background_work_is_listed_inspected_and_stopped(
    emulated: Emulated, visit: Visit
) -> None:
    work = use("Bash", command=WAIT_FOR_GO, description="Wait for it", run_in_background=True)
    app = await visit(await emulated([scene("go", work, say("It goes on.")), HELLO]))
    await app.start("go")
    await app.decide("Allow once")
    await app.expect_words("It goes on.")
    listed = part(app, "Background tasks")
    await expect(listed).to_contain_text("1 running")
    await listed.get_by_role("button", name=re.compile("^Stop ")).click()
    await expect(listed).to_contain_text("0 running")
    await app.expect_rest()
    await app.say("go")
    await app.decide("Allow once")
    await expect(listed).to_contain_text("1 running")
    await listed.get_by_role("button", name=re.compile("^Wait for it")).first.click()
    (app.server.project / "go").touch()
    await expect(listed).to_contain_text("went")
    await expect(listed).to_contain_text("0 running")


# MCP


async def test_U46_mcp_servers_are_listed_with_readable_tool_names(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(
        [
            scene(
                "echo",
                named("echoed", use("mcp__small__echo", text="hello there")),
                say("It said: {{echoed.text}}"),
            ),
            HELLO,
        ]
    )
    servers = {"small": small_server(tmp_path / "log"), "broken": {"command": "/nowhere"}}
    (server.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    app = await visit(server)
    await begun(app, answer="Trust and start")
    listed = part(app, "MCP servers")
    await expect(listed).to_contain_text("1 / 2")
    broken = listed.get_by_role("listitem").filter(has_text="broken").first
    await broken.get_by_role("button", name=re.compile("^broken")).click()
    await expect(broken).to_contain_text("failed")
    await expect(broken.get_by_role("button", name="Reconnect")).to_be_visible()
    small = listed.get_by_role("listitem").filter(has_text="small").first
    await small.get_by_role("button", name=re.compile("^small")).click()
    await expect(small.get_by_role("listitem").filter(has_text="echo")).to_be_visible()
    await app.say("echo")
    await expect(app.decision).to_contain_text("hello there")
    await expect(app.decision).to_contain_text(re.compile("small > echo", re.I))
    await app.decide("Allow once")
    await app.expect_words("It said: hello there")
    await expect(app.card(re.compile("^small > echo", re.I))).to_be_visible()
    await small.get_by_role("button", name="Disable").click()
    await expect(small.get_by_role("button", name=re.compile("^small")).first).to_contain_text(
        "off"
    )
    await small.get_by_role("button", name="Enable").click()
    await expect(small.get_by_role("button", name=re.compile("^small")).first).to_contain_text(
        "connected"
    )


async def test_U47_an_mcp_sign_in_shows_the_whole_address(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    address = "https://login.example.org/authorize?client=fairlead&scope=all"
    cli.replies["mcp_authenticate"] = {"authUrl": address, "requiresUserAction": True}
    servers = [{"name": "tracker", "status": "needs-auth"}]
    await cli.line(
        type="system", subtype="init", tools=[], model="big", permissionMode="default",
        mcp_servers=servers,
    )  # fmt: skip
    listed = part(app, "MCP servers")
    await expect(listed).to_contain_text("needs sign-in")
    await listed.get_by_role("button", name=re.compile("^tracker")).click()
    await listed.get_by_role("button", name="Sign in…").click()
    link = listed.get_by_role("link")
    await expect(link).to_have_text(address)
    await expect(link).to_have_attribute("href", address)
    await expect(link).to_have_attribute("rel", re.compile("noopener"))
    asked = [line["request"] for line in cli.heard if line["type"] == "control_request"]
    wanted = [one for one in asked if one["subtype"] == "mcp_authenticate"]
    assert [one["serverName"] for one in wanted] == ["tracker"]


# What is named after an @


async def test_U27_files_are_completed_after_an_at_sign(emulated: Emulated, visit: Visit) -> None:
    server = await emulated([HELLO])
    (server.project / "lighthouse.py").write_text("lamp = True\n")
    (server.project / "docs").mkdir()
    (server.project / "docs" / "harbour.md").write_text("# Harbour\n")
    app = await visit(server)
    await begun(app)
    await app.composer.press_sequentially("look at @ligh")
    offered = app.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="lighthouse.py")).to_be_visible()
    await app.composer.press("Tab")
    await expect(app.composer).to_have_value("look at @lighthouse.py ")
    await app.composer.press_sequentially("and @harb")
    await expect(offered.filter(has_text="harbour.md")).to_be_visible()
    await app.composer.press("Enter")
    await expect(app.composer).to_have_value("look at @lighthouse.py and @docs/harbour.md ")
    await app.composer.press("Enter")
    await app.expect_words(re.compile("^You said: look at @lighthouse.py and @docs/harbour.md"))


@pytest.mark.matrix(target="browser", cases=0)
async def test_U27_a_name_that_no_longer_fits_is_never_taken(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([HELLO])
    for number in range(60):  # More than one answer of the server holds.
        (server.project / f"apple{number:02}.md").write_text("")
    (server.project / "wharf").mkdir()
    (server.project / "wharf" / "crane.md").write_text("")
    app = await visit(server)
    await begun(app)
    answer = asyncio.Event()

    async def late(route: Route) -> None:
        await answer.wait()
        await route.continue_()

    offered = app.page.get_by_role("listbox").get_by_role("option")
    await app.composer.press_sequentially("@")
    await expect(offered.first).to_contain_text("apple00.md")
    await app.page.route(re.compile(r"/names\?q=."), late)
    await app.composer.press_sequentially("apple07")
    await expect(offered).to_have_count(1)
    await app.composer.press("Enter")
    await expect(app.composer).to_have_value("@apple07.md ")
    answer.set()
    await app.composer.press_sequentially("@")
    await expect(offered.first).to_contain_text("apple00.md")
    answer.clear()
    await app.composer.press_sequentially("crane")
    await expect(offered).to_have_count(0)
    await app.composer.press("Enter")
    answer.set()
    await expect(app.composer).to_have_value("@apple07.md @wharf/crane.md ")
    await app.page.unroute_all()


async def test_U28_mcp_resources_are_completed_after_an_at_sign(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    found = [{"server": "small", "uri": "docs://tides/today", "name": "Tides"}]
    await cli.used("ListMcpResourcesTool", {}, json.dumps(found))
    await cli.finish()
    await app.expect_rest()
    await app.composer.press_sequentially("read @tid")
    offered = app.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="Tides")).to_be_visible()
    await app.composer.press("Tab")
    await expect(app.composer).to_have_value("read @small:docs://tides/today ")
    await app.composer.press("Enter")
    assert "@small:docs://tides/today" in await cli.prompted(2)


async def test_U89_the_details_can_be_resized_and_keep_their_width(begin_turn: BeginTurn) -> None:
    app, _ = await begin_turn()
    panel = app.page.get_by_role("complementary", name="Details")
    edge = app.page.get_by_role("separator", name="Width of the details")
    await expect(edge).to_have_attribute("aria-valuenow", "312")
    await edge.focus()
    await app.page.keyboard.press("ArrowLeft")
    await expect(edge).to_have_attribute("aria-valuenow", "336")
    box = await edge.bounding_box()
    assert box is not None
    await app.page.mouse.move(box["x"] + box["width"] / 2, 400)
    await app.page.mouse.down()
    await app.page.mouse.move(box["x"] - 100, 400, steps=4)
    await app.page.mouse.up()
    await app.page.wait_for_function(
        "() => document.querySelector('aside').offsetWidth > 400", timeout=PATIENCE_MS
    )
    width = await panel.evaluate("node => node.offsetWidth")
    await app.page.reload()
    await expect(panel).to_be_visible()
    assert await panel.evaluate("node => node.offsetWidth") == width


async def test_U76_select_menus_are_operated_by_keyboard_and_pointer(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO]))
    await begun(app)
    await app.page.keyboard.press(",")
    menu = app.page.get_by_role("combobox", name="Effort of new sessions")
    await menu.focus()
    keys = app.page.keyboard
    await keys.press("ArrowDown")
    listed = app.page.get_by_role("listbox", name="Effort of new sessions")
    await expect(listed).to_be_visible()
    await expect(menu).to_be_focused()
    active = listed.get_by_role("option", name="Model default")
    await expect(active).to_have_attribute("aria-selected", "true")
    await expect(menu).to_have_attribute(
        "aria-activedescendant", await active.get_attribute("id") or ""
    )
    await keys.type("hi")  # The list finds it; no shortcut of the page runs.
    await keys.press("Enter")
    await expect(menu).to_have_attribute("data-value", "high")
    await expect(listed).to_have_count(0)
    await keys.press("ArrowDown")
    await expect(listed).to_be_visible()
    await keys.press("Home")
    await keys.press("Escape")
    await expect(listed).to_have_count(0)
    await expect(menu).to_have_attribute("data-value", "high")
    await app.select(menu, "low")
    await app.page.reload()
    await expect(menu).to_have_attribute("data-value", "low")
    assert await app.page.locator("select").count() == 0
