"""Sessions that the CLI made elsewhere: one that another program uses, and what they all used."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from playwright.async_api import expect

from fairlead.store.cli_files.file_usage import spent_in
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene
from tests.server.http.cli_session_files import write_files
from tests.store.cli_files.usage_files import files_of

HELLO = [scene(None, say("You said: {{prompt}}"))]


def used_elsewhere(projects: Path, name: str) -> Path:
    """A real session whose file was written just now; gives the file."""
    session = write_files(projects, name)
    (path,) = projects.glob(f"*/{session}.jsonl")
    now = time.time()
    os.utime(path, (now, now))
    return path


async def test_a_session_in_use_elsewhere_says_so_everywhere_and_is_only_read(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    projects = tmp_path / "claude" / "home" / ".claude" / "projects"
    path = used_elsewhere(projects, "2.1.325/tools")
    server = await emulated(HELLO)
    app = await visit(server)
    await expect(app.listed("do things")).to_contain_text("In use elsewhere")
    await app.listed("do things").click()
    await app.expect_state("In use elsewhere")
    await app.expect_words("Second answer.")
    page = app.page
    await expect(app.composer).to_be_disabled()
    await expect(page.get_by_role("note")).to_contain_text("In use elsewhere")
    await expect(page.get_by_role("button", name=re.compile("Resume"))).to_have_count(0)
    await expect(page.get_by_role("note").get_by_role("button")).to_have_text("Fork…")
    details = page.get_by_role("complementary", name="Details")
    await expect(details).to_contain_text("Running in another program")
    await page.get_by_role("button", name="More", exact=True).click()
    reading = ("Play back", "Export…", "Session settings", "Commands and tools")
    await expect(page.get_by_role("menuitem")).to_have_text([re.compile(name) for name in reading])
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    found = page.get_by_role("listbox", name="Results")
    await expect(found.get_by_role("option", name="do things")).to_contain_text("In use elsewhere")
    await expect(
        found.get_by_role("option", name=re.compile("Fork|Restart|Archive"))
    ).to_have_count(0)
    await page.keyboard.press("Escape")
    os.utime(path, (time.time() - 600, time.time() - 600))  # It has ended there.
    await expect(page.get_by_role("button", name="Resume here")).to_be_visible()
    await expect(app.composer).to_be_enabled()


@pytest.mark.matrix(target="browser", cases=0)
async def test_what_was_used_elsewhere_is_on_the_usage_page_and_where_it_is_from(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(HELLO)
    for name in ("2.1.325/tools", "2.1.220/tools"):
        session, files = files_of(name)
        spent = spent_in(session, files)
        await server.service.store.put_file_usage(session, spent, project="/home/me/ship")
    app = await visit(server)
    await app.start("hello")
    await app.expect_rest()
    page = app.page
    await page.goto(f"{server.base}/usage?by=month&measure=tokens")
    table = page.get_by_role("table").first
    await expect(table.get_by_role("row", name=re.compile(r"^opus 5 "))).to_contain_text(
        "–"
    )  # No money told.
    await expect(table.get_by_role("row", name="opus 5.5")).to_contain_text("$")
    counted = page.get_by_role("region", name="Sources")
    await expect(counted).to_contain_text("1.7 k tokens, $0.0074")
    await expect(counted).to_contain_text("Fairlead does not estimate prices.")
