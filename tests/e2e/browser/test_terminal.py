"""The terminal page with a real shell (docs/web.md)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.cuttable_proxy import NAME, open_cuttable_proxy
from tests.e2e.browser.scripts import say, scene


@pytest.fixture(autouse=True)
def plain_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ENV", raising=False)


async def server_with(
    emulated: Emulated, *, terminal: bool = True, names: tuple[str, ...] = ()
) -> AppServer:
    script = [scene(None, say("You said: {{prompt}}"))]
    return await emulated(script, terminal=terminal, names=names)


async def open_terminal(app: AppPage) -> Locator:
    """Start a session and its terminal; returns the terminal's region when the shell is ready."""
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.more("Terminal")
    region = app.page.get_by_role("region", name="Terminal 1")
    await prompt(region)
    return region


async def prompt(region: Locator) -> None:
    """Wait until the shell has shown its prompt."""
    await expect(rows(region)).to_contain_text("#" if os.geteuid() == 0 else "$")


def rows(region: Locator) -> Locator:
    """What the terminal shows."""
    return region.locator(".xterm-rows")


async def run(app: AppPage, region: Locator, command: str, words: str) -> None:
    """Type a command into the focused terminal and wait for a part of its output."""
    await expect(region.get_by_role("textbox")).to_be_focused()
    await app.page.keyboard.type(command)
    await app.page.keyboard.press("Enter")
    await expect(rows(region)).to_contain_text(words)


async def test_U124_a_command_runs_and_its_output_is_there_after_a_reload(
    emulated: Emulated, visit: Visit
) -> None:
    server = await server_with(emulated)
    app = await visit(server)
    region = await open_terminal(app)
    await run(app, region, "pwd; echo first$((40+2))", "first42")
    await expect(rows(region)).to_contain_text(server.project.name)
    await app.page.reload()
    await expect(rows(region)).to_contain_text("first42")
    await run(app, region, "echo second$((40+2))", "second42")
    await app.page.set_viewport_size({"width": 900, "height": 600})
    await run(app, region, "echo cols=$(stty size | cut -d' ' -f2).", "cols=")
    report = Report()
    await report.look(app, "terminal")
    report.check()
    await app.page.get_by_role("link", name="Conversation").click()
    await app.expect_words("You said: hello")
    await app.page.keyboard.press("Control+k")
    await app.page.get_by_role("combobox", name="Find anything").fill("terminal in")
    await app.page.keyboard.press("Enter")
    await expect(rows(region)).to_contain_text("second42")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U124_the_page_is_hidden_without_the_flag_and_from_other_roles(
    emulated: Emulated, visit: Visit
) -> None:
    server = await server_with(emulated, terminal=False)
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.page.get_by_role("button", name="More", exact=True).click()
    await expect(app.page.get_by_role("menuitem", name="Git")).to_be_visible()
    await expect(app.page.get_by_role("menuitem", name="Terminal")).to_have_count(0)
    await app.page.keyboard.press("Escape")
    session = app.page.url.split("/")[4].partition("?")[0]
    await app.page.goto(f"{server.base}/s/{session}/terminal")
    await expect(app.page.get_by_role("main")).to_contain_text("This server offers no terminal.")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U124_an_operator_has_no_terminal(emulated: Emulated, visit: Visit) -> None:
    server = await server_with(emulated)
    app = await visit(server, role="operator")
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.page.get_by_role("button", name="More", exact=True).click()
    await expect(app.page.get_by_role("menuitem", name="Git")).to_be_visible()
    await expect(app.page.get_by_role("menuitem", name="Terminal")).to_have_count(0)
    await app.page.keyboard.press("Escape")
    session = app.page.url.split("/")[4].partition("?")[0]
    await app.page.goto(f"{server.base}/s/{session}/terminal")
    await expect(app.page.get_by_role("main")).to_contain_text("only owners have it")


async def test_U125_the_end_of_the_shell_is_reported_and_another_can_be_started(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await server_with(emulated))
    region = await open_terminal(app)
    await run(app, region, "echo last$((40+2)); exit 7", "last42")
    status = app.page.get_by_role("status").filter(has_text="Shell ended with code 7.")
    await expect(status).to_be_visible()
    await app.page.get_by_role("button", name="Start again").click()
    second = app.page.get_by_role("region", name="Terminal 2")
    await prompt(second)
    await run(app, second, "echo again$((40+2))", "again42")
    await app.page.get_by_role("button", name="New shell").click()
    third = app.page.get_by_role("region", name="Terminal 3")
    await prompt(third)
    await app.page.get_by_role("button", name="Shell 2").click()
    await expect(rows(second)).to_contain_text("again42")
    await app.page.get_by_role("button", name="Close shell").click()
    await expect(app.page.get_by_role("button", name="Shell 2")).to_have_count(0)
    await app.page.get_by_role("button", name="Close shell").click()
    await expect(app.page.get_by_role("button", name="Start a shell")).to_be_visible()


