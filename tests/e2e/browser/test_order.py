"""Sessions in order: tags, groups, selecting many, deleting with an undo, export and import."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from fairlead.server.limits import Limits
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene, use
from tests.waiting import until

HELLO = [
    scene("write", use("Write", file_path="{{cwd}}/notes.py", content="x = '<b>'\n"), say("Done.")),
    scene(None, say("You said: **{{prompt}}** </script><script>alert(1)</script>")),
]
LONG = Limits(delete_undo_s=3_600.0)
SOON = Limits(delete_undo_s=1.0)


async def sessions(app: AppPage, *prompts: str) -> None:
    """Sessions that answered one prompt each."""
    for prompt in prompts:
        await app.start(prompt)
        await app.expect_words(f"You said: {prompt}")
        await app.expect_rest()


async def manage(app: AppPage) -> Locator:
    """The page of all sessions."""
    await app.page.get_by_role("button", name="Arrange sessions").click()
    await app.page.get_by_role("menuitem", name="Manage sessions").click()
    main = app.page.get_by_role("main")
    await expect(main.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    return main


async def accessible(app: AppPage, state: str) -> None:
    """Fail for anything that axe finds in the page as it is now."""
    report = Report()
    await report.look(app, state)
    report.check()


def rows(server: AppServer) -> dict[str, str]:
    """The titles of the server's sessions, by id."""
    return {row.id: row.title or "" for row in server.service.registry.sessions.rows.values()}


async def test_U104_sessions_are_grouped_tagged_and_filtered(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(HELLO))
    await sessions(app, "apples", "pears")
    await app.more("Tags…")
    dialog = app.page.get_by_role("dialog", name="Tags")
    await dialog.get_by_role("combobox", name="Add a tag").fill("orchard")
    await app.page.keyboard.press("Enter")
    await expect(dialog.get_by_role("listitem")).to_have_text("orchard")
    await dialog.get_by_role("button", name="Save tags").click()
    await expect(dialog).to_have_count(0)
    await expect(app.listed("pears")).to_contain_text("orchard")
    await app.page.get_by_role("searchbox", name="Filter sessions").fill("#orch")
    await expect(app.listed("apples")).to_have_count(0)
    await expect(app.listed("pears")).to_be_visible()
    await app.page.get_by_role("searchbox", name="Filter sessions").fill("")
    await app.page.get_by_role("button", name="Arrange sessions").click()
    await app.page.get_by_role("menuitem", name="Group by project").click()
    nav = app.page.get_by_role("navigation", name="Sessions")
    project = Path(app.server.project).name
    await expect(nav.get_by_role("heading", name=re.compile(project))).to_be_visible()
    await app.page.reload()
    await expect(nav.get_by_role("heading", name=re.compile(project))).to_be_visible()
    main = await manage(app)
    await main.get_by_role("radio", name="Tag").check()
    await expect(main.get_by_role("region", name="orchard")).to_contain_text("pears")
    await expect(main.get_by_role("region", name="Without a tag")).to_contain_text("apples")
    await app.select(main.get_by_role("combobox", name="Tag"), "orchard")
    await expect(main.get_by_text("apples")).to_have_count(0)
    await accessible(app, "state 1")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U105_many_sessions_are_archived_and_deleted_and_that_is_undone(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO, limits=LONG)
    app = await visit(server)
    await sessions(app, "one", "two", "three")
    before = rows(server)
    main = await manage(app)
    await main.get_by_role("checkbox", name="Select one").check()
    await main.get_by_role("checkbox", name="Select three").check()
    bar = main.get_by_role("toolbar", name="Selected sessions")
    await expect(bar).to_contain_text("2 selected")
    await bar.get_by_role("button", name="Archive").click()
    await expect(main.get_by_role("link", name="one")).to_have_count(0)
    await app.page.get_by_role("button", name="Undo", exact=True).click()
    await expect(main.get_by_role("link", name="one")).to_be_visible()
    await main.get_by_role("checkbox", name="Select one").check()
    await main.get_by_role("checkbox", name="Select three").check()
    await bar.get_by_role("button", name="Delete…").click()
    dialog = app.page.get_by_role("dialog", name="Delete 2 sessions")
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await accessible(app, "state 2")
    await dialog.get_by_role("button", name="Delete 2 sessions").click()
    await expect(main.get_by_role("link", name="one")).to_have_count(0)
    await app.page.reload()  # The undo is the server's: a reload does not lose it.
    undo = app.page.get_by_role("button", name=re.compile("^Undo"))
    await expect(app.page.get_by_text("Deleting 2 sessions")).to_be_visible()
    await expect(app.listed("two")).to_be_visible()
    await expect(app.listed("one")).to_have_count(0)
    # It is not in the way of a button of the page, nor of the message field, there also on a phone.
    for width in (1440, 1024):
        await app.page.set_viewport_size({"width": width, "height": 800})
        await main.get_by_role("button", name="Import recording…").click(trial=True)
        pages = app.page.get_by_role("navigation", name="Pages")
        await pages.get_by_role("link").last.click(trial=True)
    await app.listed("two").click()
    for width in (390, 1440):
        await app.page.set_viewport_size({"width": width, "height": 800})
        offer = await undo.bounding_box()
        field = await app.page.get_by_role("group", name="Message").bounding_box()
        assert offer is not None
        assert field is not None
        assert offer["y"] + offer["height"] < field["y"]
    await undo.click()
    await expect(app.listed("one")).to_be_visible()
    await expect(undo).to_have_count(0)
    assert rows(server) == before


