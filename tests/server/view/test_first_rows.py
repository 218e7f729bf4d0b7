"""Of thousands of open requests clients get the first, and each later one in its turn."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.server.policy import Policy
from fairlead.server.protocol.pending_row import REQUESTS_LISTED
from fairlead.server.view.first_rows import FirstRows
from fairlead.server.view.session_view import SessionView
from fairlead.transcript.state.changes import Change, apply
from fairlead.transcript.state.facts import AnswerHeld, AnswerUndone
from tests.matrix import examples
from tests.transcript.story import Story, asks, init, withdraws


def through_json(values: Any) -> Any:
    return json.loads(msgspec.json.encode(values))


def asked(number: int) -> dict[str, Any]:
    return asks(tool_use_id=f"tool-{number}", request_id=f"r{number}")


def happen(story: Story, event: str, number: int) -> list[Change]:
    if event == "ask":
        story.cli(asked(number))
    elif event == "withdraw":
        story.cli(withdraws(f"r{number}"))
    elif event == "hold":
        story.feed(AnswerHeld(f"r{number}", "phone", "deny", 9.0))
    else:
        story.feed(AnswerUndone(f"r{number}"))
    return [change for change in story.changes if change.to == "pending"]


EVENTS = st.tuples(st.sampled_from(["ask", "ask", "withdraw", "hold", "undo"]), st.integers(0, 9))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(EVENTS, max_size=40), st.integers(1, 4))
def test_B67_changes_lead_to_the_first_rows(events: list[tuple[str, int]], count: int) -> None:
    story = Story().cli(init())
    first = FirstRows("pending", story.transcript, count)
    state: dict[str, Any] = {"pending": []}
    for event, number in events:
        before = {row["id"] for row in state["pending"]}
        changes = first.changes(happen(story, event, number))
        state = apply(state, through_json(changes))
        assert state["pending"] == through_json(story.transcript.pending[:count])
        # A request that is shown disappears only when it is over.
        still_open = {row.id for row in story.transcript.pending}
        assert before & still_open <= {row["id"] for row in state["pending"]}


def test_B67_a_client_that_answers_one_after_the_other_reaches_every_request() -> None:
    story = Story().cli(init())
    count = 3 * REQUESTS_LISTED
    story.cli(*(asked(number) for number in range(count)))
    view = SessionView(story.transcript, Policy())
    state = {"pending": through_json(view.section("pending"))}
    reached = []
    while state["pending"]:
        assert len(state["pending"]) <= REQUESTS_LISTED
        row = state["pending"][0]
        assert len(row["input_sha256"]) == 64
        reached.append(row["id"])
        story.cli(withdraws(row["id"]))
        changes = [change for change in story.changes if change.to == "pending"]
        state = apply(state, through_json(view.changes(changes)))
        assert state["pending"] == through_json(view.section("pending"))
    assert reached == [f"r{number}" for number in range(count)]
