"""The question about a project's own programs, in the app (docs/server.md, B54)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene
from tests.server.hostile_project import EVENTS, hostile, marks_in
from tests.waiting import until

HELLO = [scene(None, say("You said: {{prompt}}"))]
TITLE = "This project wants to run programs"


async def _hostile_server(emulated: Emulated, marks: Path) -> tuple[AppServer, Path]:
    server = await emulated(HELLO)
    project = server.project
    hostile(project, marks)
    settings = project / ".claude" / "settings.local.json"
    known = json.loads(settings.read_text())
    known["env"] = {"SHY": "\x1b[8mhidden\u200b\u202e"}
    settings.write_text(json.dumps(known, ensure_ascii=False))
    return server, project


async def _wish(app: AppPage, prompt: str) -> Locator:
    """Send the form for a new session; the question that comes of it."""
    form = await app.open_new_session()
    await form.get_by_label("First message").fill(prompt)
    await form.get_by_role("button", name="Start").click()
    question = app.page.get_by_role("dialog", name=TITLE)
    await expect(question).to_be_visible()
    return question


async def test_B54_the_dialog_lists_every_command_visibly_and_cancel_starts_nothing(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server, _ = await _hostile_server(emulated, tmp_path / "marks")
    app = await visit(server)
    question = await _wish(app, "go")
    for whose in ("project", "local"):
        for event in EVENTS:
            await expect(question).to_contain_text(f"touch {tmp_path}/marks/{whose}-{event}")
    for words in ("statusLine", "Bash(curl *)", "server evil", ".claude/settings.local.json"):
        await expect(question).to_contain_text(words)
    for hidden in ("U+202E", "U+200B"):
        await expect(question).to_contain_text(hidden)
    text = await question.text_content() or ""
    assert not {"\u202e", "\u200b", "\x1b"} & set(text)
    await question.get_by_role("button", name="Cancel").click()
    await expect(question).to_have_count(0)
    form = app.page.get_by_role("dialog", name="New session")
    await expect(form.get_by_role("alert")).to_contain_text("Review them")
    assert marks_in(tmp_path / "marks") == set()
    await app.page.keyboard.press("Escape")
    await expect(app.listed("go")).to_have_count(0)


@pytest.mark.matrix(target="browser", cases=0)
async def test_B54_trust_starts_with_the_programs_and_a_changed_file_asks_again_at_a_resume(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server, project = await _hostile_server(emulated, tmp_path / "marks")
    app = await visit(server)
    question = await _wish(app, "first")
    trust = question.get_by_role("button", name="Trust and start")
    await expect(question).to_contain_text("Scroll to the end to trust")
    await expect(trust).to_be_disabled()
    await question.get_by_role("button", name="Jump to end").click()
    await trust.click()
    await app.expect_words("You said: first")
    await app.expect_rest()
    assert "project-SessionStart" in marks_in(tmp_path / "marks")
    await app.start("second")  # The same content is not asked about again.
    await app.expect_words("You said: second")
    await app.expect_rest()
    await app.more("Stop process")
    await app.expect_state("Ended")
    settings = project / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("curl", "wget"))
    await app.more("Resume")
    again = app.page.get_by_role("dialog", name=TITLE)
    await expect(again).to_contain_text("Bash(wget *)")
    await again.get_by_role("button", name="Cancel").click()
    await app.expect_state("Ended")
    await app.more("Resume")
    await again.get_by_role("button", name="Start without them").click()
    await app.expect_rest()
    assert "--setting-sources" in " ".join(server.command_line(app.session))


@pytest.mark.matrix(target="browser", cases=0)
async def test_B54_without_starts_none_of_them_and_the_answer_can_be_changed(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server, _ = await _hostile_server(emulated, tmp_path / "marks")
    app = await visit(server)
    question = await _wish(app, "first")
    await question.get_by_role("button", name="Start without them").click()
    await app.expect_words("You said: first")
    await app.expect_rest()
    assert marks_in(tmp_path / "marks") == set()
    await app.more("Project programs")
    review = app.page.get_by_role("dialog", name="Project programs")
    await expect(review).to_contain_text("Currently: ignored")
    await expect(review).to_contain_text("server evil")
    await expect(review.get_by_role("button", name="Trust them")).to_be_disabled()
    await review.get_by_role("button", name="Jump to end").click()
    await review.get_by_role("button", name="Trust them").click()
    await expect(app.page.get_by_text("Applies the next time a session starts")).to_be_visible()
    assert marks_in(tmp_path / "marks") == set()
    await app.more("Restart")
    # A message that is sent before the old process has ended may still go to it.
    await until(lambda: "project-SessionStart" in marks_in(tmp_path / "marks"), PATIENCE_MS / 1000)
    await app.say("second")
    await app.expect_words("You said: second")
    assert "project-UserPromptSubmit" in marks_in(tmp_path / "marks")
    await app.more("Project programs")
    await expect(review).to_contain_text("Currently: trusted")


@pytest.mark.matrix(target="browser", cases=0)
async def test_B54_a_viewer_can_neither_start_nor_answer(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    server, _ = await _hostile_server(emulated, tmp_path / "marks")
    owner = await visit(server)
    question = await _wish(owner, "first")
    await question.get_by_role("button", name="Start without them").click()
    await owner.expect_words("You said: first")
    viewer = await visit(server, role="viewer")
    await viewer.listed("first").click()
    await viewer.expect_words("You said: first")
    form = await viewer.open_new_session()
    await form.get_by_label("First message").fill("second")
    await form.get_by_role("button", name="Start").click()
    await expect(form.get_by_role("alert")).to_be_visible()
    await expect(viewer.page.get_by_role("dialog", name=TITLE)).to_have_count(0)
    await viewer.page.keyboard.press("Escape")
    await expect(viewer.page.get_by_role("button", name="More", exact=True)).to_have_count(0)
