"""Sessions in order: tags, groups, selecting many, deleting with an undo, export and import."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.async_api import Locator, expect

from fairlead.server.limits import Limits
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.scripts import say, scene, use
from tests.waiting import until

HELLO = [
    scene("write", use("Write", file_path="{{cwd}}/notes.py", content="x = '<b>'\n"), say("Done.")),
    scene(None, say("You said: **{{prompt}}** </script><script>alert(1)</script>")),
]
LONG = Limits(delete_undo_s=3_600.0)
SOON = Limits(delete_undo_s=1.0)


async def sessions(desk: Desk, *prompts: str) -> None:
    """Sessions that answered one prompt each."""
    for prompt in prompts:
        await desk.start(prompt)
        await desk.expect_words(f"You said: {prompt}")
        await desk.expect_rest()


async def manage(desk: Desk) -> Locator:
    """The page of all sessions."""
    await desk.page.get_by_role("button", name="Arrange sessions").click()
    await desk.page.get_by_role("menuitem", name="Manage sessions").click()
    main = desk.page.get_by_role("main")
    await expect(main.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    return main


async def accessible(desk: Desk, state: str) -> None:
    """Fail for anything that axe finds in the page as it is now."""
    report = Report()
    await report.look(desk, state)
    report.check()


def rows(house: House) -> dict[str, str]:
    """The titles of the server's sessions, by id."""
    return {row.id: row.title or "" for row in house.service.registry.sessions.rows.values()}


async def test_U104_sessions_are_grouped_tagged_and_filtered(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated(HELLO))
    await sessions(desk, "apples", "pears")
    await desk.more("Tags…")
    dialog = desk.page.get_by_role("dialog", name="Tags")
    await dialog.get_by_role("combobox", name="Add a tag").fill("orchard")
    await desk.page.keyboard.press("Enter")
    await expect(dialog.get_by_role("listitem")).to_have_text("orchard")
    await dialog.get_by_role("button", name="Save tags").click()
    await expect(dialog).to_have_count(0)
    await expect(desk.listed("pears")).to_contain_text("orchard")
    await desk.page.get_by_role("searchbox", name="Filter sessions").fill("#orch")
    await expect(desk.listed("apples")).to_have_count(0)
    await expect(desk.listed("pears")).to_be_visible()
    await desk.page.get_by_role("searchbox", name="Filter sessions").fill("")
    await desk.page.get_by_role("button", name="Arrange sessions").click()
    await desk.page.get_by_role("menuitem", name="Group by project").click()
    nav = desk.page.get_by_role("navigation", name="Sessions")
    project = Path(desk.house.project).name
    await expect(nav.get_by_role("heading", name=re.compile(project))).to_be_visible()
    await desk.page.reload()
    await expect(nav.get_by_role("heading", name=re.compile(project))).to_be_visible()
    main = await manage(desk)
    await main.get_by_role("radio", name="Tag").check()
    await expect(main.get_by_role("region", name="orchard")).to_contain_text("pears")
    await expect(main.get_by_role("region", name="Without a tag")).to_contain_text("apples")
    await desk.select(main.get_by_role("combobox", name="Tag"), "orchard")
    await expect(main.get_by_text("apples")).to_have_count(0)
    await accessible(desk, "state 1")


