"""What a conversation holds is only text wherever else it is shown: asked about, listed, found, exported.

The payloads come in as requests for a permission, as questions, plans and forms, as names of
commands, servers and tasks, as snippets of a search and as files of an export (abuse cases T-22
and T-23).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error, Page, expect

from fairlead.server.protocol.intents import Rename
from fairlead.store.tables.devices import Device
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess
from tests.e2e.browser.payloads import ALL, CORPUS, expect_harmless, watched
from tests.matrix import share

pytestmark = pytest.mark.timeout(300)

PERSON = Device(id="tester", name="tester", role="owner", token_hash="", created=0.0)

SHORT = 300
"""Letters of one payload where hundreds stand together; each was seen whole in the conversation."""

SOME = tuple(one[:SHORT] for group in CORPUS.values() for one in group[:3])
"""A few of each kind."""


async def _ask(app: AppPage, cli: FakeCliProcess, request: str, given: Any, *, tool: str) -> None:
    """Have something asked, look at it, and have it taken back."""
    await cli.ask(request, given, tool=tool)
    await _look(app, cli, request)


async def _look(app: AppPage, cli: FakeCliProcess, request: str) -> None:
    await expect(app.decision).to_be_visible()
    await expect_harmless(app, request)
    await cli.withdraw(request)
    await expect(app.decision).to_have_count(0)


def _questions(texts: tuple[str, ...]) -> dict[str, Any]:
    options = [
        {"label": f"{number} {one}", "description": one, "preview": one}
        for number, one in enumerate(texts)
    ]
    groups = [options[at : at + 4] for at in range(0, 16, 4)]
    return {
        "questions": [
            {"question": one[0]["description"], "header": one[1]["label"][:12], "options": one,
             "multiSelect": False}
            for one in groups
        ]
    }  # fmt: skip


@pytest.mark.matrix(target="browser", cases=0)
async def test_T22_nothing_that_is_asked_runs_or_loads(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await watched(app)
    texts = [one[:SHORT] for one in ALL]
    lines = "\n".join(texts)
    await _ask(app, cli, "command", {"command": lines, "description": lines}, tool="Bash")
    fields = {f"{number} {one[:60]}": one for number, one in enumerate(texts)}
    await _ask(app, cli, "fields", fields, tool="mcp__evil__tool")
    await _ask(app, cli, "file", {"file_path": SOME[0], "content": lines}, tool="Write")
    edit = {"file_path": SOME[1], "old_string": "\n".join(SOME), "new_string": lines}
    await _ask(app, cli, "edit", edit, tool="Edit")
    await _ask(app, cli, "address", {"url": SOME[7], "prompt": SOME[8]}, tool="WebFetch")
    for number, start in enumerate(range(0, len(SOME), 16)):
        asked = _questions((*SOME[start:], *SOME)[:16])
        await _ask(app, cli, f"questions {number}", asked, tool="AskUserQuestion")
    for start in range(0, len(texts), 130):
        plan = "\n\n".join(texts[start : start + 130])
        await _ask(app, cli, f"plan {start}", {"plan": plan}, tool="ExitPlanMode")
    schema = {
        "type": "object",
        "properties": {
            f"{number} {one[:40]}": {
                "type": "string",
                "title": one,
                "description": one,
                "enum": [one],
            }
            for number, one in enumerate(SOME)
        },
    }
    form = {"mcp_server_name": SOME[2], "message": "\n".join(SOME), "requested_schema": schema}
    await cli.request("form", subtype="elicitation", mode="form", **form)
    await _look(app, cli, "form")
    await cli.finish()


@pytest.mark.matrix(target="browser")
async def test_T22_a_name_in_a_list_or_a_panel_is_only_a_name(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    names = share((*CORPUS["names"], *SOME), 20)
    init = {
        "type": "system", "subtype": "init", "model": SOME[0], "permissionMode": "default",
        "tools": names, "slash_commands": names, "agents": names, "skills": names,
        "mcp_servers": [{"name": one, "status": "failed", "error": one} for one in names],
    }  # fmt: skip
    await watched(app)
    await cli.line(**init)
    for number, one in enumerate(names[:40]):
        task = {"id": str(number), "subject": one}
        given = {"subject": one, "description": one, "activeForm": one}
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "TaskCreate", "input": given}
        message = {"id": f"msg_{number}", "role": "assistant", "model": "big", "content": [use]}
        await cli.line(type="assistant", message=message, parent_tool_use_id=None)
        back = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "ok"}
        said = {"role": "user", "content": [back]}
        more = {"tool_use_result": {"task": task}, "parent_tool_use_id": None}
        await cli.line(type="user", message=said, **more)
    await cli.say("That was all.")
    await cli.finish()
    await app.expect_words("That was all.")
    await app.expect_rest()
    await app.composer.press("/")
    await expect(app.page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    await expect_harmless(app, "the panel and the commands")
    await _rename(app, [one.strip()[:80] for one in names if one.strip()])
    await expect_harmless(app, "the list of sessions")
    await app.composer.fill("")
    for page in ("help", "log", "usage", "inbox"):
        await app.page.goto(f"{app.server.base}/{page}")
        await expect(app.page.get_by_role("main")).to_be_visible()
        await app.page.get_by_role("main").get_by_role("heading").first.wait_for()
        await expect_harmless(app, page)


async def _rename(app: AppPage, titles: list[str]) -> None:
    """Give the session one title after the other, each for a frame at least."""
    act = app.server.service.registry.act
    for number, title in enumerate([*titles, "The last one"], 1):
        result = await act(PERSON, "renaming", number, Rename(session=app.session, title=title))
        assert result.ok, result
        await app.page.evaluate("() => new Promise(requestAnimationFrame)")
    await expect(app.listed("The last one")).to_be_visible()


async def _tell_all(app: AppPage, cli: FakeCliProcess, token: str) -> None:
    """Every payload in an answer of its own, with a word to find it by; until the last can be found."""
    for one in ALL:
        await cli.say(f"{one}\n\ncanary")
    await cli.finish()
    last = f"{app.server.base}/api/search?q=canary&limit=1&offset={len(ALL) - 1}"
    headers = {"Authorization": f"Bearer {token}"}
    async with asyncio.timeout(60):
        while not (await (await app.context.request.get(last, headers=headers)).json())["hits"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.matrix(target="browser", cases=0)
async def test_T22_what_a_search_finds_and_an_export_holds_is_only_text(
    begin_turn: BeginTurn, tmp_path: Path
) -> None:
    app, cli = await begin_turn()
    await watched(app)
    session = app.session
    token = (await app.server.service.devices.make_device("a program", "owner")).token
    await app.page.goto(f"{app.server.base}/search")
    await _tell_all(app, cli, token)
    await _search(app)
    for form, ending in (("markdown", "md"), ("json", "json"), ("ndjson", "ndjson")):
        address = f"{app.server.base}/api/sessions/{session}/export?form={form}"
        answer = await app.context.request.get(
            address, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.ok
        saved = tmp_path / f"export.{ending}"
        saved.write_bytes(await answer.body())
        assert "window.harmed" in saved.read_text()
        for place in (address, saved.as_uri()):
            await _expect_text(await app.context.new_page(), place, token)


async def _search(app: AppPage) -> None:
    """Have every hit shown."""
    await app.page.goto(f"{app.server.base}/search?q=canary&order=newest")
    options = app.page.get_by_role("listbox").get_by_role("option")
    await expect(options.first).to_be_visible()
    more = app.page.get_by_role("button", name="Show more")
    while await more.count():
        await expect(more).to_be_enabled()
        await more.click()
        await expect(more.and_(app.page.locator(":disabled"))).to_have_count(0)
    await app.page.get_by_role("button", name="more in this session").click()
    await expect(options).to_have_count(len(ALL))
    await expect_harmless(app, "search")


async def _expect_text(page: Page, address: str, token: str) -> None:
    """Opened in a browser of its own, it is text or a file to be saved, and never a document."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.set_extra_http_headers({"Authorization": f"Bearer {token}"})
    with suppress(Error):  # What is to be saved is not gone to.
        await page.goto(address)
    kinds = await page.evaluate(
        "() => [...document.body.querySelectorAll('*')].map((one) => one.tagName)"
    )
    assert set(kinds) <= {"PRE", "DIV"}, address
    assert await page.evaluate("() => window.harmed") is None
    assert set(asked) <= {address}
    await page.close()
