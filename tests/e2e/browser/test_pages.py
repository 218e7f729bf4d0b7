"""The pages other than sessions: search, usage, devices, settings, shortcuts, help, and the raw
log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from fairlead.store.log import OUT, NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import decode
from fairlead.wire.json_text import write
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer, open_app_server
from tests.e2e.browser.conftest import Visit


async def worked(demo: AppServer, visit: Visit, **how: object) -> AppPage:
    """A page whose first session has had a turn."""
    app = await visit(demo, **how)
    await app.start("hello")
    await app.expect_rest()
    return app


async def open_page(page: Page, name: str, query: str = "") -> None:
    """By the address, as after a reload."""
    base = page.url.split("/", 3)
    await page.goto(f"{base[0]}//{base[2]}/{name}{query}")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_hit_leads_to_its_message(demo: AppServer, visit: Visit) -> None:
    app = await worked(demo, visit)
    page = app.page
    title = page.url
    await page.get_by_role("link", name="Fairlead").click()
    await app.leave_field()
    await page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search all conversations")
    await expect(field).to_be_focused()
    await field.press_sequentially("hello", delay=5)
    hit = page.get_by_role("listbox").get_by_role("option").first
    await expect(hit).to_contain_text("hello")
    await expect(
        page.get_by_role("main").get_by_text(re.compile(r"results? in 1 session"))
    ).to_be_visible()
    await field.press("Enter")
    await expect(page).to_have_url(re.compile(re.escape(title) + r"\?item="))
    await app.expect_words("hello")
    await page.go_back()
    await expect(field).to_have_value("hello")
    await expect(hit).to_contain_text("hello")


async def long_ago(folder: Path, project: Path) -> None:
    """A data folder with one session of 700 messages, of which the third has the needle."""
    session, transcript = "0f0f0f0f-0000-4000-8000-000000000001", Transcript()
    events = [
        NewEvent(
            OUT,
            write(
                {
                    "type": "assistant",
                    "uuid": f"u{n}",
                    "session_id": "cli",
                    "parent_tool_use_id": None,
                    "message": {
                        "id": f"m{n}",
                        "role": "assistant",
                        "content": [
                            {"type": "text", "text": "the needle" if n == 3 else f"hay {n}"}
                        ],
                    },
                }
            ),
            float(n),
        )
        for n in range(700)
    ]
    for event in events:
        transcript.feed(decode(event.line), event.at)
    async with SqliteStore(folder) as store:
        await store.append(session, events)
        await store.put_session(SessionRow(id=session, cwd=str(project), title="Long ago"))
        await store.index_items(session, transcript.items, project=str(project))


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_hit_outside_the_loaded_window_is_fetched_and_shown(
    tmp_path: Path, visit: Visit
) -> None:
    (tmp_path / "project").mkdir()
    await long_ago(tmp_path / "data", tmp_path / "project")
    async with open_app_server(tmp_path, agent=tmp_path, project=tmp_path / "project") as server:
        app = await visit(server)
        await open_page(app.page, "search", "?q=needle")
        await expect(app.page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
        await app.page.keyboard.press("Enter")
        await app.expect_words("the needle")
        await expect(app.transcript.get_by_text("the needle")).to_be_in_viewport()
        await app.page.goto("about:blank")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_search_that_finds_nothing_says_what_to_try(demo: AppServer, visit: Visit) -> None:
    app = await worked(demo, visit)
    await open_page(app.page, "search", "?q=zebra&kind=error")
    await expect(app.page.get_by_text("No results with these filters")).to_be_visible()
    await app.page.get_by_role("button", name="Clear filters").click()
    await expect(app.page).to_have_url(re.compile(r"/search\?q=zebra$"))


@pytest.mark.matrix(target="browser", cases=0)
async def test_what_a_turn_cost_is_in_the_plot_and_in_the_tables(
    demo: AppServer, visit: Visit
) -> None:
    app = await worked(demo, visit)
    page = app.page
    await page.keyboard.press("Escape")
    await page.locator("body").click(position={"x": 5, "y": 5})
    await page.keyboard.press("u")
    bars = page.get_by_role("group", name=re.compile("^Cost by day")).get_by_role("img")
    await expect(bars).to_have_count(30)
    await expect(bars.last).to_have_attribute("aria-label", re.compile(r"\$0\.\d+, 1 turn"))
    await bars.last.focus()
    await page.keyboard.press("ArrowLeft")
    await expect(bars.nth(28)).to_be_focused()
    await page.get_by_role("radio", name="Weeks").check()
    await expect(page).to_have_url(re.compile("by=week"))
    await page.reload()
    weeks = page.get_by_role("group", name=re.compile("^Cost by week")).get_by_role("img")
    await expect(weeks).to_have_count(26)
    await page.get_by_text("Show as table").click()
    await expect(page.get_by_role("table").last.get_by_role("row")).to_have_count(27)


async def test_an_empty_server_says_what_usage_will_show(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    await open_page(app.page, "usage")
    await expect(app.page.get_by_text("No usage yet")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_settings_change_the_session_and_stay_on_the_device(
    demo: AppServer, visit: Visit
) -> None:
    app = await worked(demo, visit)
    page = app.page
    session = app.session
    await app.more("Session settings")
    mode = page.get_by_role("combobox", name="Permission mode", exact=True)
    await app.select(mode, "plan")
    await expect(page.get_by_text("Reads and plans, changes nothing")).to_be_visible()
    live = demo.service.registry.sessions.loaded(session)
    assert live is not None
    assert live.transcript.session.permission_mode == "plan"
    await page.get_by_role("radio", name="Dark").check()
    await page.get_by_role("radio", name="Large").check()
    await page.get_by_role("switch", name="Enter sends").click()
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await expect(page.locator("html")).to_have_attribute("data-text", "large")
    await expect(page.get_by_role("switch", name="Enter sends")).not_to_be_checked()
    await page.get_by_role("button", name="Reset this device's settings").click()
    await expect(page.locator("html")).to_have_attribute("data-text", "normal")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_key_can_be_changed_taken_over_and_reset(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    page = app.page
    await open_page(page, "keys")
    await page.get_by_role("button", name="Change shortcut: Usage").click()
    await page.keyboard.press("i")
    await expect(page.get_by_role("alert")).to_contain_text("is “Inbox”")
    await page.get_by_role("button", name="Reassign").click()
    await expect(page.get_by_text("none", exact=True)).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", name="Keyboard shortcuts", level=1)).to_be_visible()
    await page.keyboard.press("i")
    await expect(page.get_by_role("heading", name="Usage", level=1)).to_be_visible()
    await page.go_back()
    await page.get_by_role("button", name="Change shortcut: Usage").click()
    await page.keyboard.press("Control+c")
    await expect(page.get_by_text("Reserved by the browser or for typing.")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Reset all").click()
    await page.keyboard.press("i")
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_help_lists_what_the_session_reported(demo: AppServer, visit: Visit) -> None:
    app = await worked(demo, visit)
    page = app.page
    await app.more("Commands and tools")
    await expect(page.get_by_role("region", name=re.compile("^Slash commands"))).to_be_visible()
    await expect(page.get_by_role("region", name=re.compile("^Tools"))).to_contain_text(
        "Runs a shell command"
    )
    await page.get_by_role("searchbox", name="Find in help").fill("runs a shell")
    await expect(page.get_by_role("region", name=re.compile("^Slash commands"))).to_have_count(0)
    await expect(page.get_by_role("region", name=re.compile("^Tools"))).to_contain_text("Bash")


async def test_the_protocol_shows_both_directions_and_grows(demo: AppServer, visit: Visit) -> None:
    app = await worked(demo, visit)
    page, session = app.page, app.session
    await app.more("Raw log")
    lines = page.get_by_role("region", name="Lines")
    directions = page.get_by_role("group", name="Directions")
    result = lines.get_by_role("button", name=re.compile(r"result.success"))
    await expect(result).to_have_count(1)
    await directions.get_by_role("button", name="From the CLI").click()
    await expect(result).to_have_count(0)
    await expect(
        lines.get_by_role("button", name=re.compile("to the CLI user")).first
    ).to_be_visible()
    await directions.get_by_role("button", name="From the CLI").click()
    await page.get_by_role("combobox", name="Kind of line").fill("result")
    await expect(lines.get_by_role("button")).to_have_count(1)
    await result.click()
    whole = json.loads(await lines.locator("pre").inner_text())
    assert whole["type"] == "result"
    live = demo.service.registry.sessions.loaded(session)
    assert live is not None
    other = await visit(demo)
    await other.page.goto(f"{demo.base}/s/{session}")
    await other.say("hello")
    await other.expect_rest()
    await expect(page.get_by_text(re.compile(r"^2 of [\d,]+ lines$"))).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_viewer_sees_why_the_raw_log_is_closed(demo: AppServer, visit: Visit) -> None:
    app = await worked(demo, visit)
    viewer = await visit(demo, role="viewer")
    await viewer.page.goto(f"{demo.base}/s/{app.session}/log")
    await expect(viewer.page.get_by_text("only operators and owners can see them")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_another_device_is_paired_named_and_cut_off(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    page = app.page
    await open_page(page, "devices")
    await expect(page.get_by_text("A phone cannot reach this server")).to_be_visible()
    await page.get_by_role("radio", name="Viewer").check()
    await page.get_by_role("button", name="Create link").click()
    link = await page.get_by_text("/#code=").inner_text()
    left = int((await page.get_by_role("timer").inner_text()).removesuffix(" s"))
    assert 0 < left <= 60
    other = await app.context.browser.new_context()  # type: ignore[union-attr]
    guest = await other.new_page()
    await guest.goto(link)
    await expect(guest.get_by_role("heading", name="Waiting for approval")).to_be_visible()
    number = await guest.get_by_role("status").inner_text()
    asking = page.get_by_role("region", name="wants to join")
    await expect(asking.get_by_role("definition")).to_have_text(
        [re.compile("Chrome"), "viewer", "127.0.0.1"]
    )
    await expect(asking).to_contain_text(number)
    await asking.get_by_role("button", name="Approve").click()
    await expect(guest.get_by_role("navigation", name="Sessions")).to_be_visible()
    await expect(page.get_by_text(re.compile("has joined as viewer"))).to_be_visible()
    row = page.get_by_role("list", name="Devices").get_by_role("listitem").nth(1)
    await row.get_by_role("button", name=re.compile("^Rename")).click()
    await page.get_by_role("textbox", name="Device name").fill("The kitchen tablet")
    await page.keyboard.press("Enter")
    await expect(row).to_contain_text("The kitchen tablet")
    await row.get_by_role("button", name="Revoke The kitchen tablet").click()
    await page.get_by_role("button", name="Revoke", exact=True).click()
    await expect(page.get_by_role("list", name="Devices").get_by_role("listitem")).to_have_count(1)
    await expect(guest.get_by_role("heading", name="Pair this device")).to_be_visible()
    await other.close()
