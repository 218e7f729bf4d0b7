"""The first page, what finished while the user was away, the inbox for many sessions, and the board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest
from playwright.async_api import WebSocketRoute, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.fake_cli import FakeCli, FakeCliProcess
from tests.e2e.browser.scripts import say, scene, use
from tests.e2e.browser.server_process import ServerProcess

HELLO = scene(None, say("You said: {{prompt}}"))
RECORD = """
window.shown = [];
window.Notification = class {
  static permission = "granted";
  static requestPermission = async () => "granted";
  constructor(title, options) { window.shown.push(`${title} | ${options.body}`); }
  close() {}
};
localStorage.setItem("fairlead.preferences", JSON.stringify({ notify: true }));
"""
"""Records notifications, because a test cannot read those of the system."""


async def home(app: AppPage) -> None:
    await app.page.get_by_role("link", name="Fairlead").click()
    await expect(app.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U52_the_first_page_of_a_new_device_is_drawn_for_its_role(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO]), role=None)
    # The connection is made late: the role must come with the pairing.
    waiting: list[WebSocketRoute] = []

    is_late = True

    def connect(socket: WebSocketRoute) -> None:
        if is_late:
            waiting.append(socket)
        else:
            socket.connect_to_server()

    await app.page.route_web_socket(re.compile("^ws"), connect)
    await app.page.goto(app.server.link("owner"))
    await expect(app.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await expect(app.composer).to_be_focused()
    # The folder comes with the connection: the prompt waits for it, in the field.
    await app.page.keyboard.type("hello")
    await app.page.keyboard.press("Enter")
    await expect(app.page.get_by_text("Will be sent as soon as the server")).to_be_visible()
    await expect(app.composer).to_have_value("hello")
    is_late = False
    for socket in waiting:
        await socket.close()  # The page connects again.
    await app.expect_words("You said: hello")


async def test_U52_a_prompt_on_the_first_page_starts_a_session(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([HELLO])
    (server.project / "lighthouse.py").write_text("lamp = True\n")
    (server.project / ".git").mkdir()
    (server.project / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    app = await visit(server, role=None)
    await app.page.goto(server.link("owner"))
    await expect(app.composer).to_be_focused()
    # Two actions from the open page to the first word: type, Enter.
    await app.page.keyboard.type("hello")
    await app.page.keyboard.press("Enter")
    await app.expect_words("You said: hello")
    place = app.page.get_by_role("main").get_by_title(str(server.project))
    await expect(place.first).to_contain_text("topic")
    await expect(app.listed("hello").first).to_contain_text("topic")
    await home(app)
    await app.page.keyboard.type("look at @ligh")
    offered = app.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="lighthouse.py")).to_be_visible()
    await app.page.keyboard.press("Escape")
    await app.composer.fill("/comp")
    await expect(offered.filter(has_text="/compact")).to_be_visible()
    await app.page.keyboard.press("Escape")
    chips = app.page.get_by_role("group", name="New session")
    await expect(chips).to_contain_text("topic")
    await chips.get_by_role("button", name=re.compile("^Permission mode")).click()
    await app.page.get_by_role("menuitemradio", name=re.compile("^Plan")).click()
    await chips.get_by_role("button", name=re.compile("^Effort")).click()
    await app.page.get_by_role("menuitemradio", name="low").click()
    await app.composer.fill("again")
    await app.composer.press("Enter")
    await app.expect_words("You said: again")
    flags = " ".join(app.server.command_line(app.session)).replace("=", " ")
    assert "--permission-mode plan" in flags
    assert "--effort low" in flags


async def test_U53_the_tour_of_the_demo_is_one_click_away(demo: AppServer, visit: Visit) -> None:
    app = await visit(demo)
    await app.page.get_by_role("button", name="Take the tour").click()
    await app.expect_words(re.compile("Welcome aboard"))


async def test_U81_the_first_word_streams_after_two_actions(tmp_path: Path, visit: Visit) -> None:
    project = tmp_path / "project"
    project.mkdir()
    server_process = ServerProcess(tmp_path, agent=Path("demo"), project=project)
    await server_process.start()
    try:
        app = await visit(cast(AppServer, server_process), role=None)
        await app.page.goto(server_process.link())  # `make run` opens this page by itself.
        await expect(app.composer).to_be_focused()
        await app.page.keyboard.type("What can you do?")  # The first action.
        await app.page.keyboard.press("Enter")  # The second one.
        await expect(app.transcript.get_by_role("article").nth(1)).to_contain_text(
            re.compile(r"\w+")
        )
    finally:
        await server_process.stop()


async def finish(cli: FakeCliProcess, text: str) -> None:
    await cli.say(text)
    await cli.finish(text)


async def test_U54_a_session_that_finished_unseen_is_unread_on_this_device(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server, role=None, fresh=True)
    await app.context.add_init_script(RECORD)
    await app.sign_in()
    await app.start("paint the fence")
    cli = await fake_cli.enter()
    await cli.prompted()
    await home(app)
    await finish(cli, "I looked around. The fence is green now.")
    finished = app.page.get_by_role("region", name="Finished since you looked")
    await expect(finished).to_contain_text("The fence is green now.")
    row = app.listed("paint the fence").first
    await expect(row).to_contain_text("Finished")
    await app.page.wait_for_function("() => window.shown.length > 0", timeout=PATIENCE_MS)
    shown = await app.page.evaluate("window.shown")
    assert shown == ["paint the fence | Finished: The fence is green now."]
    await app.page.reload()  # The mark outlives the page.
    await expect(row).to_contain_text("Finished")
    await app.page.get_by_role("link", name=re.compile("^Inbox")).click()
    section = app.page.get_by_role("region", name="Finished")
    await section.get_by_role("link", name=re.compile("paint the fence")).click()
    await expect(row).not_to_contain_text("Finished")
    await app.say("again")
    await cli.prompted(2)
    await home(app)
    await cli.line(
        type="result", subtype="error_during_execution", is_error=True, duration_ms=5,
        num_turns=1, total_cost_usd=0, usage={}, errors=["boom"], session_id="s",
    )  # fmt: skip
    await expect(app.listed("paint the fence").first).to_contain_text("Failed")
    await finished.get_by_role("button", name="Mark all as read").click()
    await expect(finished).to_have_count(0)


async def test_U88_a_title_is_shown_in_its_own_direction(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated([HELLO]))
    title = "שלום עולם abc"
    await app.start(title)
    await app.expect_words(f"You said: {title}")
    await app.expect_rest()  # Left before its end, it would be listed as finished.
    await home(app)
    recent = app.page.get_by_role("region", name="Recent sessions").get_by_text("שלום")
    side = app.listed("שלום").get_by_text("שלום")
    for shown in (recent.first, side.first):
        await expect(shown).to_be_visible()
        assert await shown.evaluate("node => getComputedStyle(node).direction") == "rtl"


@pytest.mark.matrix(target="browser", cases=0)
async def test_U55_one_answer_serves_the_same_request_of_several_sessions(
    emulated: Emulated, visit: Visit
) -> None:
    work = use("Bash", command="echo done >> made.txt", description="Note it")
    app = await visit(await emulated([scene("make", say("It must be noted."), work), HELLO]))
    for name in ("make one", "make two", "make three"):
        await home(app)
        await app.start(name)
        await expect(app.decision).to_be_visible()
    await app.page.get_by_role("link", name=re.compile("^Inbox")).click()
    rows = app.page.get_by_role("main").locator("ol > li")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("×3")
    await expect(rows.first).to_contain_text("“It must be noted.”")
    await app.decide("Allow once")
    await expect(rows).to_have_count(2)
    await app.page.get_by_role("button", name=re.compile("^Undo")).click()
    await expect(rows).to_have_count(3)
    await app.decide("Allow once")
    await expect(rows).to_have_count(2)
    await app.page.get_by_role("button", name="Allow the other 2 too").click()
    await expect(rows).to_have_count(0)
    inbox = app.page.url
    await app.page.goto("about:blank")  # The server holds the answers, not the page.
    await app.page.goto(inbox)
    finished = app.page.get_by_role("region", name="Finished").get_by_role("link")
    await expect(finished).to_have_count(3)
    assert (app.server.project / "made.txt").read_text().splitlines() == ["done"] * 3


async def test_U56_the_board_shows_what_needs_the_user_what_runs_and_what_is_done(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    clis = []
    for name in ("first thing", "second thing", "third thing"):
        await app.start(name)
        clis.append(await fake_cli.enter())
        await clis[-1].prompted()
        await clis[-1].say(f"I work on the {name}.")
    await clis[0].ask("r1", {"command": "make"})
    await finish(clis[2], "All done here.")
    await app.page.goto(f"{app.server.base}/board")
    for column, title, words in (
        ("Needs you", "first thing", "1 request"),
        ("Running", "second thing", "I work on the second thing."),
        ("Done", "third thing", "All done here."),
    ):
        part = app.page.get_by_role("region", name=re.compile(f"^{column}"))
        card = part.get_by_role("link", name=re.compile(title))
        await expect(card).to_contain_text(words)
    await part.get_by_role("link", name=re.compile("third thing")).click()
    await expect(app.page.get_by_role("heading", name="third thing")).to_be_visible()


async def test_U57_archiving_is_offered_when_it_is_possible_and_can_be_undone(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    await app.start("tidy up")
    cli = await fake_cli.enter()
    await cli.prompted()
    await cli.say("Working.")
    await app.expect_state(re.compile("Thinking|Writing|Running"))
    await app.page.get_by_role("button", name="More", exact=True).click()
    await expect(app.page.get_by_role("menuitem", name="Rename")).to_be_visible()
    await expect(app.page.get_by_role("menuitem", name="Archive")).to_have_count(0)
    await app.page.keyboard.press("Escape")
    await cli.finish()
    await app.expect_rest()
    await app.more("Archive")
    await expect(app.listed("tidy up")).to_have_count(0)
    await app.page.get_by_role("button", name="Undo").click()
    await expect(app.listed("tidy up")).to_have_count(1)


async def test_U58_the_palette_takes_what_is_typed_while_it_loads(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO]))
    await app.page.evaluate(
        """() => {
          const press = (key, more = {}) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
          press("k", { ctrlKey: true });
          for (const key of "sett") press(key);
        }"""
    )
    field = app.page.get_by_role("combobox", name="Find anything")
    await expect(field).to_have_value("sett")
    await app.page.keyboard.press("Enter")
    await expect(app.page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


async def test_U75_the_palette_reaches_pages_and_sessions_and_changes_the_session(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated([HELLO]))
    await app.start("hello")
    await app.expect_rest()

    async def take(words: str, entry: str | re.Pattern[str]) -> None:
        await app.page.keyboard.press("Control+k")
        field = app.page.get_by_role("combobox", name="Find anything")
        await expect(field).to_be_focused()
        await field.fill(words)
        await app.page.get_by_role("dialog").get_by_role("option", name=entry).first.click()
        await expect(field).to_have_count(0)

    await take("rename", "Rename this session")
    name = app.page.get_by_role("textbox", name="Session name")
    await expect(name).to_be_focused()
    await name.fill("A better name")
    await name.press("Enter")
    await expect(app.page.get_by_role("heading", name="A better name")).to_be_visible()
    await take("pin", "Pin this session")
    await expect(app.page.get_by_role("heading", name="Pinned")).to_be_visible()
    await take("mode accept", re.compile("^Permission mode: Accept"))
    await expect(app.page.get_by_role("main")).to_contain_text("Accept edits")
    for words, entry, heading in (
        ("usage", "Usage", "Usage"),
        ("devices", "Devices", "Devices"),
        ("board", "Board", "Board"),
        ("settings", "Settings", "Settings"),
    ):
        await take(words, re.compile(f"^{entry}"))
        await expect(app.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    await take("better", re.compile("A better name"))
    await expect(app.page.get_by_role("heading", name="A better name")).to_be_visible()
