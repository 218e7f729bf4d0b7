"""Pictures of what a session changed: its changes, a review, git, and the project's files."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.screenshots import ScreenshotRun, Shoot
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import git, new_repository

__all__ = ["CHANGES", "flag"]

DONE = "Every order has its own number now."
EDITS = (
    use("Edit", file_path="shop/checkout.py", old_string="order_id=len(cart)", new_string="order_id=next(NUMBERS)"),
    use("Edit", file_path="shop/checkout.py", old_string="from shop.mail import Mailbox", new_string="from shop.mail import Mailbox\nfrom shop.numbers import NUMBERS"),
    use("Write", file_path="shop/numbers.py", content="from itertools import count\n\nNUMBERS = count(1)\n"),
    say(f"{DONE} See `shop/numbers.py:3`."),
)  # fmt: skip
README = """# Shop

The **orders** of the shop, their payment and their letters.

| folder | what it has |
|---|---|
| `shop` | the check-out and the mailbox |
| `tests` | what must stay true |

1. Install it with `pip install -e .`
2. Run `python -m unittest`

```python
checkout([("Tea", 480)], Mailbox())
```
"""
REVIEWED = scene(
    "Code review",
    use("Edit", file_path="shop/numbers.py", old_string="count(1)", new_string="count(1000)"),
    say("Orders begin at 1000 now."),
)


def flag(stripes: tuple[tuple[int, int, int], ...], width: int = 240, height: int = 160) -> bytes:
    """A PNG with horizontal stripes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(
        b"\0" + bytes(stripes[row * len(stripes) // height]) * width for row in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data)
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    )


def _repository(project: Path) -> None:
    """The shop as a repository that knows a flag, a page and a list of prices."""
    (project / "README.md").write_text(README)
    (project / "flag.png").write_bytes(flag(((176, 48, 48), (240, 240, 240))))
    (project / "prices.csv").write_text("".join(f"tea {n},{n * 3}\n" for n in range(1, 400)))
    (project / "notes" / "guide.md").write_text("# Guide\n\nHow to pack a kettle.\n")
    new_repository(project, {"shop/prices.py": "PRICES = {}\n"})
    git(project, "config", "user.name", "Ada")
    git(project, "config", "user.email", "ada@example.org")


async def _worked(shots: ScreenshotRun) -> tuple[AppPage, AppServer]:
    """A session that changed files of every kind."""
    server = await shots.emulated([REVIEWED, scene(None, *EDITS)])
    _repository(server.project)
    app = await shots.visit(server)
    await app.start("Give every order its own number", Mode="acceptEdits")
    await app.expect_words(DONE)
    await app.expect_rest()
    project = server.project
    (project / "flag.png").write_bytes(flag(((48, 96, 176), (240, 240, 240), (48, 96, 176))))
    prices = project / "prices.csv"
    prices.write_text(
        prices.read_text().replace("tea 40,120", "tea 40,125").replace("tea 300,900", "tea 300,905")
    )
    git(project, "mv", "notes/guide.md", "notes/packing.md")
    (project / "shop" / "prices.py").unlink()
    return app, server


async def _open(app: AppPage, name: str) -> Locator:
    """Open a file in the list of changes; on a phone, leave the one that is open first."""
    back = app.page.get_by_role("button", name="Back to the files")
    if await back.first.is_visible():
        await back.first.click()
    files = app.page.get_by_role("navigation", name="Changed files")
    await files.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).click()
    return app.page.get_by_role("region", name=re.compile("^Lines of"))


async def changes(shots: ScreenshotRun) -> None:
    """The changes of a session in a repository."""
    app, _ = await _worked(shots)
    await app.more("Changes")
    files = app.page.get_by_role("navigation", name="Changed files")
    await expect(files.get_by_role("button", name=re.compile("^checkout.py"))).to_be_visible()
    await shots.keep(app, "changes-list")
    lines = await _open(app, "checkout.py")
    await expect(lines).to_contain_text("NUMBERS")
    await shots.keep(app, "changes-file")
    beside = app.page.get_by_role("button", name="Side by side")
    if await beside.is_visible():
        await beside.click()
        await shots.keep(app, "changes-side-by-side")
        await app.page.get_by_role("button", name="Unified").click()
    lines = await _open(app, "prices.csv")
    await lines.get_by_role("button", name=re.compile("20 lines")).first.click()
    await expect(lines).to_contain_text("tea 63,")
    await shots.keep(app, "changes-gap")
    await _open(app, "flag.png")
    await expect(app.page.get_by_role("img", name="flag.png after")).to_be_visible()
    await shots.keep(app, "changes-image")
    await _open(app, "packing.md")
    await shots.keep(app, "changes-rename")
    if shots.target.phone:
        await app.page.get_by_role("button", name="Back to the files").click()
    await app.page.get_by_role("combobox", name="Since").click()
    await shots.keep(app, "changes-since")
    await app.page.locator('[role=option][data-value="turn"]').click()
    await expect(files.get_by_role("button", name=re.compile("^numbers.py"))).to_be_visible()
    await shots.keep(app, "changes-turn")
    show = app.page.get_by_role("button", name="Show beside conversation")
    if await show.is_visible():
        await _open(app, "checkout.py")
        await show.click()
        aside = app.page.get_by_role("complementary", name="Changes")
        await expect(aside).to_contain_text("NUMBERS")
        await shots.keep(app, "changes-beside")


async def review(shots: ScreenshotRun) -> None:
    """Comments on lines, and a review that was sent."""
    app, _ = await _worked(shots)
    await app.more("Changes")
    main = app.page.get_by_role("main")
    await _open(app, "checkout.py")
    await main.get_by_role("button", name="Comment on line 19", exact=True).click()
    await main.get_by_role("button", name="Add line below").click()
    await main.get_by_role("textbox", name=re.compile("^Comment on lines")).fill(
        "Post the letter only after the payment was taken."
    )
    await shots.keep(app, "review-form")
    await main.get_by_role("button", name="Save comment").click()
    await expect(main.get_by_role("article")).to_contain_text("Post the letter")
    await shots.keep(app, "review-comment")
    await _open(app, "numbers.py")
    await main.get_by_role("button", name="Comment on line 3", exact=True).click()
    await main.get_by_role("textbox", name="Comment on line 3").fill("Begin at 1000.")
    await main.get_by_role("button", name="Save comment").click()
    await main.get_by_role("button", name="Review (2)").click()
    await expect(main.get_by_role("button", name="Send 2 comments in 2 files")).to_be_visible()
    await shots.keep(app, "review-drafts")
    await main.get_by_role("button", name="Send 2 comments in 2 files").click()
    await expect(main.get_by_role("article").filter(has_text="Begin at")).to_contain_text(
        "Lines changed"
    )
    await shots.keep(app, "review-sent")
    await app.page.get_by_role("link", name="Conversation").click()
    await app.expect_words("Orders begin at 1000 now.")
    await shots.keep(app, "review-talk")


async def git_page(shots: ScreenshotRun) -> None:
    """What is staged, hunks, a commit and a discard."""
    app, server = await _worked(shots)
    hook = server.project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'prices.csv: a price has no cents' >&2\nexit 1\n")
    hook.chmod(0o755)
    await app.more("Git")
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="Stage shop/checkout.py").click()
    staged = main.get_by_role("region", name="Staged", exact=True)
    await expect(staged.get_by_role("button", name="Unstage shop/checkout.py")).to_be_visible()
    await main.get_by_role("textbox", name="Commit message").fill("Number the orders")
    await shots.keep(app, "git-state")
    await main.get_by_role("button", name=re.compile("^prices.csv modified")).click()
    await expect(main.get_by_role("region", name="Hunk 2")).to_be_visible()
    await shots.keep(app, "git-hunks")
    await main.get_by_role("region", name="Hunk 1").get_by_role("button", name="Discard").click()
    dialog = app.page.get_by_role("dialog", name="Discard hunk")
    await expect(dialog).to_be_visible()
    await shots.keep(app, "git-discard-hunk")
    await app.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    back = main.get_by_role("button", name=re.compile("^Back to the files"))
    if await back.first.is_visible():
        await back.first.click()
    await main.get_by_role("button", name="Discard changes to shop/numbers.py").click()
    await expect(app.page.get_by_role("dialog", name="Discard changes")).to_be_visible()
    await shots.keep(app, "git-discard")
    await app.page.keyboard.press("Escape")
    await main.get_by_role("button", name=re.compile("^Commit [0-9]")).click()
    await expect(app.page.get_by_text("a price has no cents")).to_be_visible()
    await shots.keep(app, "git-hook-failed")


