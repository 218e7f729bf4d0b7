"""Search in sessions that the CLI made elsewhere, by model, and while they are still being read."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from fairlead.server.protocol.lobby_rows import Progress
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene

HELLO = [scene(None, say("You said: {{prompt}}"))]

ELSEWHERE = {
    "11111111-0000-4000-8000-000000000001": ("claude-opus-5-5", "The heron stands in the reeds."),
    "11111111-0000-4000-8000-000000000002": ("claude-haiku-5-5", "The heron flew at dusk."),
}


def written_elsewhere(server: AppServer, home: Path) -> None:
    """Two sessions as a CLI keeps them, quiet for a while."""
    folder = home / ".claude" / "projects" / "elsewhere"
    folder.mkdir(parents=True)
    for session, (model, words) in ELSEWHERE.items():
        path = folder / f"{session}.jsonl"
        lines = [json.dumps(one) for one in records(session, str(server.project), model, words)]
        path.write_text("\n".join(lines) + "\n")
        quiet = time.time() - 60
        os.utime(path, (quiet, quiet))


def records(session: str, cwd: str, model: str, words: str) -> list[dict[str, Any]]:
    every = {"sessionId": session, "cwd": cwd, "version": "2.1.325", "isSidechain": False}
    ask = {"role": "user", "content": "Where is the heron?"}
    said: dict[str, Any] = {"id": f"msg_{session}", "role": "assistant", "model": model}
    said |= {"type": "message", "content": [{"type": "text", "text": words}]}
    first, second = f"a{session[1:]}", f"b{session[1:]}"
    at = "2026-01-02T03:04:05.000Z"
    return [
        {**every, "type": "user", "uuid": first, "parentUuid": None, "timestamp": at,
         "message": ask},
        {**every, "type": "assistant", "uuid": second, "parentUuid": first, "timestamp": at,
         "message": said},
    ]  # fmt: skip


async def until_read(data: Path) -> None:
    """Wait for the search to know both; it looks for new files every few seconds."""
    notes = data / "cli-search.json"
    async with asyncio.timeout(60):
        while not notes.exists() or not all(one in notes.read_text() for one in ELSEWHERE):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_session_of_the_cli_is_found_narrowed_by_model_and_opened_at_the_hit(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    await app.start("hello")  # So that there is a model to choose.
    await app.expect_rest()
    page = app.page
    await page.goto(f"{server.base}/search")
    field = page.get_by_role("combobox", name="Search all conversations")
    options = page.get_by_role("listbox").get_by_role("option")
    await field.fill("heron")
    await expect(page.get_by_role("status").filter(has_text="No results")).to_be_visible()
    async with page.expect_request(re.compile(r"/api/search\?q=heron")):
        await field.press("Enter")  # It may be there by now.
    written_elsewhere(server, tmp_path / "claude" / "home")
    await until_read(tmp_path / "data")
    await field.fill("hero")
    await expect(options).to_have_count(4)  # In both, what was asked and what was answered.
    model = page.get_by_role("combobox", name="Model", exact=True)
    await app.select(model, "claude-opus-5-5")
    await expect(page).to_have_url(re.compile("model=claude-opus-5-5"))
    await expect(options).to_have_count(2)
    await expect(page.get_by_text("The heron flew")).to_have_count(0)
    await field.fill("heron stands")
    await expect(options).to_have_count(1)
    await field.press("Enter")
    await expect(page).to_have_url(re.compile("11111111-0000-4000-8000-000000000001"))
    await app.expect_words("The heron stands in the reeds.")


async def test_how_far_the_reading_of_other_sessions_has_come_is_shown(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    app = await visit(server)
    lobby = server.service.registry.lobby
    side = app.page.get_by_role("navigation", name="Sessions")
    lobby.set_server(listing=Progress(1200, 9000))
    await expect(side).to_contain_text("1,200 of 9,000")
    await expect(side.get_by_role("progressbar")).to_have_attribute("value", "1200")
    lobby.set_server(listing=None, indexing=Progress(3, 10))
    await expect(side).to_contain_text("3 of 10")
    await app.page.goto(f"{server.base}/search")
    main = app.page.get_by_role("main")
    await expect(main).to_contain_text("results are incomplete")
    await expect(main.get_by_role("progressbar")).to_have_attribute("max", "10")
    lobby.set_server(indexing=None)
    await expect(main.get_by_role("progressbar")).to_have_count(0)
