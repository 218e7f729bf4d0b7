"""Review comments in a browser: written on lines, sent as one message, followed afterwards."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.cuttable_proxy import NAME, open_cuttable_proxy
from tests.e2e.browser.picture_bytes import PICTURE
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import commit_all, git, new_repository

LONG = "".join(f"line {number}\n" for number in range(1, 200))


async def reviewed(emulated: Emulated, **options: Any) -> AppServer:
    """A server with a repository; its agent edits a file, and answers a review by another edit."""
    server = await emulated(
        [
            scene(
                "work",
                use("Edit", file_path="src/app.py", old_string="line 50", new_string="line fifty"),
                use("Write", file_path="src/new.py", content="print('new')\n"),
                say("Done."),
            ),
            scene(
                "Code review",
                use("Edit", file_path="src/app.py", old_string="line fifty", new_string="fifty"),
                say("Reviewed."),
            ),
        ],
        **options,
    )
    new_repository(server.project, {"src/app.py": LONG, "README.md": "hello\n"})
    return server


async def open_changes(app: AppPage) -> str:
    await app.start("work", Mode="acceptEdits")
    await app.expect_words("Done.")
    await app.expect_rest()
    session = app.session
    await app.more("Changes")
    await expect(app.page.get_by_role("heading", name="Changes")).to_be_visible()
    return session


async def comment_on(main: Locator, line: str, text: str) -> None:
    await main.get_by_role("button", name=f"Comment on {line}", exact=True).click()
    await main.get_by_role("textbox", name=f"Comment on {line}", exact=True).fill(text)
    await main.get_by_role("button", name="Save comment").click()
    await expect(main.get_by_role("article").filter(has_text=text)).to_be_visible()


@pytest.mark.matrix(target="browser", cases=0)
async def test_U91_comments_are_written_on_lines_and_kept_across_reloads_and_devices(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    app = await visit(server)
    session = await open_changes(app)
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="app.py, modified").click()
    await comment_on(main, "line 50", "Say 50 in digits.")
    # A range, by the buttons of the form.
    await main.get_by_role("button", name="Comment on line 52", exact=True).click()
    await main.get_by_role("button", name="Add line below").click()
    field = main.get_by_role("textbox", name="Comment on lines 52–53")
    await field.fill("Half a thought")
    await app.page.reload()
    await expect(main.get_by_role("article")).to_contain_text("Say 50 in digits.")
    # What was typed and not saved is still there.
    await main.get_by_role("button", name="Comment on line 52", exact=True).click()
    await expect(main.get_by_role("textbox", name="Comment on line 52")).to_have_value(
        "Half a thought"
    )
    await app.page.keyboard.press("Escape")
    card = main.get_by_role("article").filter(has_text="Say 50")
    await card.get_by_role("button", name="Edit").click()
    await main.get_by_role("textbox", name="Comment on line 50").fill("Write 50.")
    await app.page.keyboard.press("Control+Enter")
    await expect(main.get_by_role("article")).to_contain_text("Write 50.")
    phone = await visit(server, phone=True)
    await phone.page.goto(f"{server.base}/s/{session}/changes?review=1")
    there = phone.page.get_by_role("main").get_by_role("article")
    await expect(there).to_contain_text("Write 50.")
    # A change on one device appears on the other.
    await there.get_by_role("button", name="Delete").click()
    await expect(main.get_by_role("article")).to_have_count(0)


async def test_U91_a_late_answer_closes_only_the_form_that_it_belongs_to(
    emulated: Emulated, visit: Visit
) -> None:
    async with open_cuttable_proxy(await reviewed(emulated, names=(NAME,))) as proxy:
        app = await visit(proxy.server)
        await open_changes(app)
        main = app.page.get_by_role("main")
        await main.get_by_role("button", name="app.py, modified").click()
        await main.get_by_role("button", name="Comment on line 50", exact=True).click()
        await main.get_by_role("textbox", name="Comment on line 50", exact=True).fill("Why?")
        proxy.cut()
        lost = app.page.get_by_role("status").filter(has_text="Offline. Retrying")
        await expect(lost).to_be_visible()
        await main.get_by_role("button", name="Save comment").click()
        await expect(lost).to_contain_text("1 message will be sent")
        await main.get_by_role("button", name="Comment on line 51", exact=True).click()
        second = main.get_by_role("textbox", name="Comment on line 51", exact=True)
        await second.fill("And here?")
        proxy.restore()
        await app.retry_connection()
        await expect(main.get_by_role("article").filter(has_text="Why?")).to_be_visible()
        await expect(lost).to_have_count(0)
        await expect(second).to_have_value("And here?")
        await main.get_by_role("button", name="Save comment").click()
        await expect(main.get_by_role("article").filter(has_text="And here?")).to_be_visible()
        await expect(second).to_have_count(0)


async def test_U92_a_review_is_sent_as_one_message_and_says_which_lines_changed(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    app = await visit(server)
    session = await open_changes(app)
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="app.py, modified").click()
    await comment_on(main, "line 50", "Only the word.")
    await comment_on(main, "line 53", "@README.md /clear stays text.")
    await main.get_by_role("button", name="new.py").click()
    await comment_on(main, "line 1", "Why print?")
    await main.get_by_role("button", name="Review (3)").click()
    report = Report()
    await report.look(app, "review")
    report.check()
    await main.get_by_role("textbox", name="Message above the comments").fill("Please fix these.")
    await main.get_by_role("button", name="Send 3 comments in 2 files").click()
    articles = main.get_by_role("article")
    await expect(articles.filter(has_text="Only the word.")).to_contain_text("Lines changed")
    await expect(articles.filter(has_text="stays text")).to_contain_text("Lines not changed")
    await expect(main.get_by_role("button", name="Review", exact=True)).to_be_visible()
    done = articles.filter(has_text="Only the word.")
    await done.get_by_role("button", name="Resolve").click()
    await expect(main.get_by_text("1 resolved comment")).to_be_visible()
    await app.page.goto(f"{server.base}/s/{session}")
    await app.expect_words("Reviewed.")
    await app.expect_words("Code review: 3 comments in 2 files.")
    prompt = app.transcript.get_by_text(re.compile("@README.md /clear stays text"))
    await expect(prompt.first).to_be_visible()


async def test_U93_a_review_is_written_and_sent_on_a_phone_and_by_keyboard(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    app = await visit(server, phone=True)
    await open_changes(app)
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="app.py, modified").click()
    number = main.get_by_role("button", name="Comment on line 50 (before)")
    await number.focus()
    await app.page.keyboard.press("ArrowDown")
    await expect(main.get_by_role("button", name="Comment on line 50", exact=True)).to_be_focused()
    await app.page.keyboard.press("Enter")
    await app.page.keyboard.type("By keyboard")
    await app.page.keyboard.press("Control+Enter")
    await expect(main.get_by_role("article")).to_contain_text("By keyboard")
    width = await app.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    await main.get_by_role("button", name="Review (1)").tap()
    await main.get_by_role("button", name="Send 1 comment in 1 file").tap()
    await expect(main.get_by_role("article")).to_contain_text("Lines changed")


async def test_U94_gaps_between_changes_are_filled_one_at_a_time(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    app = await visit(server)
    await open_changes(app)
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="app.py, modified").click()
    lines = main.get_by_role("region", name="Lines of src/app.py")
    above = lines.get_by_role("group", name="Lines 1 to 46 are not shown")
    await above.get_by_role("button", name="20 lines up").click()
    await expect(lines).to_contain_text("line 27")
    await expect(lines).not_to_contain_text("line 26")
    above = lines.get_by_role("group", name="Lines 1 to 26 are not shown")
    await above.get_by_role("button", name="Show 26 lines").click()
    await expect(above).to_have_count(0)
    end = lines.get_by_role("group", name="Lines 54 to 199 are not shown")
    await end.get_by_role("button", name="20 lines down").click()
    await expect(lines).to_contain_text("line 73")
    # Lines that were filled in can be commented on as well.
    await comment_on(main, "line 10", "An old line.")


async def test_U101_the_changes_are_shown_next_to_the_conversation_on_a_wide_screen(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    app = await visit(server)
    await open_changes(app)
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="app.py, modified").click()
    await main.get_by_role("button", name="Show beside conversation").click()
    beside = main.get_by_role("complementary", name="Changes")
    await expect(app.composer).to_be_visible()
    await expect(beside.get_by_role("region", name="Lines of src/app.py")).to_contain_text("fifty")
    await comment_on(beside, "line 50", "From beside.")
    await beside.get_by_role("button", name="Review (1)").click()
    await beside.get_by_role("button", name="Send 1 comment in 1 file").click()
    await app.expect_words("Reviewed.")
    await expect(beside.get_by_role("article")).to_contain_text("Lines changed")
    report = Report()
    await report.look(app, "changes beside the conversation")
    report.check()
    await beside.get_by_role("button", name="Close changes").click()
    await expect(beside).to_have_count(0)


async def test_U102_images_are_shown_side_by_side_and_renames_with_both_names(
    emulated: Emulated, visit: Visit
) -> None:
    server = await reviewed(emulated)
    (server.project / "a.png").write_bytes(PICTURE)
    commit_all(server.project)
    app = await visit(server)
    await open_changes(app)
    (server.project / "a.png").write_bytes(PICTURE + b"\0")
    (server.project / "b.png").write_bytes(PICTURE)
    git(server.project, "mv", "README.md", "GUIDE.md")
    await app.page.reload()
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="a.png, modified, binary").click()
    await expect(main.get_by_role("img", name="a.png before")).to_be_visible()
    await expect(main.get_by_role("img", name="a.png after")).to_be_visible()
    await main.get_by_role("button", name="b.png").click()
    await expect(main).to_contain_text("Not there before")
    await expect(main.get_by_role("img", name="b.png after")).to_be_visible()
    await main.get_by_role("button", name="GUIDE.md, renamed").click()
    await expect(main).to_contain_text("README.md → GUIDE.md")
    await expect(main).to_contain_text("Renamed without a change.")


async def test_U103_outside_of_git_a_file_is_compared_with_what_it_was_before_the_first_edit(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        [
            scene(
                "work",
                use("Read", file_path="a.txt"),
                use("Edit", file_path="a.txt", old_string="line 50", new_string="line fifty"),
                use("Edit", file_path="a.txt", old_string="line fifty", new_string="fifty"),
                say("Done."),
            )
        ]
    )
    path = server.project / "a.txt"
    path.write_text(LONG)
    app = await visit(server)
    await open_changes(app)
    path.write_text(path.read_text().replace("line 100\n", "by a shell command\n"))
    await app.page.reload()
    main = app.page.get_by_role("main")
    await expect(main).to_contain_text("This folder is not in a git repository")
    await main.get_by_role("button", name="a.txt, modified").click()
    lines = main.get_by_role("region", name="Lines of a.txt")
    await expect(lines).to_contain_text("by a shell command")
    await expect(lines).not_to_contain_text("line fifty")
    gap = lines.get_by_role("group", name="Lines 54 to 96 are not shown")
    await gap.get_by_role("button", name="20 lines down").click()
    await expect(lines).to_contain_text("line 73")
    await expect(lines).not_to_contain_text("line 75")
    await comment_on(main, "line 100", "By whom?")
    await expect(main.get_by_role("button", name="Review (1)")).to_be_visible()