async def files(shots: ScreenshotRun) -> None:
    """The project's files: text, Markdown, an image, and a search."""
    app, server = await _worked(shots)
    session = app.session
    main = app.page.get_by_role("main")
    address = f"{server.base}/s/{session}/files"
    await app.page.goto(address)
    await expect(main.get_by_role("button", name="README.md")).to_be_visible()
    await shots.keep(app, "files-tree")
    for path, name in (
        ("README.md", "files-markdown"),
        ("flag.png", "files-image"),
        ("shop%2Fcheckout.py&line=18", "files-line"),
    ):
        await app.page.goto(f"{address}?path={path}")
        shown = main.get_by_role("heading", name="Shop").or_(
            main.get_by_role("img", name="flag.png")
        ).or_(main.get_by_role("button", name="Comment on line 18", exact=True))  # fmt: skip
        await expect(shown.first).to_be_visible()
        await shots.keep(app, name)
    await app.page.goto(address)
    await main.get_by_role("searchbox", name="Search in files").fill("mailbox")
    await app.page.keyboard.press("Enter")
    await expect(main.get_by_role("status").filter(has_text="lines in")).to_be_visible()
    await shots.keep(app, "files-search")
    await main.get_by_role("searchbox", name="Search in files").fill("zebra crossing")
    await app.page.keyboard.press("Enter")
    await expect(
        main.get_by_role("status").filter(has_text=re.compile("^(0 lines|No )"))
    ).to_be_visible()
    await shots.keep(app, "files-search-nothing")


async def outside(shots: ScreenshotRun) -> None:
    """The changes of a session in a folder without a repository."""
    server = await shots.emulated([scene(None, use("Read", file_path="shop/checkout.py"), *EDITS)])
    app = await shots.visit(server)
    await app.start("Give every order its own number", Mode="acceptEdits")
    await app.expect_words(DONE)
    await app.expect_rest()
    await app.more("Changes")
    await _open(app, "checkout.py")
    await expect(app.page.get_by_role("main")).to_contain_text("NUMBERS")
    await shots.keep(app, "outside-file")


CHANGES: dict[str, Shoot] = {
    "changes": changes,
    "review": review,
    "git": git_page,
    "files": files,
    "outside": outside,
}
