"""The socket is lost at the worst moments; nothing is lost with it and nothing comes twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.cuttable_proxy import CuttableProxy, open_cuttable_proxy
from tests.e2e.browser.fake_cli import FakeCli, FakeCliProcess


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(fake_cli_server: AppServer) -> AsyncIterator[CuttableProxy]:
    async with open_cuttable_proxy(fake_cli_server) as proxy:
        yield proxy


async def begin(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> tuple[AppPage, FakeCliProcess]:
    app = await visit(proxy.server)
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    return app, cli


def lost(app: AppPage) -> Locator:
    """What says that there is no connection."""
    return app.page.get_by_role("status").filter(has_text="Offline. Retrying")


async def reconnect(proxy: CuttableProxy, app: AppPage) -> None:
    proxy.restore()
    await app.retry_connection()
    await expect(lost(app)).to_have_count(0, timeout=PATIENCE_MS)


def words(start: int, end: int) -> list[str]:
    return [f"w{number}" for number in range(start, end)]


async def shown_words(app: AppPage) -> list[str]:
    return re.findall(r"\bw\d+\b", await app.transcript.inner_text())


async def test_an_answer_goes_on_over_a_lost_socket(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.begin_words()
    for start in range(0, 40, 10):
        await cli.words(" ".join(words(start, start + 5)) + " ")
        await app.expect_words(re.compile(rf"\bw{start + 4}\b"))
        proxy.cut()
        await cli.words(" ".join(words(start + 5, start + 10)) + " ")  # Nobody hears this.
        await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
        assert await shown_words(app) == words(0, start + 5)
        await reconnect(proxy, app)
        await app.expect_words(re.compile(rf"\bw{start + 9}\b"))
        assert await shown_words(app) == words(0, start + 10)
    await cli.end_words(" ".join(words(0, 40)) + " ")
    await cli.finish()
    await app.expect_rest()
    assert await shown_words(app) == words(0, 40)
    assert proxy.connections >= 5


@pytest.mark.matrix(target="browser", cases=0)
async def test_short_drops_in_a_stream_lose_and_double_no_word(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.begin_words()
    for number in range(600):
        await cli.words(f"w{number} ")
        if number % 60 == 30:
            proxy.drop()
            await app.page.evaluate("new Promise(requestAnimationFrame)")
    await cli.end_words(" ".join(words(0, 600)) + " ")
    await cli.finish()
    await app.expect_words(re.compile(r"\bw599\b"))
    await app.expect_rest()
    assert await shown_words(app) == words(0, 600)
    await app.page.reload()
    await app.expect_words(re.compile(r"\bw599\b"))
    assert await shown_words(app) == words(0, 600)


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_answer_given_without_a_connection_arrives_once(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.ask("a", {"command": "ls"})
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    proxy.cut()
    await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
    await app.decide("Allow once")
    await expect(lost(app)).to_contain_text("1 message will be sent")
    assert cli.answers == []
    await reconnect(proxy, app)
    assert (await cli.answer("a"))["behavior"] == "allow"
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
    await cli.say("thanks")
    await app.expect_words("thanks")
    assert [request for request, _ in cli.answers] == ["a"]


@pytest.mark.matrix(target="browser", cases=0)
async def test_an_answer_whose_receipt_was_lost_counts_once(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.ask("a", {"command": "ls"})
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    proxy.deafen()
    await app.decide("Allow once")
    await cli.answer("a")  # The server acted, and the page does not know.
    await expect(app.decision).to_contain_text("Sending…")
    proxy.cut()
    await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
    await reconnect(proxy, app)
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
    await cli.say("thanks")
    await app.expect_words("thanks")
    assert [request for request, _ in cli.answers] == ["a"]
    assert await app.page.get_by_role("alert").count() == 0


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_request_withdrawn_meanwhile_is_gone_and_its_answer_refused(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.ask("a", {"command": "ls"})
    allow = app.decision.get_by_role("button", name="Allow once", exact=True)
    await expect(allow).to_be_enabled(timeout=PATIENCE_MS)
    proxy.cut()
    await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
    await app.decide("Allow once")
    await cli.withdraw("a")
    await cli.ask("b", {"command": "rm -rf ."})
    await reconnect(proxy, app)
    await expect(app.decision.get_by_label("Command")).to_have_text("rm -rf .")
    await expect(
        app.page.get_by_text(re.compile("This request is no longer open")).first
    ).to_be_visible()
    await cli.say("still here")
    await app.expect_words("still here")
    assert cli.answers == []


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_message_written_without_a_connection_is_sent_once(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.say("hello")
    await cli.finish()
    await app.expect_rest()
    proxy.cut()
    await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
    await app.say("written in the dark")
    await app.expect_words("written in the dark")
    await expect(app.composer).to_have_value("")
    assert len(cli.prompts) == 1
    await reconnect(proxy, app)
    assert await cli.prompted(2) == "written in the dark"
    await cli.finish()
    await app.expect_rest()
    await app.say("the end")
    await cli.prompted(3)
    assert cli.prompts == ["go", "written in the dark", "the end"]
    await expect(app.transcript.get_by_text("written in the dark")).to_have_count(1)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_message_survives_a_reload_before_it_could_be_sent(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    await cli.finish()
    await app.expect_rest()
    proxy.cut()
    await expect(lost(app)).to_be_visible(timeout=PATIENCE_MS)
    await app.say("kept for later")
    proxy.restore()
    await app.page.reload()
    assert await cli.prompted(2) == "kept for later"
    await cli.say("got it")
    await app.expect_words("got it")
    assert cli.prompts == ["go", "kept for later"]
    await expect(app.transcript.get_by_text("kept for later")).to_have_count(1)


@pytest.mark.matrix(target="browser", cases=0)
async def test_messages_sent_into_a_failing_cable_arrive_once_and_in_order(
    proxy: CuttableProxy, visit: Visit, fake_cli: FakeCli
) -> None:
    app, cli = await begin(proxy, visit, fake_cli)
    for number in range(8):
        await cli.finish()
        await app.expect_rest()
        if number % 2:
            proxy.deafen()  # It is sent, and no receipt comes.
        await app.composer.fill(f"message {number}")
        sent = asyncio.create_task(app.composer.press("Enter"))
        await asyncio.sleep(0.004 * number)  # Each time a little later on its way.
        proxy.drop()
        await sent
        proxy.restore()
        proxy.drop()
        await cli.prompted(number + 2)
    assert cli.prompts == ["go", *(f"message {number}" for number in range(8))]
    for number in range(8):
        await expect(app.transcript.get_by_text(f"message {number}")).to_have_count(1)
