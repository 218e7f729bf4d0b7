"""The checklist: settings, help, keys, context, cost, MCP and files to name, in a real browser.

Which row of the checklist is shown by which test stands in `checklist`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.async_api import Locator, expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.puppet import Theatre
from tests.e2e.browser.scripts import WAIT_FOR_GO, named, say, scene, use
from tests.e2e.real_cli.stdio_server import small_server

HELLO = scene(None, say("You said: {{prompt}}"))


def part(desk: Desk, title: str) -> Locator:
    """A part of the details of the session."""
    panel = desk.page.get_by_role("complementary", name="Details")
    return panel.get_by_role("region", name=title)


async def begun(desk: Desk) -> None:
    """A session that has said something and rests."""
    await desk.start("hello")
    await desk.expect_words("You said: hello")
    await desk.expect_rest()


async def test_the_settings_change_the_running_session(emulated: Emulated, visit: Visit) -> None:
    desk = await visit(await emulated([HELLO]))
    await begun(desk)
    session = desk.session
    await desk.page.keyboard.press(",")
    main = desk.page.get_by_role("main")
    chosen = main.get_by_role("combobox", name="Session", exact=True)
    await expect(chosen).to_have_value(session)
    model = main.get_by_role("combobox", name="Model", exact=True).first
    await expect(model).to_be_enabled()
    await model.select_option("haiku")
    mode = main.get_by_role("combobox", name="Permission mode", exact=True)
    await expect(mode).to_be_enabled()
    await mode.select_option("acceptEdits")
    effort = main.get_by_role("combobox", name="Effort", exact=True)
    await expect(effort).to_be_enabled()
    await effort.select_option("low")
    await expect(effort).to_be_enabled()
    await expect(main).to_contain_text("Fast mode")
    await desk.listed("hello").first.click()
    await desk.say("and now")
    await desk.expect_words("You said: and now")
    for name, words in (("Model", "haiku"), ("Permission mode", "Accept edits"), ("Effort", "low")):
        switch = main.get_by_role("button", name=re.compile(f"^{name}:"))
        await expect(switch).to_contain_text(words)
    flags = " ".join(desk.house.command_line(session)).replace("=", " ")
    assert "--effort low" in flags


async def test_the_model_is_switched_from_the_head_of_the_session(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated([HELLO]))
    await begun(desk)
    switch = desk.page.get_by_role("main").get_by_role("button", name=re.compile("^Model:"))
    await expect(switch).to_contain_text("opus")
    await switch.click()
    await desk.page.get_by_role("menuitemradio", name=re.compile("^Haiku")).click()
    await expect(switch).to_contain_text("haiku")
    await desk.say("still here?")
    await desk.expect_words("You said: still here?")
    await expect(part(desk, "Cost")).to_contain_text("haiku 5.5")


async def test_what_a_device_prefers_is_kept(emulated: Emulated, visit: Visit) -> None:
    desk = await visit(await emulated([HELLO]))
    await desk.page.goto(f"{desk.house.base}/settings")
    looks = desk.page.get_by_role("radiogroup", name="Theme")
    await looks.get_by_role("radio", name="Dark").check(force=True)
    await expect(desk.page.locator("html")).to_have_attribute("data-theme", "dark")
    await desk.page.reload()
    await expect(looks.get_by_role("radio", name="Dark")).to_be_checked()
    await expect(desk.page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_the_help_tells_what_the_session_itself_told(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated([HELLO]))
    await begun(desk)
    await desk.page.keyboard.press("h")
    main = desk.page.get_by_role("main")
    await expect(main.get_by_role("heading", name="Help")).to_be_visible()
    for title, words in (
        (re.compile("[Cc]ommands"), "/compact"),
        (re.compile("[Tt]ools"), "NotebookEdit"),
        (re.compile("[Aa]gents"), "general-purpose"),
        (re.compile("[Ss]kills"), "deep-research"),
        (re.compile("[Pp]lugins"), "cc-plugin"),
    ):
        section = main.get_by_role("region", name=title)
        more = section.get_by_role("button", name=re.compile("^Show all"))
        if await more.count():
            await more.click()
        await expect(section.first).to_contain_text(words)
    await expect(main).to_contain_text("2.1.325")
    await main.get_by_role("searchbox", name="Find in the help").fill("notebook")
    await expect(main.get_by_text("NotebookEdit")).to_be_visible()
    await expect(main.get_by_text("/compact")).to_have_count(0)


async def test_keys_are_shown_changed_and_given_back(emulated: Emulated, visit: Visit) -> None:
    desk = await visit(await emulated([HELLO]))
    await desk.page.goto(f"{desk.house.base}/keys")
    main = desk.page.get_by_role("main")
    for words in ("Send the message", "New line", "Slash commands", "New session"):
        await expect(main.get_by_text(words, exact=True).first).to_be_visible()
    await main.get_by_role("button", name="Change the key for: New session").click()
    await desk.page.keyboard.press("Alt+y")
    await expect(main.get_by_role("button", name="Back to N")).to_be_visible()
    await desk.page.reload()
    await expect(main.get_by_role("button", name="Back to N")).to_be_visible()
    await desk.page.keyboard.press("n")
    await expect(desk.page.get_by_role("dialog")).to_have_count(0)
    await desk.page.keyboard.press("Alt+y")
    await expect(desk.page.get_by_role("dialog", name="New session")).to_be_visible()
    await desk.page.keyboard.press("Escape")
    await main.get_by_role("button", name="Back to N").click()
    await desk.page.keyboard.press("n")
    await expect(desk.page.get_by_role("dialog", name="New session")).to_be_visible()


async def test_the_keys_are_listed_in_a_window(emulated: Emulated, visit: Visit) -> None:
    desk = await visit(await emulated([HELLO]))
    await desk.page.keyboard.press("?")
    window = desk.page.get_by_role("dialog", name=re.compile("^Keys"))
    await expect(window).to_contain_text("New session")
    await expect(window).to_contain_text("Send the message")
    await desk.page.keyboard.press("Escape")
    await expect(window).to_have_count(0)


async def test_the_context_gauge_has_its_parts_and_warns_when_it_is_nearly_full(
    emulated: Emulated, visit: Visit
) -> None:
    full = {"input_tokens": 850_000, "output_tokens": 10}
    reply = {"blocks": [{"type": "text", "text": "A lot to read."}], "usage": full}
    little = {"blocks": [{"type": "text", "text": "Little."}]}
    desk = await visit(await emulated({"queue": [little, reply], "scenes": [HELLO]}))
    await desk.start("hello")
    await desk.expect_words("Little.")
    await desk.expect_rest()
    context = part(desk, "Context")
    await expect(context.get_by_role("meter")).to_have_attribute("aria-valuenow", "0")
    await context.get_by_role("button", name="Measure anew").click()
    for words in ("System prompt", "System tools", "Messages"):
        await expect(context.get_by_role("listitem").filter(has_text=words)).to_be_visible()
    await expect(context).not_to_contain_text("full.")
    await desk.say("more")
    await desk.expect_words("A lot to read.")
    await expect(context).to_contain_text(re.compile(r"8\d % full"))
    await context.get_by_role("button", name="Summarise now").click()
    await desk.expect_words(re.compile("^Context compacted"))


async def test_the_cost_stands_always_there_with_what_the_last_turn_added(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated([HELLO]))
    await begun(desk)
    shown = desk.page.get_by_title("Cost of the session, and of the last turn")
    await expect(shown).to_have_text(re.compile(r"\$0\.0012\s*\+0\.0012"))
    await desk.say("again")
    await desk.expect_words("You said: again")
    await expect(shown).to_have_text(re.compile(r"\$0\.0025\s*\+0\.0012"))
    await expect(part(desk, "Cost")).to_contain_text("$0.0025")
    await expect(part(desk, "Cost").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^2 turns; the last cost \$0\.0012")
    )
    await desk.say("/cost")
    await expect(desk.transcript.get_by_text("Total cost").last).to_be_visible()


async def test_background_work_is_listed_looked_at_and_stopped(
    emulated: Emulated, visit: Visit
) -> None:
    work = use("Bash", command=WAIT_FOR_GO, description="Wait for it", run_in_background=True)
    desk = await visit(await emulated([scene("go", work, say("It goes on.")), HELLO]))
    await desk.start("go")
    await desk.decide("Allow")
    await desk.expect_words("It goes on.")
    listed = part(desk, "In the background")
    await expect(listed).to_contain_text("1 running")
    await listed.get_by_role("button", name=re.compile("^Stop ")).click()
    await expect(listed).to_contain_text("none running")
    await desk.expect_rest()
    await desk.say("go")
    await desk.decide("Allow")
    await expect(listed).to_contain_text("1 running")
    await listed.get_by_role("button", name=re.compile("^Wait for it")).first.click()
    (desk.house.project / "go").touch()
    await expect(listed).to_contain_text("went")
    await expect(listed).to_contain_text("none running")


# MCP


async def test_mcp_servers_are_listed_and_their_tools_have_readable_names(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    house = await emulated(
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
    (house.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    desk = await visit(house)
    await begun(desk)
    listed = part(desk, "MCP servers")
    await expect(listed).to_contain_text("1 / 2")
    broken = listed.get_by_role("listitem").filter(has_text="broken").first
    await broken.get_by_role("button", name=re.compile("^broken")).click()
    await expect(broken).to_contain_text("failed")
    await expect(broken.get_by_role("button", name="Connect again")).to_be_visible()
    small = listed.get_by_role("listitem").filter(has_text="small").first
    await small.get_by_role("button", name=re.compile("^small")).click()
    await expect(small.get_by_role("listitem").filter(has_text="echo")).to_be_visible()
    await desk.say("echo")
    await expect(desk.decision).to_contain_text("hello there")
    await expect(desk.decision).to_contain_text(re.compile("small > echo", re.I))
    await desk.decide("Allow")
    await desk.expect_words("It said: hello there")
    await expect(desk.card(re.compile("^small > echo", re.I))).to_be_visible()
    await small.get_by_role("button", name="Switch off").click()
    await expect(small.get_by_role("button", name=re.compile("^small")).first).to_contain_text(
        "off"
    )
    await small.get_by_role("button", name="Switch on").click()
    await expect(small.get_by_role("button", name=re.compile("^small")).first).to_contain_text(
        "connected"
    )


async def test_an_mcp_server_that_wants_a_sign_in_shows_its_address_whole(
    theatre: Theatre, playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    await desk.start("go")
    puppet = await theatre.enter()
    await puppet.prompted()
    address = "https://login.example.org/authorize?client=fairlead&scope=all"
    puppet.replies["mcp_authenticate"] = {"authUrl": address, "requiresUserAction": True}
    servers = [{"name": "tracker", "status": "needs-auth"}]
    await puppet.line(
        type="system", subtype="init", tools=[], model="big", permissionMode="default",
        mcp_servers=servers,
    )  # fmt: skip
    listed = part(desk, "MCP servers")
    await expect(listed).to_contain_text("needs a sign-in")
    await listed.get_by_role("button", name=re.compile("^tracker")).click()
    await listed.get_by_role("button", name="Sign in…").click()
    link = listed.get_by_role("link")
    await expect(link).to_have_text(address)
    await expect(link).to_have_attribute("href", address)
    await expect(link).to_have_attribute("rel", re.compile("noopener"))
    asked = [line["request"] for line in puppet.heard if line["type"] == "control_request"]
    wanted = [one for one in asked if one["subtype"] == "mcp_authenticate"]
    assert [one["serverName"] for one in wanted] == ["tracker"]


# What is named after an @


async def test_files_are_completed_after_an_at_sign(emulated: Emulated, visit: Visit) -> None:
    house = await emulated([HELLO])
    (house.project / "lighthouse.py").write_text("lamp = True\n")
    (house.project / "docs").mkdir()
    (house.project / "docs" / "harbour.md").write_text("# Harbour\n")
    desk = await visit(house)
    await begun(desk)
    await desk.composer.press_sequentially("look at @ligh")
    offered = desk.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="lighthouse.py")).to_be_visible()
    await desk.composer.press("Tab")
    await expect(desk.composer).to_have_value("look at @lighthouse.py ")
    await desk.composer.press_sequentially("and @harb")
    await expect(offered.filter(has_text="harbour.md")).to_be_visible()
    await desk.composer.press("Enter")
    await expect(desk.composer).to_have_value("look at @lighthouse.py and @docs/harbour.md ")
    await desk.composer.press("Enter")
    await desk.expect_words(re.compile("^You said: look at @lighthouse.py and @docs/harbour.md"))


async def test_resources_of_mcp_servers_are_completed_after_an_at_sign(
    theatre: Theatre, playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    await desk.start("go")
    puppet = await theatre.enter()
    await puppet.prompted()
    found = [{"server": "small", "uri": "docs://tides/today", "name": "Tides"}]
    await puppet.used("ListMcpResourcesTool", {}, json.dumps(found))
    await puppet.finish()
    await desk.expect_rest()
    await desk.composer.press_sequentially("read @tid")
    offered = desk.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="Tides")).to_be_visible()
    await desk.composer.press("Tab")
    await expect(desk.composer).to_have_value("read @small:docs://tides/today ")
    await desk.composer.press("Enter")
    assert "@small:docs://tides/today" in await puppet.prompted(2)
