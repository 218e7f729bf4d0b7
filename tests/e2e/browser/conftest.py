"""Fixtures for tests in a real Chromium. They have a pytest run of their own (`make test`).

`visit`     opens a page on a server and signs in: `app = await visit(server)`, with
            `role=`, `width=`, `height=`, `theme="dark"`, `phone=True`. Every page is closed after
            the test, which fails for any request to another place and any error on the console.
            The first page of a test is in a context that others use before and after it
            (`shared_contexts.py`); with `fresh=True` it has one of its own.
`demo`      a server with the demo agent: the tour of the emulator in its scratch project.
`emulated`  makes a server whose agent plays a script: `server = await emulated(YAML)`, with
            `limits=`, `version=` and any of `Options`. The agent is a fork (`forked_programs.py`).
`fake_cli`  an agent whose every line a test writes; `fake_cli_server` is a server that uses it, and
            `app, cli = await begin_turn()` a page on it in the middle of a turn.
`hostile`   another browser, for which evil.test and every name below it is this machine.
`chromium`  the browser itself, one for all tests; it accepts the certificate of `TlsProxy`.

All of it runs on one event loop, so that one browser serves all tests. Pages of `visit` have no
service worker unless the test is marked with `service_worker`: a new browser profile loads and hashes
all files of the app for it, which is a third of the CPU time of a short test.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize, async_playwright, expect

from fairlead.emulator.script.scenario import read_yaml
from fairlead.emulator.script.scratch_project import make_scratch_project
from fairlead.emulator.state.profile import DEFAULT_VERSION
from fairlead.server.limits import Limits
from fairlead.testing.emulated import EmulatedClaude
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer, open_app_server
from tests.e2e.browser.chromium import ARGUMENTS, HOW, ONE_PROCESS, SHORT_LIVED, find
from tests.e2e.browser.fake_cli import FakeCli, FakeCliProcess, open_fake_cli
from tests.e2e.browser.shared_contexts import SharedContexts, settings
from tests.forked_programs import write_program
from tests.server.tls_proxy import KEY_HASH

Visit = Callable[..., Awaitable[AppPage]]
Emulated = Callable[..., Awaitable[AppServer]]
BeginTurn = Callable[..., Awaitable[tuple[AppPage, FakeCliProcess]]]

TOUR = Path(__file__).parents[3] / "src" / "fairlead" / "emulator" / "scenarios" / "tour.yaml"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "service_worker: pages of `visit` may have a service worker")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@asynccontextmanager
async def launched(path: str | None, *arguments: str) -> AsyncIterator[Browser]:
    """A running browser."""
    assert path is not None, HOW
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, *arguments]
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    trusted = f"--ignore-certificate-errors-spki-list={KEY_HASH}"
    async with launched(find(), ONE_PROCESS, SHORT_LIVED, trusted) as browser:
        yield browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def hostile() -> AsyncIterator[Browser]:
    rules = "MAP evil.test 127.0.0.1, MAP *.evil.test 127.0.0.1"
    async with launched(find(), f"--host-resolver-rules={rules}") as browser:
        yield browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def contexts(chromium: Browser) -> AsyncIterator[SharedContexts]:
    contexts = SharedContexts(chromium)
    yield contexts
    await contexts.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(
    chromium: Browser, contexts: SharedContexts | None, request: pytest.FixtureRequest
) -> AsyncIterator[Visit]:
    app_pages: list[AppPage] = []
    shared: list[AppPage] = []
    has_worker = request.node.get_closest_marker("service_worker") is not None

    async def open_app_page(
        server: AppServer,
        *,
        role: str | None = "owner",
        width: int = 1440,
        height: int = 900,
        theme: str = "light",
        phone: bool = False,
        fresh: bool = False,
    ) -> AppPage:
        size: ViewportSize = {"width": 390 if phone else width, "height": 844 if phone else height}
        dark = theme == "dark"
        if contexts is not None and not (fresh or has_worker) and contexts.is_free(phone=phone):
            app = await contexts.open(server, size=size, dark=dark, phone=phone)
            shared.append(app)
        else:
            made = settings(phone=phone, dark=dark, worker=has_worker)
            context = await chromium.new_context(viewport=size, **made)
            app = AppPage(server, context, await context.new_page())
            app_pages.append(app)
        return await app.sign_in(role) if role is not None else app

    yield open_app_page
    for app in shared:
        assert contexts is not None
        await contexts.release(app)
    for app in app_pages:
        await app.leave()
    for app in (*shared, *app_pages):
        app.check()


@pytest_asyncio.fixture(loop_scope="session")
async def emulated(tmp_path: Path) -> AsyncIterator[Emulated]:
    async with AsyncExitStack() as servers:

        async def make(
            script: Any,
            *,
            limits: Limits | None = None,
            version: str = DEFAULT_VERSION,
            **options: Any,
        ) -> AppServer:
            claude = EmulatedClaude(tmp_path / "claude", script, version=version)
            write_program(claude.executable, "fairlead.emulator", claude.environment)
            return await servers.enter_async_context(
                open_app_server(
                    tmp_path,
                    agent=claude.executable,
                    project=claude.project,
                    home=claude.home,
                    limits=limits,
                    # With its version, the server starts no process to ask for it.
                    version=version,
                    **options,
                )
            )

        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def demo(emulated: Emulated) -> AppServer:
    server = await emulated(read_yaml(TOUR.read_text(encoding="utf-8")))
    make_scratch_project(server.project)
    return server


@pytest_asyncio.fixture(loop_scope="session")
async def fake_cli(tmp_path: Path) -> AsyncIterator[FakeCli]:
    async with open_fake_cli(tmp_path) as fake_cli:
        yield fake_cli


@pytest_asyncio.fixture(loop_scope="session")
async def fake_cli_server(tmp_path: Path, fake_cli: FakeCli) -> AsyncIterator[AppServer]:
    project = tmp_path / "project"
    project.mkdir()
    async with open_app_server(
        tmp_path,
        agent=fake_cli.agent,
        project=project,
        names=("127.0.0.2",),
        version=DEFAULT_VERSION,
    ) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def begin_turn(fake_cli_server: AppServer, visit: Visit, fake_cli: FakeCli) -> BeginTurn:
    async def begin(**visiting: Any) -> tuple[AppPage, FakeCliProcess]:
        app = await visit(fake_cli_server, **visiting)
        await app.start("go")
        cli = await fake_cli.enter()
        await cli.prompted()
        await expect(app.stop_button).to_be_visible()  # The page shows that the turn runs.
        return app, cli

    return begin
