"""Screenshots of the conversation: text, every tool card expanded, the composer and the panels."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from typing import Any

from playwright.async_api import expect

from fairlead.host.options.groups import ToolRules
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.fake_cli import FakeCliProcess
from tests.e2e.browser.sample_project import FLAKY, REPAIR
from tests.e2e.browser.screenshots import ScreenshotRun, Shoot
from tests.e2e.browser.scripts import WAIT_FOR_GO, ask, question, say, scene, spawn, think, use
from tests.e2e.real_cli.stdio_server import small_server

__all__ = ["TALK"]

WIDE = 1440
FREE = ToolRules(allowed=("Bash", "Read", "Glob", "Grep", "TaskCreate", "TaskUpdate", "Skill"))

WORDS = """## How an order is placed

An order passes **three** places, and `checkout` is the only one that may write. See
[the guide](https://example.org/guide) for the rest.

1. The basket is priced
2. The payment is taken
3. A letter goes out

| step | file | may fail |
|------|------|----------|
| price | `shop/checkout.py` | no |
| letter | `shop/mail.py` | yes, and is tried again |

```python
def checkout(cart: list[tuple[str, int]], mailbox: Mailbox) -> Order:
    order = Order(order_id=len(cart), total=sum(price for _, price in cart))
    mailbox.post("order", order)  # a thread, so the letter may be late
    return order
```

> What is posted twice is sent once.
"""


async def talk(shots: ScreenshotRun) -> None:
    """Text of every kind."""
    server = await shots.emulated(
        [
            scene("explain", think("Three places, I believe; let me be sure."), say(WORDS)),
            scene("picture", use("Read", file_path="{{cwd}}/flag.png"), say("The shop's flag.")),
            scene("slow", say("Words that came so far, and then"), {"wait": 60}, say(" no more.")),
            scene("fail", {"fail": 403, "message": "this key may not use the model"}),
            scene(None, say("You said: {{prompt}}")),
        ],
        rules=FREE,
    )
    app = await shots.visit(server)
    await app.start("explain how an order is placed")
    await app.expect_words("What is posted twice is sent once.")
    await app.expect_rest()
    await shots.keep(app, "talk-words-end")
    await app.transcript.get_by_role("button", name=re.compile("^Thought for")).click()
    await app.transcript.evaluate("node => node.scrollTo(0, 0)")
    await shots.keep(app, "talk-words")
    await app.say("picture")
    await app.expect_words("The shop's flag.")
    await app.expect_rest()
    await open_all(app)
    await shots.keep(app, "talk-picture")
    await _find_and_list(shots, app)
    await app.say("fail")
    await app.expect_words(re.compile("^The model request failed"))
    await shots.keep(app, "talk-error")
    await app.say("slow")
    await app.expect_words("Words that came so far")
    await shots.keep(app, "talk-streaming")
    for words in ("and run the tests", "then write the notes"):
        await app.say(words)
    await expect(app.page.get_by_role("region", name="Queue")).to_contain_text("notes")
    await shots.keep(app, "talk-queue")
    await app.stop_button.click()
    await app.expect_words("Stopped by you")
    await shots.keep(app, "talk-stopped")


async def _find_and_list(shots: ScreenshotRun, app: AppPage) -> None:
    await app.page.keyboard.press("Escape")
    await app.page.keyboard.press("Control+f")
    await app.page.get_by_role("searchbox", name="Find in this conversation").fill("letter")
    bar = app.page.get_by_role("search", name="Find in the conversation")
    await expect(bar.get_by_role("status")).to_have_text(re.compile(r"\d"))
    await app.page.keyboard.press("Enter")
    await shots.keep(app, "talk-find")
    await app.page.keyboard.press("Escape")
    await app.page.get_by_role("button", name="All prompts").click()
    await expect(app.page.get_by_role("dialog", name="Prompts")).to_be_visible()
    await shots.keep(app, "talk-prompts")
    await app.page.keyboard.press("Escape")


async def open_all(app: AppPage) -> None:
    """Open every card that can be opened."""
    closed = app.transcript.locator("[aria-expanded=false]:not([aria-haspopup])")
    for _ in range(60):
        if not await closed.count():
            return
        await closed.first.click()


CARDS: dict[str, tuple[dict[str, Any], ...]] = {
    "read": (
        use("Read", file_path="{{cwd}}/shop/checkout.py"),
        use("Read", file_path="{{cwd}}/nowhere.py"),
    ),
    "write": (
        use("Write", file_path="{{cwd}}/CHANGES.md", content="# Changes\n\n- The test waits.\n"),
    ),
    "bash": (
        use("Bash", command="python3 -m unittest -v tests.test_checkout", description="Test"),
        use("Bash", command="printf '\\033[32mok\\033[0m \\033[31mred\\033[0m\\n'; ls nowhere"),
    ),
    "search": (
        use("Glob", pattern="**/*.py"),
        use("Grep", pattern="mailbox", output_mode="content"),
    ),
    "notebook": (
        use("Read", file_path="{{cwd}}/notes/orders.ipynb"),
        use(
            "NotebookEdit", notebook_path="{{cwd}}/notes/orders.ipynb", cell_id="b",
            new_source="orders.groupby(orders.placed.dt.day).size()",
        ),
    ),
    "agents": (
        spawn("Look for other sleeps", use("Grep", pattern="sleep"), say("**One**, in the test.")),
    ),
    "todo": (
        use("TaskCreate", subject="Find the race", description="Read", activeForm="Reading"),
        use("TaskCreate", subject="Commit", description="With a reason", activeForm="Committing"),
        use("TaskUpdate", taskId="2", addBlockedBy=["1"]),
        use("TaskUpdate", taskId="1", status="in_progress"),
    ),
    "skill": (use("Skill", skill="release-notes"), use("mcp__mystery__look", one=1, two=["a", "b"])),
}  # fmt: skip


async def card(shots: ScreenshotRun) -> None:
    """Each tool's card, open."""
    edit = use("Edit", file_path="{{cwd}}/shop/checkout.py", old_string="len(cart)",
               new_string="next(NUMBERS)")  # fmt: skip
    read = use("Read", file_path="{{cwd}}/shop/checkout.py")
    scenes = [scene(name, *steps, say(f"The {name} is done.")) for name, steps in CARDS.items()]
    asked = ask(question("Which database?", {"label": "SQLite", "description": "one file"}, "None"))
    server = await shots.emulated(
        [scene("edit", read, edit, say("The edit is done.")), *scenes,
         scene("ask", asked, say("The ask is done."))],
        rules=ToolRules(allowed=(*FREE.allowed, "mcp__mystery__look")),
    )  # fmt: skip
    app = await shots.visit(server)
    for name in (*CARDS, "edit"):
        if not shots.target.wants_some(f"card-{name}"):
            continue
        await app.start(name, Mode="acceptEdits")
        await app.expect_words(f"The {name} is done.")
        await app.expect_rest()
        await open_all(app)
        await shots.keep(app, f"card-{name}")
        if name == "edit" and not shots.target.phone:
            await app.transcript.get_by_role("button", name="Side by side").first.click()
            await shots.keep(app, "card-edit-beside")
            await app.transcript.get_by_role("button", name="Unified").first.click()
    await app.start("ask")
    await app.decision.get_by_role("radio", name=re.compile("^SQLite")).check()
    await app.decide("Answer")
    await app.expect_words("The ask is done.")
    await open_all(app)
    await shots.keep(app, "card-question")


async def rare(shots: ScreenshotRun) -> None:
    """Cards of what the emulated agent has not: the web, a server's picture, things unknown."""
    app, cli = await shots.begin_turn("What do others do about late letters?")
    links = json.dumps([
        {"title": "Transactional outbox", "url": "https://example.org/patterns/outbox"},
        {"title": "At least once, at most twice", "url": "https://example.net/delivery"},
    ])  # fmt: skip
    await cli.used(
        "WebSearch", {"query": "transactional outbox"},
        f"Web search results for query: transactional outbox\n\nLinks: {links}\n\nTwo ways.",
    )  # fmt: skip
    await cli.used(
        "WebFetch",
        {"url": "https://example.org/patterns/outbox", "prompt": "Summarise"},
        "Write the letter into the **same transaction** as the order, and send it afterwards.",
    )
    await gave(cli, "mcp__github__search_repositories", {"query": "outbox"}, [
        {"type": "text", "text": '{"total": 2, "items": ["acme/outbox", "acme/letters"]}'},
    ])  # fmt: skip
    image = {"type": "base64", "media_type": "image/png", "data": picture()}
    await gave(cli, "mcp__plots__draw", {"what": "letters by hour"}, [
        {"type": "text", "text": "Letters by hour"}, {"type": "image", "source": image},
    ])  # fmt: skip
    await cli.line(type="telepathy", subtype="sent", thought="a message of a later CLI")
    await cli.say("Most keep an outbox.")
    await cli.finish()
    await app.expect_words("Most keep an outbox.")
    await app.expect_rest()
    await open_all(app)
    await shots.keep(app, "rare-end")
    await app.transcript.evaluate("node => node.scrollTo(0, 0)")
    await open_all(app)
    await shots.keep(app, "rare-start")


async def gave(cli: FakeCliProcess, tool: str, given: dict[str, Any], content: list[Any]) -> None:
    """A tool that gave back blocks."""
    use_id = f"toolu_{tool}"
    call = {"type": "tool_use", "id": use_id, "name": tool, "input": given}
    said = {"id": f"msg_{tool}", "role": "assistant", "content": [call], "model": "big"}
    await cli.line(type="assistant", message=said, parent_tool_use_id=None)
    result = {"type": "tool_result", "tool_use_id": use_id, "content": content}
    message = {"role": "user", "content": [result]}
    await cli.line(type="user", message=message, parent_tool_use_id=None)


def picture(width: int = 240, height: int = 120) -> str:
    """A PNG of a small bar chart, in base64."""
    ink, paper = bytes((15, 111, 104)), bytes((244, 242, 236))
    bars = (30, 55, 80, 110, 95, 60, 40, 70)

    def row(y: int) -> bytes:
        return b"\x00" + b"".join(
            ink if x % 30 > 6 and height - y < bars[x // 30 % len(bars)] else paper
            for x in range(width)
        )

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(row(y) for y in range(height)))
    png = chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + png).decode()


