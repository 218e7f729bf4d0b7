"""The server is stopped and started again while the real CLI works."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from fairlead.model_api.replies import reply, use
from fairlead.testing.plugin import ScriptedCli
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.server_process import ServerProcess
from tests.launching import executable

VERSION = "2.1.325"


@pytest_asyncio.fixture(loop_scope="session")
async def cli(scripted_cli: Callable[..., ScriptedCli]) -> ScriptedCli:
    return scripted_cli(version=VERSION)


@pytest_asyncio.fixture(loop_scope="session")
async def server_process(cli: ScriptedCli, tmp_path: Path) -> AsyncIterator[ServerProcess]:
    # The server gives its CLI a clean environment; the launcher adds that of the scripted model.
    env = "\n".join(
        f"export {name}={shlex.quote(value)}" for name, value in cli.environment.items()
    )
    agent = executable(
        tmp_path / "claude-real", f'{env}\nexec {shlex.quote(str(cli.executable))} "$@"'
    )
    server_process = ServerProcess(
        Path(cli.environment["HOME"]).parent, agent=agent, project=cli.project
    )
    await server_process.start()
    yield server_process
    await server_process.stop()


@pytest.mark.matrix(target="conformance", cases=0)
async def test_a_restart_of_the_server_is_named_and_the_session_goes_on(
    cli: ScriptedCli, server_process: ServerProcess, chromium: Browser
) -> None:
    executable(cli.project / "tool.sh", "echo ran > ran.txt")
    cli.model.push(reply("Hello."), use("Bash", command="./tool.sh now"), reply("Again."))
    context = await chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    app = AppPage(cast(AppServer, server_process), context, await context.new_page())
    await app.sign_in()
    await app.start("hello")
    await app.expect_words("Hello.")
    await app.expect_rest()
    await app.say("work")
    await expect(app.decision).to_contain_text("./tool.sh now")
    await server_process.stop()
    await server_process.start()
    await app.page.reload()
    await app.expect_words("Interrupted by a server restart")
    await expect(app.transcript.get_by_text("by you")).to_have_count(0)
    await app.say("go on")
    await app.expect_words("Again.")
    await app.expect_rest()
    assert not (cli.project / "ran.txt").exists()
    await app.close()
