"""The server dies with a page open, and comes back: nothing shown is lost, nothing comes twice."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.puppet import Puppet, Theatre
from tests.e2e.browser.serving import Serving

WORDS = [f"w{number}" for number in range(200)]
TIMES = re.compile(r"\b(\d+ (s|min|h)( ago)?|just now)\b")


def keep_file(serving: Serving, puppet: Puppet) -> None:
    """The CLI's own file of a session, without which no server tries to resume it."""
    project = serving.project
    folder = serving.home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    folder.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": "go"}
    record = {"type": "user", "cwd": str(project), "sessionId": puppet.session, "message": message}
    record |= {"uuid": "00000000-0000-4000-8000-000000000001", "timestamp": "2026-01-01T00:00:00Z"}
    (folder / f"{puppet.session}.jsonl").write_text(json.dumps(record) + "\n")


async def conversation(desk: Desk) -> str:
    return TIMES.sub("", await desk.transcript.inner_text())


async def exported(desk: Desk) -> str:
    """The session as the server has it."""
    return str(
        await desk.page.evaluate(
            """async (token) => {
              const authorization = `Bearer ${token}`;
              const session = location.pathname.split("/").at(-1);
              const answer = await fetch(`/api/sessions/${session}/export?form=markdown`, { headers: { authorization } });
              return answer.text();
            }""",
            desk.access,
        )
    )


@pytest_asyncio.fixture(loop_scope="session")
async def serving(tmp_path: Path, theatre: Theatre) -> AsyncIterator[Serving]:
    project = tmp_path / "project"
    project.mkdir()
    serving = Serving(tmp_path, agent=theatre.agent, project=project)
    await serving.start()
    yield serving
    await serving.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(serving: Serving, chromium: Browser) -> AsyncIterator[Desk]:
    # High enough for the whole conversation, of which only what is near is drawn.
    context = await chromium.new_context(viewport={"width": 1280, "height": 1800}, locale="en-GB")
    desk = Desk(cast(House, serving), context, await context.new_page())
    yield await desk.sign_in()
    await desk.close()


async def die_and_come_back(serving: Serving, desk: Desk, written: str) -> None:
    """Kill the server, write a message, start the server, and wait for the connection."""
    await serving.kill()
    gone = desk.page.get_by_role("status").filter(has_text="Offline. Retrying")
    await expect(gone).to_be_visible(timeout=PATIENCE_MS)
    await desk.say(written)
    await serving.start()
    await expect(gone.or_(desk.page.get_by_text("process ended")).first).to_be_visible()
    await desk.retry_connection()
    await expect(gone).to_have_count(0, timeout=PATIENCE_MS)


async def test_a_page_lives_through_the_death_of_its_server(
    serving: Serving, desk: Desk, theatre: Theatre
) -> None:
    await desk.start("go")
    puppet = await theatre.enter()
    await puppet.prompted()
    keep_file(serving, puppet)
    await puppet.say(" ".join(WORDS))
    await puppet.begin_words()
    await puppet.words("a draft that is never finished")
    await desk.expect_words("a draft that is never finished")
    await puppet.ask("a", {"command": "ls"})
    await expect(desk.decision).to_be_visible(timeout=PATIENCE_MS)

    await die_and_come_back(serving, desk, "written while it was down")

    resumed = await theatre.enter()
    assert await resumed.prompted() == "written while it was down"
    assert resumed.session == puppet.session
    await expect(desk.decision).to_have_count(0, timeout=PATIENCE_MS)
    await resumed.say("and on it goes")
    await resumed.finish()
    await desk.expect_words("and on it goes")
    await desk.expect_rest()
    assert (puppet.prompts, resumed.prompts) == (["go"], ["written while it was down"])
    assert puppet.answers == resumed.answers == []

    shown = await conversation(desk)
    assert re.findall(r"\bw\d+\b", shown) == WORDS
    assert shown.count("written while it was down") == 1
    assert shown.count("a draft that is never finished") == 1  # What was read stays (T138).
    assert "Response interrupted." in shown
    await desk.page.reload()
    await desk.expect_words("and on it goes")
    assert await conversation(desk) == shown
    kept = await exported(desk)
    assert re.findall(r"\bw\d+\b", kept) == WORDS
    assert kept.count("written while it was down") == 1


async def test_B57_a_turn_that_a_server_stop_cut_off_says_so_and_can_go_on(
    serving: Serving, desk: Desk, theatre: Theatre
) -> None:
    await desk.start("cut me off")
    puppet = await theatre.enter()
    await puppet.prompted()
    keep_file(serving, puppet)
    await puppet.say("Working on it.")
    await desk.expect_words("Working on it.")
    await serving.stop()
    await serving.start()
    await desk.page.reload()
    await desk.expect_words(re.compile("Interrupted by a server restart"))
    assert await desk.transcript.get_by_text("by you").count() == 0
    await expect(desk.composer).to_be_enabled()


async def test_U85_a_session_that_cannot_be_resumed_offers_no_resume(
    serving: Serving, desk: Desk, theatre: Theatre
) -> None:
    await desk.start("go")
    puppet = await theatre.enter()  # It writes no session file, so it cannot be resumed.
    await puppet.prompted()
    await puppet.say("I looked around. The fence is green now.")
    await puppet.finish()
    await desk.expect_rest()
    await serving.stop()
    await serving.start()
    await desk.page.reload()
    await desk.expect_words("The fence is green now.")
    # The server allows the CLI 20 seconds to write the file.
    await expect(desk.composer).to_be_disabled(timeout=60_000)
    await expect(desk.composer).to_have_attribute("placeholder", re.compile("can't be resumed"))
    await desk.page.get_by_role("button", name="More", exact=True).click()
    await expect(desk.page.get_by_role("menuitem", name="Rename")).to_be_visible()
    await expect(desk.page.get_by_role("menuitem", name="Resume")).to_have_count(0)
    await desk.page.keyboard.press("Escape")
    await expect(desk.page.get_by_role("button", name="Resume")).to_have_count(0)
    # What the session did is still on the board, although nobody has loaded it.
    await desk.page.goto(f"{serving.base}/board")
    done = desk.page.get_by_role("region", name=re.compile("^Done"))
    await expect(done.get_by_role("link", name=re.compile("^go"))).to_contain_text(
        "The fence is green now."
    )