async def composer(shots: ScreenshotRun) -> None:
    """What is offered and attached where a person types."""
    server = await shots.emulated([scene(None, say("You said: {{prompt}}"))])
    app = await shots.visit(server)
    await app.start("hello")
    await app.expect_words("You said: hello")
    await app.expect_rest()
    await app.composer.press_sequentially("/co")
    await expect(app.page.get_by_role("listbox", name="Commands")).to_be_visible()
    await shots.keep(app, "composer-slash")
    await app.composer.fill("")
    await app.composer.press_sequentially("Look at @check")
    await expect(app.page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    await shots.keep(app, "composer-files")
    await app.composer.press("Escape")
    await app.composer.fill("Compare @README.md with @/etc/hostname and @gone.txt ")
    chips = app.page.get_by_role("group", name="What @ attaches")
    await expect(chips.get_by_role("listitem")).to_have_count(3)
    await shots.keep(app, "composer-mentions")
    await chips.get_by_label("Send as plain text").check()
    await shots.keep(app, "composer-mentions-plain")
    await app.composer.fill("What does this chart say?\nAnd is the list complete?")
    files: list[Any] = [
        {"name": "letters.png", "mimeType": "image/png", "buffer": base64.b64decode(picture())},
        {"name": "orders.csv", "mimeType": "text/csv", "buffer": b"id,total\n1,4380\n"},
    ]
    await app.page.locator("input[type=file]").set_input_files(files)
    attached = app.page.get_by_role("list", name="Attachments").get_by_role("listitem")
    await expect(attached).to_have_count(2)
    await shots.keep(app, "composer-attachments")


async def panel(shots: ScreenshotRun) -> None:
    """The details of a session that has worked."""
    full = {"input_tokens": 850_000, "output_tokens": 10}
    reply = {"blocks": [{"type": "text", "text": "That was a lot to read."}], "usage": full}
    little = {"blocks": [{"type": "text", "text": "Little so far."}]}
    script = {
        "queue": [little, reply],
        "scenes": [
            scene("repair", *REPAIR[:-2]),
            scene("background", use("Bash", command=WAIT_FOR_GO, description="Serve the shop",
                                    run_in_background=True), say("It runs.")),
            scene(None, say("You said: {{prompt}}")),
        ],
    }  # fmt: skip
    server = await shots.emulated(script, rules=FREE)
    servers = {"catalogue": small_server(server.project.parent / "log"),
               "payments": {"command": "/nowhere/payments-mcp"}}  # fmt: skip
    (server.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    app = await shots.visit(server)
    await app.start("hello", answer="Trust and start", Mode="acceptEdits")
    await app.expect_words("Little so far.")
    await app.expect_rest()
    await app.say("go on")
    await app.expect_words("That was a lot to read.")
    await shots.details(app)
    await shots.keep(app, "panel-context")
    await shots.put_away(app)
    for name in ("repair", "background"):
        await app.expect_rest()
        await app.say(name)
        await app.expect_words("I commit it." if name == "repair" else "It runs.")
    details = await shots.details(app)
    context = details.get_by_role("region", name="Context")
    await context.get_by_role("button", name="Refresh").click()
    await expect(context.get_by_role("listitem").first).to_be_visible()
    await shots.keep(app, "panel-full")
    listed = details.get_by_role("region", name="MCP servers")
    await listed.get_by_role("button", name=re.compile("^payments")).click()
    await listed.get_by_role("button", name=re.compile("^catalogue")).click()
    await details.evaluate("node => node.scrollTo(0, node.scrollHeight)")
    await shots.keep(app, "panel-servers")
    files = details.get_by_role("region", name="Changed files")
    await files.get_by_role("listitem").get_by_role("button").last.click()
    await expect(app.page.get_by_role("dialog").last).to_be_visible()
    await shots.keep(app, "panel-diff")


async def app_picture(shots: ScreenshotRun) -> None:
    """A whole session: a flaky test is fixed, and a commit needs approval."""
    await shots.past()
    server = await shots.emulated(
        [scene("once in ten", *REPAIR), scene(None, say("Which one? `tests/` has two of them."))],
        rules=ToolRules(allowed=("Bash(python3:*)", "TaskCreate", "TaskUpdate")),
    )
    app = await shots.visit(server)
    if shots.target.width == WIDE:
        await app.page.set_viewport_size({"width": WIDE, "height": 1080})  # Room for the story.
    await app.start("Fix the flaky checkout test", Mode="acceptEdits")
    await app.expect_words(re.compile("^Which one"))
    await app.expect_rest()
    await app.say(FLAKY)
    await expect(app.decision).to_contain_text("git commit")
    await expect(app.decision.get_by_role("button", name="Allow once", exact=True)).to_be_enabled()
    await shots.keep(app, "desk-decision")


TALK: dict[str, Shoot] = {
    "desk": app_picture,
    "talk": talk,
    "card": card,
    "rare": rare,
    "composer": composer,
    "panel": panel,
}
