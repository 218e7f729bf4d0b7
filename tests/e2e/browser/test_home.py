"""The first page, what finished while the user was away, the inbox for many sessions, and the board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.puppet import Puppet, Theatre
from tests.e2e.browser.scripts import say, scene, use
from tests.e2e.browser.serving import Serving

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


async def home(desk: Desk) -> None:
    await desk.page.get_by_role("link", name="Fairlead").click()
    await expect(desk.page.get_by_role("heading", name="What should Claude do?")).to_be_visible()


async def test_U52_a_prompt_on_the_first_page_starts_a_session(
    emulated: Emulated, visit: Visit
) -> None:
    house = await emulated([HELLO])
    (house.project / "lighthouse.py").write_text("lamp = True\n")
    (house.project / ".git").mkdir()
    (house.project / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    desk = await visit(house, role=None)
    await desk.page.goto(house.link("owner"))
    await expect(desk.composer).to_be_focused()
    # Two actions from the open page to the first word: type, Enter.
    await desk.page.keyboard.type("hello")
    await desk.page.keyboard.press("Enter")
    await desk.expect_words("You said: hello")
    place = desk.page.get_by_role("main").get_by_title(str(house.project))
    await expect(place.first).to_contain_text("topic")
    await expect(desk.listed("hello").first).to_contain_text("topic")
    await home(desk)
    await desk.page.keyboard.type("look at @ligh")
    offered = desk.page.get_by_role("listbox").get_by_role("option")
    await expect(offered.filter(has_text="lighthouse.py")).to_be_visible()
    await desk.page.keyboard.press("Escape")
    await desk.composer.fill("/comp")
    await expect(offered.filter(has_text="/compact")).to_be_visible()
    await desk.page.keyboard.press("Escape")
    chips = desk.page.get_by_role("group", name="New session")
    await expect(chips).to_contain_text("topic")
    await chips.get_by_role("button", name=re.compile("^Permission mode")).click()
    await desk.page.get_by_role("menuitemradio", name=re.compile("^Plan")).click()
    await chips.get_by_role("button", name=re.compile("^Effort")).click()
    await desk.page.get_by_role("menuitemradio", name="low").click()
    await desk.composer.fill("again")
    await desk.composer.press("Enter")
    await desk.expect_words("You said: again")
    flags = " ".join(desk.house.command_line(desk.session)).replace("=", " ")
    assert "--permission-mode plan" in flags
    assert "--effort low" in flags


async def test_U53_the_tour_of_the_demo_is_one_click_away(demo: House, visit: Visit) -> None:
    desk = await visit(demo)
    await desk.page.get_by_role("button", name="Take the tour").click()
    await desk.expect_words(re.compile("Welcome aboard"))


async def test_U81_the_first_word_streams_after_two_actions(tmp_path: Path, visit: Visit) -> None:
    project = tmp_path / "project"
    project.mkdir()
    serving = Serving(tmp_path, agent=Path("demo"), project=project)
    await serving.start()
    try:
        desk = await visit(cast(House, serving), role=None)
        await desk.page.goto(serving.link())  # `make run` opens this page by itself.
        await expect(desk.composer).to_be_focused()
        await desk.page.keyboard.type("What can you do?")  # The first action.
        await desk.page.keyboard.press("Enter")  # The second one.
        await expect(desk.transcript.get_by_role("article").nth(1)).to_contain_text(
            re.compile(r"\w+")
        )
    finally:
        await serving.stop()


async def finish(puppet: Puppet, text: str) -> None:
    await puppet.say(text)
    await puppet.finish(text)


async def test_U54_what_finished_while_nobody_looked_is_unread_on_this_device(
    theatre: Theatre, playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse, role=None)
    await desk.context.add_init_script(RECORD)
    await desk.sign_in()
    await desk.start("paint the fence")
    puppet = await theatre.enter()
    await puppet.prompted()
    await home(desk)
    await finish(puppet, "I looked around. The fence is green now.")
    finished = desk.page.get_by_role("region", name="Finished since you looked")
    await expect(finished).to_contain_text("The fence is green now.")
    row = desk.listed("paint the fence").first
    await expect(row).to_contain_text("Finished")
    await desk.page.wait_for_function("() => window.shown.length > 0", timeout=PATIENCE_MS)
    shown = await desk.page.evaluate("window.shown")
    assert shown == ["paint the fence | Finished: The fence is green now."]
    await desk.page.reload()  # The mark outlives the page.
    await expect(row).to_contain_text("Finished")
    await desk.page.get_by_role("link", name=re.compile("^Inbox")).click()
    section = desk.page.get_by_role("region", name="Finished")
    await section.get_by_role("link", name=re.compile("paint the fence")).click()
    await expect(row).not_to_contain_text("Finished")
    await desk.say("again")
    await puppet.prompted(2)
    await home(desk)
    await puppet.line(
        type="result", subtype="error_during_execution", is_error=True, duration_ms=5,
        num_turns=1, total_cost_usd=0, usage={}, errors=["boom"], session_id="s",
    )  # fmt: skip
    await expect(desk.listed("paint the fence").first).to_contain_text("Failed")
    await finished.get_by_role("button", name="Mark all as read").click()
    await expect(finished).to_have_count(0)


async def test_U88_a_title_is_shown_in_its_own_direction(emulated: Emulated, visit: Visit) -> None:
    desk = await visit(await emulated([HELLO]))
    title = "שלום עולם abc"
    await desk.start(title)
    await desk.expect_words(f"You said: {title}")
    await desk.expect_rest()  # Left before its end, it would be listed as finished.
    await home(desk)
    recent = desk.page.get_by_role("region", name="Recent sessions").get_by_text("שלום")
    side = desk.listed("שלום").get_by_text("שלום")
    for shown in (recent.first, side.first):
        await expect(shown).to_be_visible()
        assert await shown.evaluate("node => getComputedStyle(node).direction") == "rtl"


async def test_U55_one_answer_serves_the_same_request_of_several_sessions(
    emulated: Emulated, visit: Visit
) -> None:
    work = use("Bash", command="echo done >> made.txt", description="Note it")
    desk = await visit(await emulated([scene("make", say("It must be noted."), work), HELLO]))
    for name in ("make one", "make two", "make three"):
        await home(desk)
        await desk.start(name)
        await expect(desk.decision).to_be_visible()
    await desk.page.get_by_role("link", name=re.compile("^Inbox")).click()
    rows = desk.page.get_by_role("main").locator("ol > li")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("×3")
    await expect(rows.first).to_contain_text("“It must be noted.”")
    await desk.decide("Allow once")
    await expect(rows).to_have_count(2)
    await desk.page.get_by_role("button", name=re.compile("^Undo")).click()
    await expect(rows).to_have_count(3)
    await desk.decide("Allow once")
    await expect(rows).to_have_count(2)
    await desk.page.get_by_role("button", name="Allow the other 2 too").click()
    await expect(rows).to_have_count(0)
    inbox = desk.page.url
    await desk.page.goto("about:blank")  # The server holds the answers, not the page.
    await desk.page.goto(inbox)
    finished = desk.page.get_by_role("region", name="Finished").get_by_role("link")
    await expect(finished).to_have_count(3)
    assert (desk.house.project / "made.txt").read_text().splitlines() == ["done"] * 3


async def test_U56_the_board_shows_what_needs_the_user_what_runs_and_what_is_done(
    theatre: Theatre, playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    puppets = []
    for name in ("first thing", "second thing", "third thing"):
        await desk.start(name)
        puppets.append(await theatre.enter())
        await puppets[-1].prompted()
        await puppets[-1].say(f"I work on the {name}.")
    await puppets[0].ask("r1", {"command": "make"})
    await finish(puppets[2], "All done here.")
    await desk.page.goto(f"{desk.house.base}/board")
    for column, title, words in (
        ("Needs you", "first thing", "1 request"),
        ("Running", "second thing", "I work on the second thing."),
        ("Done", "third thing", "All done here."),
    ):
        part = desk.page.get_by_role("region", name=re.compile(f"^{column}"))
        card = part.get_by_role("link", name=re.compile(title))
        await expect(card).to_contain_text(words)
    await part.get_by_role("link", name=re.compile("third thing")).click()
    await expect(desk.page.get_by_role("heading", name="third thing")).to_be_visible()


async def test_U57_archiving_is_offered_when_it_is_possible_and_can_be_undone(
    theatre: Theatre, playhouse: House, visit: Visit
) -> None:
    desk = await visit(playhouse)
    await desk.start("tidy up")
    puppet = await theatre.enter()
    await puppet.prompted()
    await puppet.say("Working.")
    await desk.expect_state(re.compile("Thinking|Writing|Running"))
    await desk.page.get_by_role("button", name="More", exact=True).click()
    await expect(desk.page.get_by_role("menuitem", name="Rename")).to_be_visible()
    await expect(desk.page.get_by_role("menuitem", name="Archive")).to_have_count(0)
    await desk.page.keyboard.press("Escape")
    await puppet.finish()
    await desk.expect_rest()
    await desk.more("Archive")
    await expect(desk.listed("tidy up")).to_have_count(0)
    await desk.page.get_by_role("button", name="Undo").click()
    await expect(desk.listed("tidy up")).to_have_count(1)


async def test_U58_the_palette_takes_what_is_typed_while_it_loads(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated([HELLO]))
    await desk.page.evaluate(
        """() => {
          const press = (key, more = {}) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
          press("k", { ctrlKey: true });
          for (const key of "sett") press(key);
        }"""
    )
    field = desk.page.get_by_role("combobox", name="Find anything")
    await expect(field).to_have_value("sett")
    await desk.page.keyboard.press("Enter")
    await expect(desk.page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


async def test_U75_the_palette_reaches_pages_and_sessions_and_changes_the_session(
    emulated: Emulated, visit: Visit
) -> None:
    desk = await visit(await emulated([HELLO]))
    await desk.start("hello")
    await desk.expect_rest()

    async def take(words: str, entry: str | re.Pattern[str]) -> None:
        await desk.page.keyboard.press("Control+k")
        field = desk.page.get_by_role("combobox", name="Find anything")
        await expect(field).to_be_focused()
        await field.fill(words)
        await desk.page.get_by_role("dialog").get_by_role("option", name=entry).first.click()
        await expect(field).to_have_count(0)

    await take("rename", "Rename this session")
    name = desk.page.get_by_role("textbox", name="Session name")
    await expect(name).to_be_focused()
    await name.fill("A better name")
    await name.press("Enter")
    await expect(desk.page.get_by_role("heading", name="A better name")).to_be_visible()
    await take("pin", "Pin this session")
    await expect(desk.page.get_by_role("heading", name="Pinned")).to_be_visible()
    await take("mode accept", re.compile("^Permission mode: Accept"))
    await expect(desk.page.get_by_role("main")).to_contain_text("Accept edits")
    for words, entry, heading in (
        ("usage", "Usage", "Usage"),
        ("devices", "Devices", "Devices"),
        ("board", "Board", "Board"),
        ("settings", "Settings", "Settings"),
    ):
        await take(words, re.compile(f"^{entry}"))
        await expect(desk.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    await take("better", re.compile("A better name"))
    await expect(desk.page.get_by_role("heading", name="A better name")).to_be_visible()