async def test_U105_many_sessions_are_archived_and_deleted_and_that_is_undone(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated(HELLO, limits=LONG)
    desk = await visit(house)
    await sessions(desk, "one", "two", "three")
    before = rows(house)
    main = await manage(desk)
    await main.get_by_role("checkbox", name="Select one").check()
    await main.get_by_role("checkbox", name="Select three").check()
    bar = main.get_by_role("toolbar", name="Selected sessions")
    await expect(bar).to_contain_text("2 selected")
    await bar.get_by_role("button", name="Archive").click()
    await expect(main.get_by_role("link", name="one")).to_have_count(0)
    await desk.page.get_by_role("button", name="Undo", exact=True).click()
    await expect(main.get_by_role("link", name="one")).to_be_visible()
    await main.get_by_role("checkbox", name="Select one").check()
    await main.get_by_role("checkbox", name="Select three").check()
    await bar.get_by_role("button", name="Delete…").click()
    dialog = desk.page.get_by_role("dialog", name="Delete 2 sessions")
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await accessible(desk, "state 2")
    await dialog.get_by_role("button", name="Delete 2 sessions").click()
    await expect(main.get_by_role("link", name="one")).to_have_count(0)
    await desk.page.reload()  # The undo is the server's: a reload does not lose it.
    undo = desk.page.get_by_role("button", name=re.compile("^Undo"))
    await expect(desk.page.get_by_text("Deleting 2 sessions")).to_be_visible()
    await expect(desk.listed("two")).to_be_visible()
    await expect(desk.listed("one")).to_have_count(0)
    await undo.click()
    await expect(desk.listed("one")).to_be_visible()
    await expect(undo).to_have_count(0)
    assert rows(house) == before


async def test_U105_a_deleted_session_is_gone_with_its_file_and_others_stay(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated(HELLO, limits=SOON)
    desk = await visit(house)
    await sessions(desk, "stays", "goes")
    files = {path.stem: path for path in house.project.parent.rglob("*.jsonl")}
    stored = house.service.registry.sessions.rows
    kept, gone = (next(r for r in stored.values() if r.title == t) for t in ("stays", "goes"))
    content = files[str(kept.cli_session_id)].read_bytes()
    await desk.more("Delete…")
    dialog = desk.page.get_by_role("dialog", name="Delete 1 session")
    await dialog.get_by_role("checkbox", name=re.compile("session files")).check()
    await dialog.get_by_role("button", name="Delete 1 session").click()
    await expect(desk.page.get_by_role("region", name="Home")).to_be_visible()
    await until(lambda: set(rows(house).values()) == {"stays"})
    await expect(desk.page.get_by_text("Deleting")).to_have_count(0)
    await until(lambda: not files[str(gone.cli_session_id)].exists())
    assert files[str(kept.cli_session_id)].read_bytes() == content
    await desk.listed("stays").click()
    await desk.say("again")
    await desk.expect_words("You said: again")


async def test_U106_a_session_is_exported_as_a_page_that_needs_no_server(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    desk = await visit(await emulated(HELLO))
    await desk.start("write it")
    await desk.decide("Allow once")
    await desk.expect_words("Done.")
    await desk.say("hello")
    await desk.expect_words("You said: hello")
    await desk.expect_rest()
    saved = {}
    for label, name in (("Web page", "page.html"), ("Markdown", "page.md"), ("Recording", "r")):
        await desk.more("Export…")
        dialog = desk.page.get_by_role("dialog", name="Export session")
        async with desk.page.expect_download() as download:
            await dialog.get_by_role("button", name=label).click()
        saved[label] = tmp_path / name
        await (await download.value).save_as(saved[label])
        await expect(dialog).to_have_count(0)
    assert "You said: **hello**" in saved["Markdown"].read_text()
    page = await desk.context.new_page()
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
    assert style == await desk.page.evaluate("getComputedStyle(document.body).fontFamily")
    await page.get_by_role("button", name=re.compile("^Theme")).click()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    await page.close()
    lines = [json.loads(line) for line in saved["Recording"].read_text().splitlines()]
    assert {line["dir"] for line in lines} == {"in", "out"}


async def test_U107_an_exported_recording_is_imported_and_only_read(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    house = await emulated(HELLO)
    desk = await visit(house)
    await sessions(desk, "record me")
    await desk.more("Export…")
    dialog = desk.page.get_by_role("dialog", name="Export session")
    async with desk.page.expect_download() as download:
        await dialog.get_by_role("button", name="Recording").click()
    recording = tmp_path / "talk.ndjson"
    await (await download.value).save_as(recording)
    main = await manage(desk)
    async with desk.page.expect_file_chooser() as chooser:
        await main.get_by_role("button", name="Import recording…").click()
    await (await chooser.value).set_files(recording)
    await expect(desk.page).to_have_url(re.compile("/s/recording-"))
    await desk.expect_words("You said: record me")
    await expect(desk.composer).to_be_disabled()
    await desk.page.get_by_role("button", name="More", exact=True).click()
    menu = desk.page.get_by_role("menu", name="More")
    await expect(menu.get_by_role("menuitem", name="Export…")).to_be_visible()
    for refused in ("Fork", "Resume", "Restart", "Changes"):
        await expect(menu.get_by_role("menuitem", name=refused, exact=True)).to_have_count(0)
    await desk.page.keyboard.press("Escape")
    main = await manage(desk)
    garbage = tmp_path / "garbage.ndjson"
    garbage.write_text('{"not": "a recording"}\n')
    async with desk.page.expect_file_chooser() as chooser:
        await main.get_by_role("button", name="Import recording…").click()
    await (await chooser.value).set_files(garbage)
    await expect(desk.page.get_by_text("Line 1 is not part of a recording")).to_be_visible()


async def test_U108_a_session_that_cannot_be_resumed_offers_what_can_be_done(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated(HELLO)
    desk = await visit(house)
    await sessions(desk, "first")
    await desk.more("Stop process")
    await desk.expect_state("Ended")
    session = desk.session
    other = house.project / "moved"
    other.mkdir()
    files = [path for path in house.project.parent.rglob("*.jsonl") if "subagents" not in str(path)]
    for path in files:  # The session worked in another folder than the one it is listed under.
        path.write_text(
            path.read_text().replace(json.dumps(str(house.project))[1:-1] + '"', f'{other}"')
        )
    await desk.say("go on")
    dialog = desk.page.get_by_role("dialog", name="This session can't be resumed")
    await expect(dialog).to_contain_text("listed under")
    await expect(dialog).to_contain_text(str(other))
    for offer in ("Resume in the other folder", "Fork", "New session"):
        await expect(dialog.get_by_role("button", name=offer, exact=True)).to_be_visible()
    await accessible(desk, "state 3")
    await dialog.get_by_role("button", name="New session").click()
    await desk.expect_words("You said: go on")
    assert desk.session != session
