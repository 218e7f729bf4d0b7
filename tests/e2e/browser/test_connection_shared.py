"""Reloads and several browsers: one state everywhere, one answer to each request, no word lost."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import BeginTurn, Visit

ROUNDS = 4
RUNNING_CLOCK = re.compile(r"^\d+:\d\d$", re.MULTILINE)


def allow(app: AppPage) -> Locator:
    return app.decision.get_by_role("button", name="Allow once", exact=True)


async def follow(server: AppServer, visit: Visit, app: AppPage) -> AppPage:
    """Another browser with the same session."""
    other = await visit(server)
    await other.page.goto(app.page.url)
    await expect(other.composer).to_be_visible(timeout=PATIENCE_MS)
    return other


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_reload_in_the_middle_of_an_answer_shows_all_of_it_once(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.begin_words()
    said: list[str] = []
    for number in range(4):
        said += [f"w{number}x{one}" for one in range(20)]
        await cli.words(" ".join(said[-20:]) + " ")
        await app.page.reload()
        await cli.words(f"more{number} ")
        said.append(f"more{number}")
        await app.expect_words(re.compile(rf"\bmore{number}\b"))
        assert re.findall(r"\b(?:w\d+x|more)\d+\b", await app.transcript.inner_text()) == said
    await cli.end_words(" ".join(said))
    await cli.finish()
    await app.expect_rest()
    assert re.findall(r"\b(?:w\d+x|more)\d+\b", await app.transcript.inner_text()) == said


async def test_a_reload_brings_a_waiting_request_back_and_it_is_answered_once(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "ls"})
    await expect(allow(app)).to_be_enabled(timeout=PATIENCE_MS)
    await app.page.reload()
    await expect(app.decision.get_by_label("Command")).to_have_text("ls", timeout=PATIENCE_MS)
    await app.decide("Allow once")
    await app.page.reload()
    assert (await cli.answer("a"))["behavior"] == "allow"
    await cli.say("thanks")
    await app.expect_words("thanks")
    await expect(app.decision).to_have_count(0)
    assert [request for request, _ in cli.answers] == ["a"]


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_later_answer_learns_who_answered(
    fake_cli_server: AppServer, visit: Visit, begin_turn: BeginTurn
) -> None:
    app, cli = await begin_turn()
    other = await follow(fake_cli_server, visit, app)
    await cli.ask("a", {"command": "ls"})
    await expect(allow(other)).to_be_enabled(timeout=PATIENCE_MS)
    await app.decide("Allow once")
    await cli.answer("a")
    told = other.page.get_by_text(re.compile(r"answered by \w+"))
    await expect(told).to_be_visible(timeout=PATIENCE_MS)
    await expect(other.decision).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
async def test_of_two_answers_at_once_the_first_counts_and_the_other_hears_of_it(
    fake_cli_server: AppServer, visit: Visit, begin_turn: BeginTurn
) -> None:
    app, cli = await begin_turn()
    other = await follow(fake_cli_server, visit, app)
    heard = re.compile(r"[Aa]nswered by \w+")
    for number in range(ROUNDS):
        await cli.ask(f"a{number}", {"command": f"echo {number}"})
        for one in (app, other):
            await expect(one.decision).to_contain_text(f"echo {number}", timeout=PATIENCE_MS)
            await expect(allow(one)).to_be_enabled(timeout=PATIENCE_MS)
        deny = await other.decision.get_by_role("button", name="Deny", exact=True).bounding_box()
        assert deny is not None
        hit = other.page.mouse.click(deny["x"] + 12, deny["y"] + 12)  # The button may be gone.
        await asyncio.gather(app.page.keyboard.press("a"), hit)
        for one in (app, other):
            await expect(one.decision).to_have_count(0, timeout=PATIENCE_MS)
        # A held denial is sent now; it may have been sent by itself meanwhile.
        held = other.held.get_by_role("button", name="Deny now")
        await held.evaluate_all("buttons => buttons.forEach((button) => button.click())")
        allowed = (await cli.answer(f"a{number}"))["behavior"] == "allow"
        later, first = (other, app) if allowed else (app, other)
        await expect(later.page.get_by_text(heard).last).to_be_visible(timeout=PATIENCE_MS)
        assert await first.page.get_by_text(heard).count() == 0
        for one in (app, other):
            await expect(one.decision).to_have_count(0, timeout=PATIENCE_MS)
            await one.page.reload()  # So that no old notice is taken for a new one.
    assert [request for request, _ in cli.answers] == [f"a{n}" for n in range(ROUNDS)]
    for one in (app, other):
        await one.expect_words(f"echo {ROUNDS - 1}")
    texts = [await one.transcript.inner_text() for one in (app, other)]
    assert texts[0]
    assert RUNNING_CLOCK.sub("", texts[0]) == RUNNING_CLOCK.sub("", texts[1])


@pytest.mark.matrix(target="browser", cases=0)
async def test_what_was_typed_survives_a_reload_and_can_be_taken_over_on_another_device(
    fake_cli_server: AppServer, visit: Visit, begin_turn: BeginTurn
) -> None:
    app, cli = await begin_turn()
    await cli.finish()
    await app.expect_rest()
    words = "half a thought\nand a second line"
    await app.composer.fill(words)
    await app.page.reload()
    await expect(app.composer).to_have_value(words, timeout=PATIENCE_MS)
    other = await follow(fake_cli_server, visit, app)
    await other.page.get_by_role("button", name=re.compile("^Draft from")).click()
    await expect(other.composer).to_have_value("")
    await other.page.get_by_role("button", name="Insert into message").click()
    await expect(other.composer).to_have_value(words, timeout=PATIENCE_MS)
    assert len(cli.prompts) == 1
