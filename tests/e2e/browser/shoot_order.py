"""Pictures of worktrees, variants, rewinding, playback, sessions in order, and the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.async_api import Download, Locator, expect

from fairlead.server.limits import Limits
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.screenshots import ScreenshotRun, Shoot
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import commit_all, git, new_repository

__all__ = ["ORDER"]

TASK = "Give every order its own number"
DONE = "Every order has its own number now."
WORK = (
    use("Write", file_path="{{cwd}}/shop/numbers.py", content="from itertools import count\n\nNUMBERS = count(1)\n"),
    use("Edit", file_path="{{cwd}}/shop/checkout.py", old_string="order_id=len(cart)", new_string="order_id=next(NUMBERS)"),
    say(DONE),
)  # fmt: skip
DIAGRAM = """The letter takes this way:

```mermaid
flowchart LR
  A[Order placed] --> B{Paid?}
  B -->|yes| C[Letter sent]
  B -->|no| D[Ask again]
```

The wait after $n$ failures is $w_n = \\min(2^n, 300)$ seconds, in all

$$
\\sum_{i=0}^{n-1} w_i \\le 300\\,n
$$
"""


async def _repository(shots: ScreenshotRun, **options: Any) -> AppServer:
    server = await shots.emulated([scene(None, *WORK)], **options)
    new_repository(server.project)
    git(server.project, "config", "user.name", "Ada")
    git(server.project, "config", "user.email", "ada@example.org")
    return server


async def _form(app: AppPage) -> Locator:
    """The form for a new session in its own worktree."""
    dialog = await app.open_new_session()
    await dialog.get_by_label(re.compile("^First message")).fill(TASK)
    await dialog.get_by_role("checkbox", name=re.compile("own worktree")).check()
    mode = dialog.get_by_role("combobox", name=re.compile(r"^Mode\b"))
    await app.select(mode, "acceptEdits")
    return dialog


async def worktree(shots: ScreenshotRun) -> None:
    """A session in a worktree: the form, its setup, and how it ends."""
    server = await _repository(shots)
    (server.project / ".env").write_text("KEY=1\n")
    (server.project / ".git" / "info" / "exclude").write_text(".env\n")
    app = await shots.visit(server)
    dialog = await _form(app)
    await dialog.get_by_text("Preparing the worktree").click()
    command = dialog.get_by_role("textbox", name=re.compile("^Setup command"))
    await command.fill("echo 'added 214 packages in 3 s'; wc -c .env")
    await dialog.get_by_role("textbox", name=re.compile("^Files to copy")).fill(".env")
    save = dialog.get_by_role("button", name="Save for this repository")
    await save.click()
    await expect(save).to_be_disabled()
    await save.scroll_into_view_if_needed()
    await shots.keep(app, "worktree-form")
    await dialog.get_by_role("button", name="Start").click()
    await app.expect_words(DONE)
    await app.expect_rest()
    await shots.keep(app, "worktree-session")
    details = await shots.details(app)
    section = details.get_by_role("region", name="Worktree")
    await section.get_by_text("Setup: done").click()
    await section.scroll_into_view_if_needed()
    await shots.keep(app, "worktree-details")
    for button, title, name in (
        ("Merge…", "Merge worktree", "worktree-merge"),
        ("Keep branch…", "Keep branch", "worktree-keep"),
        ("Discard…", "Discard worktree", "worktree-discard"),
    ):
        await section.get_by_role("button", name=button).click()
        shown = app.page.get_by_role("dialog", name=title)
        await expect(shown.get_by_role("list", name="Uncommitted files")).to_be_visible()
        await shots.keep(app, name)
        if name == "worktree-merge":
            (server.project / "shop" / "numbers.py").write_text("NUMBERS = iter(range(10**6))\n")
            commit_all(server.project, "Number them otherwise")
            await shown.get_by_role("button", name="Merge", exact=True).click()
            await expect(shown.get_by_role("list", name="Conflicts")).to_be_visible()
            await shots.keep(app, "worktree-conflict")
        await shown.get_by_role("button", name="Cancel").click()
        await expect(shown).to_have_count(0)
    await shots.put_away(app)
    old = server.project / ".claude" / "worktrees" / "try-postgres"
    git(server.project, "worktree", "add", "-q", "-b", "try-postgres", str(old))
    (old / "notes.txt").write_text("slow\n")
    commit_all(old, "Measure PostgreSQL")
    await app.more("Worktrees")
    listed = app.page.get_by_role("dialog", name="Worktrees")
    await expect(listed.get_by_role("listitem")).to_have_count(2)
    await shots.keep(app, "worktree-list")


async def variants(shots: ScreenshotRun) -> None:
    """One message in several worktrees: the form, the board, a comparison, taking one."""
    server = await _repository(shots)
    app = await shots.visit(server)
    dialog = await _form(app)
    for number, (model, effort) in enumerate((("haiku", ""), ("opus", "high")), 2):
        await dialog.get_by_role("button", name="Add a variant to compare").click()
        field = dialog.get_by_role("combobox", name=f"Model of variant {number}")
        await field.fill(model)
        if effort:
            menu = dialog.get_by_role("combobox", name=f"Effort of variant {number}")
            await app.select(menu, effort)
    await dialog.get_by_role("group", name="Variant 3").scroll_into_view_if_needed()
    await shots.keep(app, "variants-form")
    await dialog.get_by_role("button", name="Start").click()
    main = app.page.get_by_role("main")
    cards = main.get_by_role("list", name="Variants").get_by_role("listitem")
    await expect(cards).to_have_count(3)
    for place in range(3):
        await expect(cards.nth(place)).to_contain_text("2 files")
        await expect(cards.nth(place)).to_contain_text("Your turn")
    await shots.keep(app, "variants-board")
    await main.get_by_role("button", name="shop/checkout.py").click()
    await expect(main.get_by_role("region", name=re.compile("checkout.py$")).first).to_contain_text(
        "NUMBERS"
    )
    await main.get_by_role("region", name=re.compile("checkout.py$")).first.scroll_into_view_if_needed()  # fmt: skip
    await shots.keep(app, "variants-compare")
    await cards.nth(1).get_by_role("button", name="Take this one…").click()
    take = app.page.get_by_role("dialog", name="Take this one")
    await take.get_by_role("checkbox", name=re.compile("Discard the other")).check()
    await expect(take).to_contain_text("shop/numbers.py")
    await shots.keep(app, "variants-take")


async def rewind(shots: ScreenshotRun) -> None:
    """The list of messages, the preview, and a session that cannot restore files."""
    server = await shots.emulated([scene("number", *WORK), scene(None, say("It has two parts."))])
    app = await shots.visit(server)
    await app.start("How is the shop built?", Mode="acceptEdits")
    await app.expect_words("It has two parts.")
    await app.expect_rest()
    await app.say(TASK)
    await app.expect_words(DONE)
    await app.expect_rest()
    await app.composer.focus()
    await app.page.keyboard.press("Escape")
    await app.page.keyboard.press("Escape")
    dialog = app.page.get_by_role("dialog", name="Rewind")
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await shots.keep(app, "rewind-messages")
    await dialog.get_by_role("button", name=TASK).click()
    await expect(dialog.get_by_role("region", name="Files")).to_contain_text("numbers.py")
    await shots.keep(app, "rewind-preview")
    await app.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await app.more("Stop process")
    await app.expect_state("Ended")
    prompt = app.transcript.get_by_role("article").filter(has_text=TASK).first
    await prompt.hover()
    await prompt.get_by_role("button", name="Message actions").click()
    await shots.keep(app, "rewind-menu")
    await app.page.get_by_role("menuitem", name="Rewind to here").click()
    await expect(dialog).to_contain_text("No agent is running")
    await shots.keep(app, "rewind-stopped")


async def playback(shots: ScreenshotRun) -> None:
    """A session that is played back, at its start, at an approval and at its end."""
    server = await shots.emulated([scene("number", *WORK), scene(None, say("It has two parts."))])
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_words("It has two parts.")
    await app.expect_rest()
    await app.say(TASK)
    await app.decide("Allow once")
    await app.decide("Allow once")
    await app.expect_words(DONE)
    await app.expect_rest()
    await app.more("Play back")
    controls = app.page.get_by_role("group", name="Playback")
    await expect(app.page.get_by_text("The session starts here.")).to_be_visible()
    await shots.keep(app, "playback-start")
    await controls.get_by_role("button", name="Next approval").click()
    await expect(app.page.get_by_text("Waiting for approval: Write")).to_be_visible()
    await shots.keep(app, "playback-approval")


async def order(shots: ScreenshotRun) -> None:
    """The page of all sessions: groups, tags, a selection, a deletion, export and import."""
    await shots.past()
    server = await shots.emulated(
        [scene(None, say("It has two parts."))], limits=Limits(delete_undo_s=3_600.0)
    )
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_words("It has two parts.")
    await app.expect_rest()
    await app.more("Tags…")
    tags = app.page.get_by_role("dialog", name="Tags")
    for tag in ("architecture", "shop"):
        await tags.get_by_role("combobox", name="Add a tag").fill(tag)
        await app.page.keyboard.press("Enter")
    await expect(tags.get_by_role("listitem")).to_have_count(2)
    await shots.keep(app, "order-tags")
    await tags.get_by_role("button", name="Save tags").click()
    await expect(tags).to_have_count(0)
    recording = await _exports(shots, app)
    if shots.target.phone:
        await app.page.get_by_role("button", name="Sessions", exact=True).click()
    await app.page.get_by_role("button", name="Arrange sessions").click()
    await shots.keep(app, "order-arrange")
    await app.page.get_by_role("menuitem", name="Group by project").click()
    nav = app.page.get_by_role("navigation", name="Sessions")
    await expect(nav.get_by_role("heading", name=re.compile("billing"))).to_be_visible()
    await shots.keep(app, "order-sidebar")
    await app.page.get_by_role("button", name="Arrange sessions").click()
    await app.page.get_by_role("menuitem", name="Manage sessions").click()
    main = app.page.get_by_role("main")
    await main.get_by_role("radio", name="Project").check()
    await shots.keep(app, "order-page")
    for title in ("Find dead code", "Add a sitemap"):
        await main.get_by_role("checkbox", name=f"Select {title}").check()
    await shots.keep(app, "order-selected")
    bar = main.get_by_role("toolbar", name="Selected sessions")
    await bar.get_by_role("button", name="Delete…").click()
    dialog = app.page.get_by_role("dialog", name="Delete 2 sessions")
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await shots.keep(app, "order-delete")
    await dialog.get_by_role("button", name="Delete 2 sessions").click()
    await expect(app.page.get_by_text("Deleting 2 sessions")).to_be_visible()
    await shots.keep(app, "order-undo")
    async with app.page.expect_file_chooser() as chooser:
        await main.get_by_role("button", name="Import recording…").click()
    await (await chooser.value).set_files(recording)
    await expect(app.page).to_have_url(re.compile("/s/recording-"))
    await app.expect_words("It has two parts.")
    await shots.keep(app, "order-imported")


async def _exports(shots: ScreenshotRun, app: AppPage) -> Path:
    """The dialog, the exported page, and the path of an exported recording."""
    await app.more("Export…")
    await expect(app.page.get_by_role("dialog", name="Export session")).to_be_visible()
    await shots.keep(app, "order-export")
    async with app.page.expect_download() as download:
        await app.page.get_by_role("button", name="Recording").click()
    recording = app.server.project.parent / "talk.ndjson"
    await (await download.value).save_as(recording)
    await app.more("Export…")
    async with app.page.expect_download() as download:
        await app.page.get_by_role("button", name="Web page").click()
    await _exported(shots, app, app.server.project.parent / "page.html", await download.value)
    return recording


async def _exported(shots: ScreenshotRun, app: AppPage, path: Path, download: Download) -> None:
    """The exported page, in a tab of its own."""
    await download.save_as(path)
    page = await app.context.new_page()
    await page.goto(path.as_uri())
    await expect(page.get_by_role("log", name="Conversation")).to_contain_text("two parts")
    await shots.keep(AppPage(app.server, app.context, page), "order-exported")
    await page.close()


async def offer(shots: ScreenshotRun) -> None:
    """What can be done with a session that cannot be resumed."""
    server = await shots.emulated([scene(None, say("It has two parts."))])
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_words("It has two parts.")
    await app.expect_rest()
    await app.more("Stop process")
    await app.expect_state("Ended")
    other = server.project / "moved"
    other.mkdir()
    for path in server.project.parent.rglob("*.jsonl"):
        text = path.read_text()
        path.write_text(text.replace(json.dumps(str(server.project))[1:-1] + '"', f'{other}"'))
    await app.say("go on")
    dialog = app.page.get_by_role("dialog", name="This session can't be resumed")
    await expect(dialog).to_contain_text("listed under")
    await shots.keep(app, "offer-resume")


async def terminal(shots: ScreenshotRun) -> None:
    """A shell in the folder of a session."""
    server = await shots.emulated([scene(None, say("It has two parts."))], terminal=True)
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_words("It has two parts.")
    await app.expect_rest()
    await app.more("Terminal")
    rows = app.page.locator(".xterm-rows")
    await expect(rows).to_contain_text(re.compile("[#$]"))
    await app.page.keyboard.type("ls shop tests; wc -l shop/*.py; echo finished$((1 + 1))")
    await app.page.keyboard.press("Enter")
    await expect(rows).to_contain_text("finished2")
    await shots.keep(app, "terminal-shell")
    await app.page.keyboard.type("exit 3")
    await app.page.keyboard.press("Enter")
    await expect(app.page.get_by_text(re.compile("ended with code 3")).first).to_be_visible()
    await shots.keep(app, "terminal-ended")


async def extras(shots: ScreenshotRun) -> None:
    """Hooks, a suggested message, a diagram and formulas."""
    script = [
        {"when": "build", "suggest": "run the tests", "steps": [
            use("Bash", command="echo built", description="Build"), say("It is built.")]},
        scene(None, say(DIAGRAM)),
    ]  # fmt: skip
    server = await shots.emulated(script)
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in (
            ("PreToolUse", "echo 'no secret in the command'"),
            ("PostToolUse", "echo 'lint: 2 problems' >&2; exit 1"),
        )
    }
    settings = server.project.parent / "claude" / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"hooks": hooks}))
    app = await shots.visit(server)
    await app.start("build it")
    await app.expect_words("It is built.")
    await app.expect_rest()
    await expect(app.page.locator(".ghost").or_(app.page.get_by_role("button", name="Use the suggested")).first).to_be_visible()  # fmt: skip
    await shots.keep(app, "extras-hooks")
    await app.transcript.get_by_role("button", name="2 hooks ran").click()
    await shots.keep(app, "extras-hooks-open")
    await app.say("How does the letter go?")
    drawn = app.transcript.get_by_role("img", name=re.compile("^Diagram"))
    await expect(drawn).to_be_visible(timeout=60_000)
    await expect(app.transcript.locator(".katex").first).to_be_visible(timeout=60_000)
    await shots.keep(app, "extras-drawn")


ORDER: dict[str, Shoot] = {
    "worktree": worktree,
    "variants": variants,
    "rewind": rewind,
    "playback": playback,
    "order": order,
    "offer": offer,
    "terminal": terminal,
    "extras": extras,
}
