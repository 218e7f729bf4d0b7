"""The server is stopped and started again while the real CLI works."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest_asyncio
from playwright.async_api import Browser, expect

from fairlead.model_api.replies import reply, use
from fairlead.testing.plugin import ScriptedCli
from tests.e2e.browser.desk import Desk
from tests.e2e.browser.house import House
from tests.e2e.browser.serving import Serving
from tests.launching import executable

VERSION = "2.1.325"


@pytest_asyncio.fixture(loop_scope="session")
async def cli(scripted_cli: Callable[..., ScriptedCli]) -> ScriptedCli:
    return scripted_cli(version=VERSION)


@pytest_asyncio.fixture(loop_scope="session")
async def serving(cli: ScriptedCli, tmp_path: Path) -> AsyncIterator[Serving]:
    # The server gives its CLI a clean environment; the launcher adds that of the scripted model.
    env = "\n".join(
        f"export {name}={shlex.quote(value)}" for name, value in cli.environment.items()
    )
    agent = executable(
        tmp_path / "claude-real", f'{env}\nexec {shlex.quote(str(cli.executable))} "$@"'
    )
    serving = Serving(Path(cli.environment["HOME"]).parent, agent=agent, project=cli.project)
    await serving.start()
    yield serving
    await serving.stop()


async def test_a_restart_of_the_server_is_named_and_the_session_goes_on(
    cli: ScriptedCli, serving: Serving, chromium: Browser
) -> None:
    executable(cli.project / "tool.sh", "echo ran > ran.txt")
    cli.model.push(reply("Hello."), use("Bash", command="./tool.sh now"), reply("Again."))
    context = await chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    desk = Desk(cast(House, serving), context, await context.new_page())
    await desk.sign_in()
    await desk.start("hello")
    await desk.expect_words("Hello.")
    await desk.expect_rest()
    await desk.say("work")
    await expect(desk.decision).to_contain_text("./tool.sh now")
    await serving.stop()
    await serving.start()
    await desk.page.reload()
    await desk.expect_words("Interrupted by a server restart")
    await expect(desk.transcript.get_by_text("by you")).to_have_count(0)
    await desk.say("go on")
    await desk.expect_words("Again.")
    await desk.expect_rest()
    assert not (cli.project / "ran.txt").exists()
    await desk.close()
