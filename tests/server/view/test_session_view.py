"""A session as its clients see it: the same by a snapshot and by changes, and never too long."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.messages import Page, Snapshot
from fairlead.server.view.list_window import BoundedList
from fairlead.server.view.previews import Previews, shortened
from fairlead.server.view.session_view import SessionView
from fairlead.transcript import Transcript
from fairlead.transcript.state.changes import Append, Change, apply, units
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.state.model import PromptItem, ToolItem
from tests.matrix import examples
from tests.transcript.recordings import all_streams, stream
from tests.transcript.story import (
    Story,
    asks,
    block_start,
    calls,
    delta,
    gives,
    init,
    message_start,
    prompt,
    result,
    says,
    tool_use,
)

LAW = settings(max_examples=examples(60), deadline=None)
SMALL = Limits(
    preview_chars=40, secondary_chars=10, turns_shown=2, settled_shown=2, tasks_shown=2,
    background_shown=2, files_shown=2,
)  # fmt: skip
MEGABYTES = 10 * 1024 * 1024


def seen(source: SessionView) -> dict[str, Any]:
    """The document of a source as a client with all items has it."""
    sections = {name: source.section(name) for name in source.sections}
    items = [source.item(each) for each in source.transcript.item_ids]
    values: dict[str, Any] = json.loads(msgspec.json.encode({**sections, "items": items}))
    return values


def through_json(changes: Any) -> Any:
    return json.loads(msgspec.json.encode(list(changes)))


def source_of(story: Story, limits: Limits | None = None) -> SessionView:
    return SessionView(story.transcript, Policy(), limits)


def long_story(turns: int) -> Story:
    story = Story()
    for number in range(turns):
        message = f"msg-{number}"
        story.host(prompt(f"ask {number}"))
        story.cli(init(), says(f"answer {number}", message), result("ok"))
    return story


STREAMS = [tuple(name.rsplit("/", 1)) for name in all_streams()]
"""The version of the CLI and the scenario of every recording."""


@pytest.mark.matrix(target="conformance")
@pytest.mark.parametrize(("version", "scenario"), STREAMS)
def test_B36_changes_lead_to_what_a_snapshot_holds(version: str, scenario: str) -> None:
    transcript = Transcript()
    source = SessionView(transcript, Policy(), SMALL)
    state = seen(source)
    for fed, at in stream(f"{version}/{scenario}"):
        state = apply(state, through_json(source.changes(transcript.feed(fed, at))))
    assert state == seen(source)


@pytest.mark.matrix(target="conformance")
@pytest.mark.parametrize(("version", "scenario"), STREAMS)
def test_B132_what_is_cut_for_clients_leaves_merged_changes_merged(
    version: str, scenario: str
) -> None:
    transcript = Transcript()
    source = SessionView(transcript, Policy(), SMALL)
    events = stream(f"{version}/{scenario}")
    for start in range(0, len(events), 5):
        for batch in (events[start : start + 1], events[start + 1 : start + 5]):
            shown = source.changes(coalesce(transcript.feed_all(batch)))
            assert tuple(shown) == coalesce(shown)


@LAW
@given(
    st.sampled_from(all_streams()),
    st.integers(1, 5),
    st.integers(1, 200),
    st.integers(0, 400),
    st.booleans(),
)
def test_B36_changes_lead_to_the_snapshot_with_any_limits_and_from_any_moment(
    name: str, block: int, letters: int, k: int, kept: bool
) -> None:
    limits = Limits(
        preview_chars=letters, secondary_chars=letters // 2, turns_shown=block,
        settled_shown=block, tasks_shown=block, background_shown=block, files_shown=block,
    )  # fmt: skip
    told = stream(name)
    transcript = Transcript()
    for fed, at in told[:k]:
        transcript.feed(fed, at)
    if kept:
        transcript = Transcript.restored(tuple(transcript.checkpoint().parts()))
    source = SessionView(transcript, Policy(), limits)
    state = seen(source)
    for fed, at in told[k:]:
        state = apply(state, through_json(source.changes(transcript.feed(fed, at))))
    assert state == seen(source)


def test_B36_a_session_of_many_turns_shows_the_last_of_them() -> None:
    story = long_story(450)
    found = seen(source_of(story))
    assert len(found["turns"]) == 150
    assert found["turns"][-1]["id"] == story.turns()[-1].id
    assert len(found["items"]) == 900


def test_B36_what_a_snapshot_sends_does_not_grow_with_the_session() -> None:
    sizes = []
    for turns in (250, 950):
        story = long_story(turns)
        hub = Hub()
        hub.attach("s", source_of(story), seq=1, epoch="e", item_ids=story.transcript.item_ids)
        (snapshot,) = hub.subscribe("me", "s", window=50)
        assert isinstance(snapshot, Snapshot)
        sizes.append(len(msgspec.json.encode(snapshot)))
    assert abs(sizes[0] - sizes[1]) < sizes[0] * 0.1


def test_B36_a_page_brings_the_turns_that_are_too_old_to_be_shown() -> None:
    story = long_story(450)
    source = source_of(story)
    hub = Hub()
    ids = story.transcript.item_ids
    hub.attach("s", source, seq=1, epoch="e", item_ids=ids, beside=source.turns_of)
    hub.subscribe("me", "s", window=200)
    pages: list[Page] = []
    for _ in range(4):
        oldest = pages[-1].items[0] if pages else None
        before = json.loads(bytes(oldest))["id"] if oldest is not None else ids[-200]
        (page,) = hub.fetch("me", "s", before, 200, 0.0)
        assert isinstance(page, Page)
        pages.append(page)
    first, *_, last = (json.loads(msgspec.json.encode(page.turns)) for page in pages)
    assert [turn["id"] for turn in first] == [turn.id for turn in story.turns()[250:300]]
    assert [turn["id"] for turn in last] == [turn.id for turn in story.turns()[:50]]
    assert last[0]["outcome"] == "success"


def test_B37_a_huge_result_is_sent_by_its_beginning() -> None:
    story = Story().cli(init(), calls())
    source = source_of(story)
    before = seen(source)
    story.cli(gives("y" * MEGABYTES))
    changes = through_json(source.changes(story.changes))
    assert len(json.dumps(changes)) < 100_000
    state = apply(before, changes)
    assert state == seen(source)
    (tool,) = (item for item in state["items"] if item["kind"] == "tool")
    assert tool["cut"]["result"] == MEGABYTES
    assert tool["result"] == "y" * Limits().preview_chars
    assert len(story.tool().result or "") == MEGABYTES


def test_B37_a_huge_input_is_cut_inside_and_keeps_its_names() -> None:
    asked = {"file_path": "/a", "content": "x" * MEGABYTES, "mode": "w"}
    story = Story().cli(init(), calls("Write", input=asked))
    (tool,) = (each for each in seen(source_of(story))["items"] if each["kind"] == "tool")
    assert tool["input"]["file_path"] == "/a"
    assert len(tool["input"]["content"]) < 2 * Limits().preview_chars
    assert list(tool["input"]) == list(asked)
    assert tool["cut"]["input"] > MEGABYTES


def test_B37_a_text_that_grows_too_long_stops_growing_for_clients() -> None:
    story = Story().cli(init(), message_start(), block_start())
    source = source_of(story, Limits(preview_chars=20))
    state = seen(source)
    for word in ("one ", "two ", "three ", "fo\U0001f680ur ", "five ", "six"):
        story.cli(delta(word))
        state = apply(state, through_json(source.changes(story.changes)))
        assert state == seen(source)
    text = state["items"][-1]
    assert (
        text["text"] == "one two three fo\U0001f680ur"[: units("one two three fo\U0001f680ur") - 1]
    )
    assert text["cut"] == {"text": units("one two three fo\U0001f680ur five six")}


def test_B37_a_streamed_input_that_was_too_long_is_whole_again_when_it_is_short() -> None:
    story = Story().cli(init(), message_start(), block_start(tool_use("tool-1", "Bash", {})))
    source = source_of(story, Limits(preview_chars=10))
    state = seen(source)
    for change in ('{"a": "', "x" * 50):
        line = delta("")
        line["event"]["delta"] = {"type": "input_json_delta", "partial_json": change}
        story.cli(line)
        state = apply(state, through_json(source.changes(story.changes)))
    assert state["items"][-1]["cut"] == {"input_text": 57}
    story.cli(calls(input={"a": 1}))
    state = apply(state, through_json(source.changes(story.changes)))
    assert (state["items"][-1]["cut"], state["items"][-1]["input_text"]) == ({}, "")
    assert state == seen(source)


def test_B37_what_is_asked_about_is_shown_whole() -> None:
    asked = {"file_path": "/a", "content": "x" * MEGABYTES}
    story = Story().cli(init(), calls("Write", input=asked), asks("Write", input=asked))
    (request,) = seen(source_of(story))["pending"]
    assert request["input"] == asked


def test_B37_a_prompt_is_whole_because_it_can_be_edited() -> None:
    row = PromptItem(id="p", text="x" * 1_000, state="held")
    assert Previews(10).row(row) is row


def test_B37_a_picture_is_whole_because_half_of_one_is_none() -> None:
    row = ToolItem(id="t", images=({"data": "x" * 1_000},))
    assert Previews(10).row(row) is row


@LAW
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=40,
    ),
    st.integers(0, 100),
)
def test_B37_a_beginning_has_the_form_of_the_whole(value: Any, room: int) -> None:
    kept = shortened(value, room)
    assert type(kept) is type(value)
    if isinstance(value, str):
        assert value.startswith(kept)
        assert units(kept) <= room
    if isinstance(value, dict):
        assert list(kept) == list(value)[: len(kept)]
    assert shortened(value, 10**9) == value


def test_the_words_of_a_stream_go_out_as_they_are() -> None:
    source = source_of(Story())
    changes: list[Change] = [Append("items", "x", "text", 0, "word")]
    assert source.changes(changes) is changes


class _Numbers:
    """A list of rows that are their own ids."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def count(self, section: str) -> int:
        return len(self.ids)

    def last_ids(self, section: str, count: int) -> tuple[str, ...]:
        return tuple(self.ids[len(self.ids) - count :])

    def last(self, section: str, count: int) -> tuple[Any, ...]:
        return tuple({"id": each} for each in self.last_ids(section, count))


@pytest.mark.parametrize(
    ("count", "shown"), [(0, 0), (9, 9), (10, 10), (19, 19), (20, 10), (29, 19), (30, 10)]
)
def test_B36_what_is_shown_depends_only_on_how_many_there_are(count: int, shown: int) -> None:
    rows = _Numbers()
    rows.ids = [str(number) for number in range(count)]
    assert len(BoundedList("turns", rows, 10).rows()) == shown