async def test_U105_a_deleted_session_is_gone_with_its_file_and_others_stay(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO, limits=SOON)
    app = await visit(server)
    await sessions(app, "stays", "goes")
    files = {path.stem: path for path in server.project.parent.rglob("*.jsonl")}
    stored = server.service.registry.sessions.rows
    kept, gone = (next(r for r in stored.values() if r.title == t) for t in ("stays", "goes"))
    content = files[str(kept.cli_session_id)].read_bytes()
    await app.more("Delete…")
    dialog = app.page.get_by_role("dialog", name="Delete 1 session")
    await dialog.get_by_role("checkbox", name=re.compile("session files")).check()
    await dialog.get_by_role("button", name="Delete 1 session").click()
    await expect(app.page.get_by_role("region", name="Home")).to_be_visible()
    await until(lambda: set(rows(server).values()) == {"stays"})
    await expect(app.page.get_by_text("Deleting")).to_have_count(0)
    await until(lambda: not files[str(gone.cli_session_id)].exists())
    assert files[str(kept.cli_session_id)].read_bytes() == content
    await app.listed("stays").click()
    await app.say("again")
    await app.expect_words("You said: again")


async def test_U106_a_session_is_exported_as_a_page_that_needs_no_server(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    app = await visit(await emulated(HELLO))
    await app.start("write it")
    await app.decide("Allow once")
    await app.expect_words("Done.")
    await app.say("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    saved = {}
    for label, name in (("Web page", "page.html"), ("Markdown", "page.md"), ("Recording", "r")):
        await app.more("Export…")
        dialog = app.page.get_by_role("dialog", name="Export session")
        async with app.page.expect_download() as download:
            await dialog.get_by_role("button", name=label).click()
        saved[label] = tmp_path / name
        await (await download.value).save_as(saved[label])
        await expect(dialog).to_have_count(0)
    assert "You said: **hello**" in saved["Markdown"].read_text()
    page = await app.context.new_page()
    problems: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: requests.append(request.url))
    await page.goto(saved["Web page"].as_uri())
    talk = page.get_by_role("log", name="Conversation")
    await expect(talk).to_contain_text("You said: hello")
    await expect(talk.get_by_text("notes.py").first).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("write it")
    style = await page.evaluate("getComputedStyle(document.body).fontFamily")
    assert style == await app.page.evaluate("getComputedStyle(document.body).fontFamily")
    await page.get_by_role("button", name=re.compile("^Theme")).click()
    # Links to files of the server would lead nowhere.
    await talk.get_by_role("button", name=re.compile("notes.py")).first.click()
    await expect(page.locator("a[data-file]")).to_have_count(0)
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    await page.close()
    lines = [json.loads(line) for line in saved["Recording"].read_text().splitlines()]
    assert {line["dir"] for line in lines} == {"in", "out"}


async def test_U107_an_exported_recording_is_imported_and_only_read(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await sessions(app, "record me")
    await app.more("Export…")
    dialog = app.page.get_by_role("dialog", name="Export session")
    async with app.page.expect_download() as download:
        await dialog.get_by_role("button", name="Recording").click()
    recording = tmp_path / "talk.ndjson"
    await (await download.value).save_as(recording)
    main = await manage(app)
    async with app.page.expect_file_chooser() as chooser:
        await main.get_by_role("button", name="Import recording…").click()
    await (await chooser.value).set_files(recording)
    await expect(app.page).to_have_url(re.compile("/s/recording-"))
    await app.expect_words("You said: record me")
    await expect(app.composer).to_be_disabled()
    note = app.page.get_by_role("note").filter(has_text="Imported recording")
    await expect(note.get_by_role("button", name="Play back")).to_be_enabled()
    await app.page.get_by_role("button", name="More", exact=True).click()
    menu = app.page.get_by_role("menu", name="More")
    await expect(menu.get_by_role("menuitem", name="Export…")).to_be_visible()
    for refused in ("Fork", "Resume", "Restart", "Changes"):
        await expect(menu.get_by_role("menuitem", name=refused, exact=True)).to_have_count(0)
    await app.page.keyboard.press("Escape")
    main = await manage(app)
    garbage = tmp_path / "garbage.ndjson"
    garbage.write_text('{"not": "a recording"}\n')
    async with app.page.expect_file_chooser() as chooser:
        await main.get_by_role("button", name="Import recording…").click()
    await (await chooser.value).set_files(garbage)
    await expect(app.page.get_by_text("Line 1 is not part of a recording")).to_be_visible()


async def test_U108_a_session_that_cannot_be_resumed_offers_what_can_be_done(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await sessions(app, "first")
    await app.more("Stop process")
    await app.expect_state("Ended")
    session = app.session
    other = server.project / "moved"
    other.mkdir()
    files = [
        path for path in server.project.parent.rglob("*.jsonl") if "subagents" not in str(path)
    ]
    for path in files:  # The session worked in another folder than the one it is listed under.
        path.write_text(
            path.read_text().replace(json.dumps(str(server.project))[1:-1] + '"', f'{other}"')
        )
    await app.say("go on")
    dialog = app.page.get_by_role("dialog", name="This session can't be resumed")
    await expect(dialog).to_contain_text("listed under")
    await expect(dialog).to_contain_text(str(other))
    for offer in ("Resume in the other folder", "Fork", "New session"):
        await expect(dialog.get_by_role("button", name=offer, exact=True)).to_be_visible()
    await accessible(app, "state 3")
    await dialog.get_by_role("button", name="New session").click()
    await app.expect_words("You said: go on")
    assert app.session != session
