"""The sample data of the screenshots: a small project, what an agent does in it, and its history.

`write_project` creates the project, `remember` fills a data folder with a month of sessions, and
`REPAIR` is a script in which a flaky test is found and fixed with real files and a real command.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from fairlead.emulator.script.scratch_project import make_scratch_project
from fairlead.store.log import OUT, NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import decode
from tests.e2e.browser.scripts import say, think, use

__all__ = ["FLAKY", "PAST", "REPAIR", "remember", "write_project"]

FLAKY = "The checkout test fails about once in ten runs. Find out why and fix it."

CHECKOUT = '''"""Check-out: an order, its payment and the letter that goes out."""

from __future__ import annotations

from dataclasses import dataclass

from shop.mail import Mailbox


@dataclass(frozen=True)
class Order:
    order_id: int
    total: int


def checkout(cart: list[tuple[str, int]], mailbox: Mailbox) -> Order:
    order = Order(order_id=len(cart), total=sum(price for _, price in cart))
    mailbox.post("order", order)
    return order
'''

TEST = '''"""Tests of the check-out."""

import time
import unittest

from shop.checkout import checkout
from shop.mail import Mailbox

CART = [("Tea", 480), ("Kettle", 3900)]


class CheckoutTest(unittest.TestCase):
    def test_an_order_sends_a_letter(self) -> None:
        mailbox = Mailbox()
        order = checkout(CART, mailbox)
        time.sleep(0.2)
        self.assertEqual(mailbox.count(), 1)

    def test_the_total_is_the_sum(self) -> None:
        self.assertEqual(checkout(CART, Mailbox()).total, 4380)
'''

MAIL = '''"""A mailbox that can be waited for."""

import threading


class Mailbox:
    def __init__(self) -> None:
        self._posted: list[tuple[str, object]] = []
        self._news = threading.Event()

    def post(self, kind: str, what: object) -> None:
        threading.Thread(target=self._put, args=(kind, what)).start()

    def _put(self, kind: str, what: object) -> None:
        self._posted.append((kind, what))
        self._news.set()

    def wait(self, kind: str, timeout: float) -> object:
        self._news.wait(timeout)
        return next(what for one, what in self._posted if one == kind)

    def count(self) -> int:
        return len(self._posted)
'''

NOTEBOOK = {
    "cells": [
        {"id": "a", "cell_type": "markdown", "source": "# Orders by *hour*", "metadata": {}},
        {
            "id": "b", "cell_type": "code", "metadata": {}, "outputs": [],
            "source": "orders.groupby(orders.placed.dt.hour).size()",
        },
    ],
    "metadata": {},
    "nbformat": 4,
}  # fmt: skip

SKILL = """---
name: release-notes
description: Writes the notes of a release from its commits
---
Write the notes of the release.
"""


def write_project(project: Path) -> None:
    """Make the project."""
    files = {
        "shop/__init__.py": "",
        "shop/checkout.py": CHECKOUT,
        "shop/mail.py": MAIL,
        "tests/__init__.py": "",
        "tests/test_checkout.py": TEST,
        "notes/orders.ipynb": json.dumps(NOTEBOOK),
        "pyproject.toml": '[project]\nname = "shop-api"\nversion = "2.4.0"\n',
        ".claude/skills/release-notes/SKILL.md": SKILL,
    }
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    make_scratch_project(project)


OLD = "        time.sleep(0.2)\n        self.assertEqual(mailbox.count(), 1)"
NEW = """        event = mailbox.wait("order", timeout=5)
        self.assertEqual(event.order_id, order.order_id)
        self.assertEqual(mailbox.count(), 1)"""
TEST_RUN = "python3 -m unittest -v tests.test_checkout"

REPAIR: tuple[dict[str, Any], ...] = (
    use("TaskCreate", subject="Reproduce the failure", description="Run it", activeForm="Running"),
    use("TaskCreate", subject="Find the race", description="Read", activeForm="Reading"),
    use("TaskCreate", subject="Run the tests", description="All", activeForm="Running the tests"),
    use("TaskCreate", subject="Commit", description="With a reason", activeForm="Committing"),
    use("TaskUpdate", taskId="4", addBlockedBy=["3"]),
    use("TaskUpdate", taskId="1", status="completed"),
    use("TaskUpdate", taskId="2", status="completed"),
    use("TaskUpdate", taskId="3", status="in_progress"),
    think("The letter is posted by a thread. The test sleeps 200 ms and hopes that was enough."),
    say(
        "The test waits for the order's letter with a fixed **200 ms sleep**. On a loaded machine "
        "the worker needs longer. `Mailbox.wait` tells when the letter is there, so I wait for the "
        "event instead."
    ),
    use("Read", file_path="{{cwd}}/tests/test_checkout.py"),
    use("Edit", file_path="{{cwd}}/tests/test_checkout.py", old_string=OLD, new_string=NEW),
    use("Bash", command=TEST_RUN, description="Run the check-out tests"),
    say("Green, and no longer by luck. I commit it."),
    use(
        "Bash",
        command='git commit -am "Wait for the order event instead of sleeping"',
        description="Commit the fix",
    ),
    say("Committed."),
)

PAST = (
    ("Why is the basket slow?", "shop-api", "claude-sonnet-4-5", 0.93, 0),
    ("Port billing to async", "billing", "claude-opus-4-6", 1.87, 0),
    ("Explain the retry queue", "billing", "claude-haiku-4-5", 0.11, 0),
    ("Upgrade Svelte to 5.57", "web", "claude-sonnet-4-5", 0.42, 1),
    ("Migrate to PostgreSQL 17", "infra", "claude-opus-4-6", 3.64, 3),
    ("Fix the search", "shop-api", "claude-sonnet-4-5", 0.64, 5),
    ("Write the notes of 2.4", "shop-api", "claude-haiku-4-5", 0.07, 6),
    ("Retry payments that time out", "billing", "claude-opus-4-6", 2.21, 8),
    ("Find dead code", "web", "claude-sonnet-4-5", 0.58, 12),
    ("Tidy the fixtures", "shop-api", "claude-sonnet-4-5", 0.31, 13),
    ("Add a sitemap", "web", "claude-haiku-4-5", 0.05, 19),
    ("Rotate the keys", "infra", "claude-opus-4-6", 1.12, 24),
)
"""Title, project, model, dollars, and how many days ago."""


async def remember(data: Path, beside: Path) -> None:
    """Fill a data folder with sessions of the last month."""
    now = time.time()
    async with SqliteStore(data) as store:
        for number, (title, project, model, dollars, days) in enumerate(PAST):
            session = f"0f0f0f0f-0000-4000-8000-{number:012}"
            at = now - days * 86_400 - 3_600 - number * 900
            lines = _lines(title, model, dollars)
            events = [NewEvent(OUT, line, at + n * 20) for n, line in enumerate(lines)]
            transcript = Transcript()
            for event in events:
                transcript.feed(decode(event.line), event.at)
            cwd = str(beside / project)
            await store.append(session, events)
            row = SessionRow(
                id=session, cwd=cwd, title=title, model=model, cost_usd=dollars, created=at,
                last_activity=at + 60, items=2,
            )  # fmt: skip
            await store.put_session(row)
            await store.index_items(session, transcript.items, project=cwd)


def _lines(title: str, model: str, dollars: float) -> list[bytes]:
    """One turn as a CLI writes it."""
    about = {"session_id": "past", "uuid": ""}
    tokens = int(dollars * 20_000)
    usage = {
        "inputTokens": tokens, "outputTokens": tokens // 3, "cacheReadInputTokens": tokens * 8,
        "cacheCreationInputTokens": tokens * 2, "costUSD": dollars,
    }  # fmt: skip
    said = {"id": f"m-{title}", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": f"{title}: done, and the tests agree."}]}  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"type": "user", "parent_tool_use_id": None,
         "message": {"role": "user", "content": f"{title}, please."}},
        {"type": "assistant", "parent_tool_use_id": None, "message": said},
        {"type": "result", "subtype": "success", "is_error": False, "result": "done",
         "total_cost_usd": dollars, "num_turns": 4, "duration_ms": 61_000,
         "modelUsage": {model: usage}},
    ]  # fmt: skip
    return [
        json.dumps({**line, **about, "uuid": f"{title}-{n}"}).encode()
        for n, line in enumerate(lines)
    ]
