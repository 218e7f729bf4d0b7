"""The server dies with a page open, and comes back: nothing shown is lost, nothing comes twice."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.fake_cli import FakeCli, FakeCliProcess
from tests.e2e.browser.server_process import ServerProcess

WORDS = [f"w{number}" for number in range(200)]
TIMES = re.compile(r"\b(\d+ (s|min|h)( ago)?|just now)\b")


def keep_file(server_process: ServerProcess, cli: FakeCliProcess) -> None:
    """The CLI's own file of a session, without which no server tries to resume it."""
    project = server_process.project
    folder = (
        server_process.home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    )
    folder.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": "go"}
    record = {"type": "user", "cwd": str(project), "sessionId": cli.session, "message": message}
    record |= {"uuid": "00000000-0000-4000-8000-000000000001", "timestamp": "2026-01-01T00:00:00Z"}
    (folder / f"{cli.session}.jsonl").write_text(json.dumps(record) + "\n")


async def conversation(app: AppPage) -> str:
    return TIMES.sub("", await app.transcript.inner_text())


async def exported(app: AppPage) -> str:
    """The session as the server has it."""
    return str(
        await app.page.evaluate(
            """async (token) => {
              const authorization = `Bearer ${token}`;
              const session = location.pathname.split("/").at(-1);
              const answer = await fetch(`/api/sessions/${session}/export?form=markdown`, { headers: { authorization } });
              return answer.text();
            }""",
            app.access,
        )
    )


@pytest_asyncio.fixture(loop_scope="session")
async def server_process(tmp_path: Path, fake_cli: FakeCli) -> AsyncIterator[ServerProcess]:
    project = tmp_path / "project"
    project.mkdir()
    server_process = ServerProcess(tmp_path, agent=fake_cli.agent, project=project)
    await server_process.start()
    yield server_process
    await server_process.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def app(server_process: ServerProcess, chromium: Browser) -> AsyncIterator[AppPage]:
    # High enough for the whole conversation, of which only what is near is drawn.
    context = await chromium.new_context(viewport={"width": 1280, "height": 1800}, locale="en-GB")
    app = AppPage(cast(AppServer, server_process), context, await context.new_page())
    yield await app.sign_in()
    await app.close()


async def die_and_come_back(server_process: ServerProcess, app: AppPage, written: str) -> None:
    """Kill the server, write a message, start the server, and wait for the connection."""
    await server_process.kill()
    gone = app.page.get_by_role("status").filter(has_text="Offline. Retrying")
    await expect(gone).to_be_visible(timeout=PATIENCE_MS)
    await app.say(written)
    await server_process.start()
    await expect(gone.or_(app.page.get_by_text("process ended")).first).to_be_visible()
    await app.retry_connection()
    await expect(gone).to_have_count(0, timeout=PATIENCE_MS)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_page_lives_through_the_death_of_its_server(
    server_process: ServerProcess, app: AppPage, fake_cli: FakeCli
) -> None:
    await app.start("go")
    cli = await fake_cli.enter()
    await cli.prompted()
    keep_file(server_process, cli)
    await cli.say(" ".join(WORDS))
    await cli.begin_words()
    await cli.words("a draft that is never finished")
    await app.expect_words("a draft that is never finished")
    await cli.ask("a", {"command": "ls"})
    await expect(app.decision).to_be_visible(timeout=PATIENCE_MS)

    await die_and_come_back(server_process, app, "written while it was down")

    resumed = await fake_cli.enter()
    assert await resumed.prompted() == "written while it was down"
    assert resumed.session == cli.session
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)
    await resumed.say("and on it goes")
    await resumed.finish()
    await app.expect_words("and on it goes")
    await app.expect_rest()
    assert (cli.prompts, resumed.prompts) == (["go"], ["written while it was down"])
    assert cli.answers == resumed.answers == []

    shown = await conversation(app)
    assert re.findall(r"\bw\d+\b", shown) == WORDS
    assert shown.count("written while it was down") == 1
    assert shown.count("a draft that is never finished") == 1  # What was read stays (T138).
    assert "Response interrupted." in shown
    await app.page.reload()
    await app.expect_words("and on it goes")
    assert await conversation(app) == shown
    kept = await exported(app)
    assert re.findall(r"\bw\d+\b", kept) == WORDS
    assert kept.count("written while it was down") == 1


@pytest.mark.matrix(target="browser", cases=0)
async def test_B57_a_turn_that_a_server_stop_cut_off_says_so_and_can_go_on(
    server_process: ServerProcess, app: AppPage, fake_cli: FakeCli
) -> None:
    await app.start("cut me off")
    cli = await fake_cli.enter()
    await cli.prompted()
    keep_file(server_process, cli)
    await cli.say("Working on it.")
    await app.expect_words("Working on it.")
    await server_process.stop()
    await server_process.start()
    await app.page.reload()
    await app.expect_words(re.compile("Interrupted by a server restart"))
    assert await app.transcript.get_by_text("by you").count() == 0
    await expect(app.composer).to_be_enabled()


async def test_U85_a_session_that_cannot_be_resumed_offers_no_resume(
    server_process: ServerProcess, app: AppPage, fake_cli: FakeCli
) -> None:
    await app.start("go")
    cli = await fake_cli.enter()  # It writes no session file, so it cannot be resumed.
    await cli.prompted()
    await cli.say("I looked around. The fence is green now.")
    await cli.finish()
    await app.expect_rest()
    await server_process.stop()
    await server_process.start()
    await app.page.reload()
    await app.expect_words("The fence is green now.")
    # The server allows the CLI 20 seconds to write the file.
    await expect(app.composer).to_be_disabled(timeout=60_000)
    await expect(app.composer).to_have_attribute("placeholder", re.compile("can't be resumed"))
    await app.page.get_by_role("button", name="More", exact=True).click()
    await expect(app.page.get_by_role("menuitem", name="Rename")).to_be_visible()
    await expect(app.page.get_by_role("menuitem", name="Resume")).to_have_count(0)
    await app.page.keyboard.press("Escape")
    await expect(app.page.get_by_role("button", name="Resume")).to_have_count(0)
    # What the session did is still on the board, although nobody has loaded it.
    await app.page.goto(f"{server_process.base}/board")
    done = app.page.get_by_role("region", name=re.compile("^Done"))
    await expect(done.get_by_role("link", name=re.compile("^go"))).to_contain_text(
        "The fence is green now."
    )
