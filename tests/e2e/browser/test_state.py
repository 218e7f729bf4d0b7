"""The state of a session: the same text in the header, the list, the panel and the composer."""

from __future__ import annotations

import re
import time

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.background_state import expect_background
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit
from tests.e2e.browser.fake_cli import FakeCli
from tests.e2e.browser.scripts import WAIT_FOR_GO, say, scene, use

HELLO = scene(None, say("You said: {{prompt}}"))


async def test_U50_background_work_is_the_users_turn_everywhere_and_its_end_is_shown(
    emulated: Emulated, visit: Visit
) -> None:
    work = use("Bash", command=WAIT_FOR_GO, description="Wait for it", run_in_background=True)
    app = await visit(await emulated([scene("go", work, say("It goes on.")), HELLO]))
    await app.start("go")
    await app.decide("Allow once")
    await app.expect_words("It goes on.")
    await expect_background(app, "go", 1)
    card = app.card(re.compile("^Bash"))
    await expect(card).to_contain_text("in background")
    (app.server.project / "go").touch()
    await expect(card).to_contain_text("exit code 0")
    await expect(card).not_to_contain_text("in background")
    await expect_background(app, "go", 0)
    await card.get_by_role("button", name=re.compile("^Bash")).first.click()
    await card.get_by_role("button", name="Show output").click()
    await expect(card).to_contain_text("went")
    ends = app.transcript.get_by_text("after background task “Wait for it”")
    await expect(ends.first).to_be_visible()
    await card.get_by_role("button", name="Go to the turn it started").click()
    await expect(app.page).to_have_url(re.compile(r"\?item="))


async def test_U51_restart_needs_a_second_click_soon_and_in_the_same_turn(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    await app.start("go")
    status = app.page.get_by_role("region", name="Status")
    cli = await fake_cli.enter()
    await cli.prompted()
    await cli.say("Working on it.")
    await app.expect_words("Working on it.")
    await status.get_by_role("button", name="Restart", exact=True).click()
    armed = status.get_by_role("button", name="Restart and discard this turn")
    await expect(armed).to_be_visible()
    await cli.finish()
    await app.expect_rest()
    await expect(armed).to_have_count(0)
    await app.say("again")
    await cli.prompted(2)
    await cli.say("Again.")
    await app.expect_words("Again.")
    await status.get_by_role("button", name="Restart", exact=True).click()
    await expect(armed).to_be_visible()
    await expect(armed).to_have_count(0)  # It disarms itself after some seconds.
    await cli.finish()


async def test_U69_the_line_below_a_turn_does_not_count_the_time_it_waited_for_the_user(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    await cli.ask("r1", {"command": "ls"})
    await expect(app.decision).to_be_visible()
    clock = app.page.get_by_role("main").get_by_text(re.compile(r"^0:0[2-9]$"))
    await expect(clock.first).to_be_visible()  # The header counts how long it waits for the user.
    await app.decision.get_by_role("button", name=re.compile("^Allow")).first.click()
    await cli.answer("r1")
    await cli.line(
        type="result", subtype="success", is_error=False, result="done",
        total_cost_usd=0.01, num_turns=1, duration_ms=9_000,
    )  # fmt: skip
    await app.expect_rest()
    end = app.transcript.get_by_text("$0.01")
    seconds = re.search(r"(\d+\.\d) s", await end.first.inner_text())
    title = await end.first.get_attribute("title") or ""
    waited = re.search(r"waited (\d+\.\d) s for you", title)
    assert seconds is not None
    assert waited is not None, title
    assert float(waited[1]) > 1
    assert abs(float(seconds[1]) + float(waited[1]) - 9.0) < 0.15  # Both are rounded.


async def test_U70_the_changes_of_a_file_say_when_they_were_made(
    emulated: Emulated, visit: Visit
) -> None:
    write = use("Write", file_path="{{cwd}}/notes.md", content="a\n")
    app = await visit(await emulated([scene("go", write, say("Written.")), HELLO]))
    await app.start("go", Mode="acceptEdits")
    await app.expect_words("Written.")
    files = app.page.get_by_role("region", name="Changed files")
    await files.get_by_role("button", name=re.compile("notes.md")).click()
    dialog = app.page.get_by_role("dialog", name=re.compile("notes.md"))
    await expect(dialog).to_contain_text(re.compile(r"just now|\d+ (s|min) ago"))
    await expect(dialog).not_to_contain_text("now ago")
    first = app.page.get_by_role("complementary", name="Details").get_by_role("region").first
    await expect(first).to_have_accessible_name("Changed files")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_session_that_starts_says_only_that(
    fake_cli: FakeCli, fake_cli_server: AppServer, visit: Visit
) -> None:
    fake_cli.withheld.add("initialize")
    app = await visit(fake_cli_server)
    await app.start("go")
    cli = await fake_cli.enter()
    status = app.page.get_by_role("region", name="Status")
    await expect(status).to_contain_text("Starting…")
    await expect(status).not_to_contain_text("Idle")
    await app.expect_state("Starting")
    await cli.release()
    await cli.prompted()
    await expect(status).to_contain_text("Working.")


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_usage_limit_says_which_one_how_much_of_it_and_until_when(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    resets = int(time.time()) + 3_600
    limit = {"rateLimitType": "five_hour", "utilization": 0.91, "resetsAt": resets}
    await cli.line(type="rate_limit_event", rate_limit_info={**limit, "status": "allowed_warning"})
    await app.expect_words(re.compile(r"^5-hour limit: 91% used, resets .*\d"))
    weekly = {"rateLimitType": "seven_day", "status": "rejected", "resetsAt": resets}
    await cli.line(type="rate_limit_event", rate_limit_info=weekly)
    await app.expect_words(re.compile(r"^Weekly limit reached, resets .*\d"))
