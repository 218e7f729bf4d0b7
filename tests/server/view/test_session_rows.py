"""The rows of the lobby: titles, the last sentence, progress, and requests that are the same."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from fairlead.permissions.rules.paths import PathContext
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.lobby_rows import InboxRow
from fairlead.server.view.pending_offers import PendingOffers
from fairlead.server.view.session_rows import (
    TITLE_CHARS,
    first_sentence,
    inbox_row,
    listed,
    refreshed,
    sentence_at_end,
    title_of,
    worked,
)
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript import Transcript
from fairlead.transcript.state.model import Pending
from tests.transcript.story import Story, calls, gives, init, prompt, result, says, system


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the flaky test. It fails once in ten runs.", "Fix the flaky test"),
        ("Why does `make test` hang? I tried twice.", "Why does `make test` hang?"),
        ("hello", "hello"),
        ("Hi. Please look at the retry queue.", "Hi. Please look at the retry queue"),
        ("Read a.py\nand then b.py", "Read a.py and then b.py"),
        ("Bump to version 2.1.325 and run the tests.", "Bump to version 2.1.325 and run the tests"),
        ("x" * 300, "x" * (TITLE_CHARS - 1) + "…"),
    ],
)
def test_B61_a_title_is_the_first_sentence_of_the_first_prompt(text: str, title: str) -> None:
    assert first_sentence(text) == title


def test_B61_the_title_of_the_cli_comes_first() -> None:
    story = Story().host(prompt("do it")).cli(init(), says("ok"), result())
    assert title_of(story.transcript) == "do it"
    story.cli(system("session_title_changed", title="Repair the queue"))
    assert title_of(story.transcript) == "Repair the queue"
    made, given = (
        SessionRow(id="s", cwd="/", title="do it"),
        SessionRow(id="s", cwd="/", title="Mine"),
    )
    assert refreshed(made, story.transcript, "running").title == "Repair the queue"
    assert refreshed(given, story.transcript, "running").title == "Mine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("I looked around. The test needs a clock.", "The test needs a clock."),
        ("Done.", "Done."),
        ("# Result\n\nAll 12 tests pass!", "# Result All 12 tests pass!"),
        ("", ""),
    ],
)
def test_B61_the_last_sentence_of_a_text(text: str, sentence: str) -> None:
    assert sentence_at_end(text) == sentence


def test_B61_a_row_says_how_far_the_session_is() -> None:
    todos = [{"content": "Dig", "status": "completed"}, {"content": "Plant", "status": "pending"}]
    story = (
        Story()
        .host(prompt("garden"))
        .cli(init(), calls("TodoWrite", input={"todos": todos}), gives(), says("Dug. Now I plant."))
    )
    row = listed(SessionRow(id="s", cwd="/"), story.transcript, live=True, branch="main")
    assert (row.tasks and (row.tasks.done, row.tasks.total)) == (1, 2)
    assert (row.last_sentence, row.finished, row.branch) == ("Now I plant.", None, "main")
    story.cli(result("done"))
    row = listed(SessionRow(id="s", cwd="/"), story.transcript, live=True)
    assert (row.finished, row.outcome) == (story.at, "success")


def test_B61_the_fields_that_the_work_changed_lead_to_the_whole_row() -> None:
    todos = [{"content": "Dig", "status": "completed"}]
    story = Story().host(prompt("garden")).cli(init())
    stored = SessionRow(id="s", cwd="/")
    before = listed(stored, story.transcript, live=True)
    assert worked(before, story.transcript, None) == {}
    story.cli(calls("TodoWrite", input={"todos": todos}), gives(), says("Dug."))
    changed = worked(before, story.transcript, "main")
    assert {"tasks", "last_sentence", "branch"} <= set(changed)
    after = listed(stored, story.transcript, live=True, branch="main", before=before)
    assert structs.replace(before, **changed) == after


def test_B61_a_stored_row_still_says_how_far_the_session_was() -> None:
    todos = [{"content": "Dig", "status": "completed"}, {"content": "Plant", "status": "pending"}]
    story = (
        Story()
        .host(prompt("garden"))
        .cli(init(), calls("TodoWrite", input={"todos": todos}), gives(), says("Dug. Now I plant."))
        .cli(result("done"))
    )
    stored = refreshed(SessionRow(id="s", cwd="/"), story.transcript, "stopped")
    row = listed(stored, None, live=False)
    assert (row.tasks and (row.tasks.done, row.tasks.total)) == (1, 2)
    assert (row.last_sentence, row.finished, row.outcome) == ("Now I plant.", story.at, "success")


def asked(tool: str = "Bash", kind: str = "permission", **given: Any) -> Pending:
    return Pending(id="r", kind=kind, tool_name=tool, input=given)


def in_inbox(request: Pending, reason: str = "") -> InboxRow:
    place = PathContext(cwd="/", home="/home/me")
    offers = PendingOffers(Transcript(), Policy(), lambda: place, Limits())
    return inbox_row("a", "A", request, reason, *offers.hashes(request))


def test_B62_requests_that_differ_only_in_their_description_are_a_group() -> None:
    first = in_inbox(asked(command="make test", description="Run tests"), "It is time.")
    same = in_inbox(asked(command="make test", description="Run the tests"))
    assert first.group == same.group != ""
    assert first.input_sha256 != same.input_sha256
    assert (first.subject, first.reason) == ("make test", "It is time.")


@pytest.mark.parametrize(
    "other",
    [
        asked(command="make test", timeout=5),
        asked(command="make tests"),
        asked("Monitor", command="make test"),
        asked(kind="question", command="make test"),
    ],
)
def test_B62_requests_that_would_do_something_else_are_no_group(other: Pending) -> None:
    assert in_inbox(asked(command="make test")).group != in_inbox(other).group
