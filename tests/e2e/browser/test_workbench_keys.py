"""The pages with changes, all sessions and playback, by keyboard alone."""

from __future__ import annotations

from playwright.async_api import expect

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.keyboard import Keys
from tests.e2e.browser.scripts import say, scene
from tests.git.repositories import new_repository


async def test_changes_are_read_and_commented_on_by_keyboard(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    new_repository(server.project, {"src/app.py": "one\n", "README.md": "hello\n"})
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    (server.project / "src" / "app.py").write_text("two\n")
    session = app.session
    main = app.page.get_by_role("main")
    keys = Keys(app)

    await app.page.goto(f"{server.base}/s/{session}/changes")
    await keys.to(main.get_by_role("button", name="src, folder with 1 file"))
    await keys.press("ArrowDown", "Enter")
    await keys.to(main.get_by_role("button", name="Comment on line 1 (before)"))
    await keys.press("ArrowDown", "Enter")
    await keys.write("Why two?")
    await keys.press("Control+Enter")
    await expect(main.get_by_role("article")).to_contain_text("Why two?")
    await keys.held()
    await keys.to(main.get_by_role("button", name="Review (1)"), "Shift+Tab")
    await keys.press("Enter")
    await keys.to(main.get_by_role("button", name="Send 1 comment in 1 file"))


async def test_sessions_are_selected_and_played_back_by_keyboard(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated([scene(None, say("You said: {{prompt}}"))])
    app = await visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    session = app.session
    main = app.page.get_by_role("main")
    keys = Keys(app)
    await app.page.goto(f"{server.base}/sessions")
    await keys.to(main.get_by_role("checkbox", name="Select hello"))
    await keys.press("Space")
    await keys.to(main.get_by_role("toolbar").get_by_role("button", name="Delete…"))
    await keys.press("Enter")
    dialog = app.page.get_by_role("dialog", name="Delete 1 session")
    await expect(dialog).to_be_visible()
    await keys.press("Escape")
    await expect(dialog).to_have_count(0)
    await keys.held()

    await app.page.goto(f"{server.base}/s/{session}/play")
    controls = app.page.get_by_role("group", name="Playback")
    await keys.to(controls.get_by_role("slider", name="Position"))
    await keys.press("End")
    await app.expect_words("You said: hello")
