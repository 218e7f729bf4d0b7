"""The socket is lost at the worst moments; nothing is lost with it and nothing comes twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.browser.cable import Cable, open_cable
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.puppet import Puppet, Theatre


@pytest_asyncio.fixture(loop_scope="session")
async def cable(playhouse: House) -> AsyncIterator[Cable]:
    async with open_cable(playhouse) as cable:
        yield cable


async def begin(cable: Cable, visit: Visit, theatre: Theatre) -> tuple[Desk, Puppet]:
    desk = await visit(cable.house)
    await desk.start("go")
    puppet = await theatre.enter()
    await puppet.prompted()
    return desk, puppet


def lost(desk: Desk) -> Locator:
    """What says that there is no connection."""
    return desk.page.get_by_role("status").filter(has_text="Offline. Retrying")


async def reconnect(cable: Cable, desk: Desk) -> None:
    cable.mend()
    await desk.retry_connection()
    await expect(lost(desk)).to_have_count(0, timeout=PATIENCE_MS)


def words(start: int, end: int) -> list[str]:
    return [f"w{number}" for number in range(start, end)]


async def shown_words(desk: Desk) -> list[str]:
    return re.findall(r"\bw\d+\b", await desk.transcript.inner_text())


async def test_an_answer_goes_on_over_a_lost_socket(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.begin_words()
    for start in range(0, 40, 10):
        await puppet.words(" ".join(words(start, start + 5)) + " ")
        await desk.expect_words(re.compile(rf"\bw{start + 4}\b"))
        cable.cut()
        await puppet.words(" ".join(words(start + 5, start + 10)) + " ")  # Nobody hears this.
        await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
        assert await shown_words(desk) == words(0, start + 5)
        await reconnect(cable, desk)
        await desk.expect_words(re.compile(rf"\bw{start + 9}\b"))
        assert await shown_words(desk) == words(0, start + 10)
    await puppet.end_words(" ".join(words(0, 40)) + " ")
    await puppet.finish()
    await desk.expect_rest()
    assert await shown_words(desk) == words(0, 40)
    assert cable.connections >= 5


async def test_short_drops_in_a_stream_lose_and_double_no_word(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.begin_words()
    for number in range(600):
        await puppet.words(f"w{number} ")
        if number % 60 == 30:
            cable.drop()
            await desk.page.evaluate("new Promise(requestAnimationFrame)")
    await puppet.end_words(" ".join(words(0, 600)) + " ")
    await puppet.finish()
    await desk.expect_words(re.compile(r"\bw599\b"))
    await desk.expect_rest()
    assert await shown_words(desk) == words(0, 600)
    await desk.page.reload()
    await desk.expect_words(re.compile(r"\bw599\b"))
    assert await shown_words(desk) == words(0, 600)


async def test_an_answer_given_without_a_connection_arrives_once(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.ask("a", {"command": "ls"})
    allow = desk.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    cable.cut()
    await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
    await desk.decide("Allow once")
    await expect(lost(desk)).to_contain_text("1 message will be sent")
    assert puppet.answers == []
    await reconnect(cable, desk)
    assert (await puppet.answer("a"))["behavior"] == "allow"
    await expect(desk.decision).to_have_count(0, timeout=PATIENCE_MS)
    await puppet.say("thanks")
    await desk.expect_words("thanks")
    assert [request for request, _ in puppet.answers] == ["a"]


async def test_an_answer_whose_receipt_was_lost_counts_once(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.ask("a", {"command": "ls"})
    allow = desk.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    cable.deafen()
    await desk.decide("Allow once")
    await puppet.answer("a")  # The server acted, and the page does not know.
    await expect(desk.decision).to_contain_text("Sending…")
    cable.cut()
    await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
    await reconnect(cable, desk)
    await expect(desk.decision).to_have_count(0, timeout=PATIENCE_MS)
    await puppet.say("thanks")
    await desk.expect_words("thanks")
    assert [request for request, _ in puppet.answers] == ["a"]
    assert await desk.page.get_by_role("alert").count() == 0


async def test_a_request_withdrawn_meanwhile_is_gone_and_its_answer_refused(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.ask("a", {"command": "ls"})
    allow = desk.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    cable.cut()
    await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
    await desk.decide("Allow once")
    await puppet.withdraw("a")
    await puppet.ask("b", {"command": "rm -rf ."})
    await reconnect(cable, desk)
    await expect(desk.decision.get_by_label("Command")).to_have_text("rm -rf .")
    await expect(
        desk.page.get_by_text(re.compile("This request is no longer open")).first
    ).to_be_visible()
    await puppet.say("still here")
    await desk.expect_words("still here")
    assert puppet.answers == []


async def test_a_message_written_without_a_connection_is_sent_once(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.say("hello")
    await puppet.finish()
    await desk.expect_rest()
    cable.cut()
    await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
    await desk.say("written in the dark")
    await desk.expect_words("written in the dark")
    await expect(desk.composer).to_have_value("")
    assert len(puppet.prompts) == 1
    await reconnect(cable, desk)
    assert await puppet.prompted(2) == "written in the dark"
    await puppet.finish()
    await desk.expect_rest()
    await desk.say("the end")
    await puppet.prompted(3)
    assert puppet.prompts == ["go", "written in the dark", "the end"]
    await expect(desk.transcript.get_by_text("written in the dark")).to_have_count(1)


async def test_a_message_survives_a_reload_before_it_could_be_sent(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    await puppet.finish()
    await desk.expect_rest()
    cable.cut()
    await expect(lost(desk)).to_be_visible(timeout=PATIENCE_MS)
    await desk.say("kept for later")
    cable.mend()
    await desk.page.reload()
    assert await puppet.prompted(2) == "kept for later"
    await puppet.say("got it")
    await desk.expect_words("got it")
    assert puppet.prompts == ["go", "kept for later"]
    await expect(desk.transcript.get_by_text("kept for later")).to_have_count(1)


async def test_messages_sent_into_a_failing_cable_arrive_once_and_in_order(
    cable: Cable, visit: Visit, theatre: Theatre
) -> None:
    desk, puppet = await begin(cable, visit, theatre)
    for number in range(8):
        await puppet.finish()
        await desk.expect_rest()
        if number % 2:
            cable.deafen()  # It is sent, and no receipt comes.
        await desk.composer.fill(f"message {number}")
        sent = asyncio.create_task(desk.composer.press("Enter"))
        await asyncio.sleep(0.004 * number)  # Each time a little later on its way.
        cable.drop()
        await sent
        cable.mend()
        cable.drop()
        await puppet.prompted(number + 2)
    assert puppet.prompts == ["go", *(f"message {number}" for number in range(8))]
    for number in range(8):
        await expect(desk.transcript.get_by_text(f"message {number}")).to_have_count(1)