async def test_U126_tab_goes_to_the_shell_and_a_shown_key_leaves(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await server_with(emulated))
    region = await open_terminal(app)
    await expect(app.page.get_by_role("main")).to_contain_text("Shift+F6 leaves the terminal")
    # Single letters, Tab and the app's own chords reach the program; `od` shows their bytes.
    await run(
        app,
        region,
        "stty raw -echo; echo go$((40+2)); dd bs=1 count=4 2>/dev/null | od -An -tx1; stty sane",
        "go42",
    )
    for key in ("Tab", "Control+k", "n", "Escape"):
        await app.page.keyboard.press(key)
    await expect(rows(region)).to_contain_text("09 0b 6e 1b")
    await expect(app.page.get_by_role("dialog")).to_have_count(0)
    await app.page.keyboard.press("Shift+F6")
    await expect(app.page.get_by_role("link", name="Conversation")).to_be_focused()
    await app.page.keyboard.press("Enter")
    await app.expect_words("You said: hello")


async def test_U127_a_phone_has_keys_that_its_keyboard_lacks(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await server_with(emulated), phone=True)
    region = await open_terminal(app)
    keys = region.get_by_role("group", name="Keys")
    await region.locator(".xterm-screen").click()
    await run(
        app,
        region,
        "stty raw -echo; echo go$((40+2)); dd bs=1 count=6 2>/dev/null | od -An -tx1; stty sane",
        "go42",
    )
    for key in ("Esc", "Tab", "Arrow up"):
        await keys.get_by_role("button", name=key).click()
    await keys.get_by_role("button", name="Ctrl").click()
    await expect(keys.get_by_role("button", name="Ctrl")).to_have_attribute("aria-pressed", "true")
    await app.page.keyboard.type("a")
    await expect(rows(region)).to_contain_text("1b 09 1b 5b 41 01")
    await expect(keys.get_by_role("button", name="Ctrl")).to_have_attribute("aria-pressed", "false")
    wide = await app.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wide
    report = Report()
    await report.look(app, "terminal on a phone")
    report.check()


async def test_U128_a_lost_connection_is_shown_and_the_terminal_goes_on(
    emulated: Emulated, visit: Visit
) -> None:
    server = await server_with(emulated, names=(NAME,))
    go_on = server.project / "go-on"
    async with open_cuttable_proxy(server) as proxy:
        app = await visit(proxy.server)
        region = await open_terminal(app)
        wait = f"until test -e {go_on}; do sleep 0.05; done"
        command = f"echo before$((40+2)); {wait}; echo during$((40+2))"
        await run(app, region, command, "before42")
        proxy.cut()
        status = app.page.get_by_role("status").filter(has_text="Reconnecting…")
        await expect(status).to_be_visible()
        go_on.touch()
        proxy.restore()
        await expect(rows(region)).to_contain_text("during42")
        await expect(status).to_have_count(0)
        await run(app, region, "echo after$((40+2))", "after42")


OSC_52 = r"\033]52;c;c3RvbGVu\007"
OSC_TITLE = r"\033]0;stolen title\007\033]2;stolen title\007"
OSC_LINK = r"\033]8;;https://evil.test/\033\\click\033]8;;\033\\"
MARKUP = r"<img src=x onerror=\"document.title=1\"><script>document.title=1</script>"


async def test_U129_escape_sequences_do_nothing_outside_of_the_terminal(
    emulated: Emulated, visit: Visit
) -> None:
    server = await server_with(emulated)
    app = await visit(server, fresh=True)
    await app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    region = await open_terminal(app)
    await app.page.evaluate("navigator.clipboard.writeText('mine')")
    title = await app.page.title()
    (server.project / "hostile").write_text(
        f"printf '{OSC_52}{OSC_TITLE}{OSC_LINK}'; printf '%s' '{MARKUP}'; echo end$((40+2))\n"
    )
    await run(app, region, "sh hostile", "end42")
    await expect(rows(region)).to_contain_text("click<img src=x")
    assert await app.page.evaluate("navigator.clipboard.readText()") == "mine"
    assert await app.page.title() == title
    assert await region.locator("a, img, script").count() == 0
    opened: list[str] = []
    app.page.context.on("page", lambda page: opened.append(page.url))
    app.page.on("dialog", lambda dialog: opened.append(dialog.message))
    box = await rows(region).get_by_text("click<img", exact=False).first.bounding_box()
    assert box is not None
    await app.page.mouse.click(box["x"] + 8, box["y"] + box["height"] / 2)
    await run(app, region, "echo still$((40+2))", "still42")
    assert opened == []
