"""The laws of the fold, over every recording and over whatever hypothesis makes of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairlead.transcript import Transcript, apply
from fairlead.transcript.reduce import FROM_CLI, Fed, step
from fairlead.transcript.reducers.status import STATES
from fairlead.transcript.state.changes import Append
from fairlead.transcript.state.facts import ProcessExited
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import FINAL_TOOL_STATES
from fairlead.transcript.transcript import reduce
from fairlead.wire.control import ControlResponse
from fairlead.wire.decode import decode, decode_object
from fairlead.wire.encode import decode_input
from fairlead.wire.events import Assistant, Result, StreamEvent
from fairlead.wire.inputs import Request
from fairlead.wire.json_text import write
from tests.matrix import examples
from tests.transcript.recordings import all_streams, fold, plain, stream
from tests.transcript.story import Story, block_start, calls, delta, init, message_start
from tests.wire.strategies import almost_messages, damaged_recordings, json_values

LAW = settings(max_examples=examples(60), deadline=None)

Told = tuple[Fed, float]


def through_json(changes: Any) -> Any:
    return json.loads(msgspec.json.encode(changes))


def is_line(fed: Fed) -> bool:
    return type(fed) in FROM_CLI


def without_last_event(transcript: Transcript) -> dict[str, Any]:
    values = plain(transcript)
    del values["status"]["last_event"]
    return values


names = st.sampled_from(all_streams())


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T11_each_step_of_every_recording_is_exactly_its_changes(version: str) -> None:
    folded = 0
    for name in all_streams():
        if version not in name.split("/"):
            continue
        transcript = Transcript()
        before = plain(transcript)
        for fed, at in stream(name):
            changes = through_json(transcript.feed(fed, at))
            before = apply(before, changes)
        assert before == plain(transcript), name
        folded += 1
    assert folded >= 20


@LAW
@given(names, st.data())
def test_T11_a_snapshot_and_all_changes_after_it_are_the_last_snapshot(
    name: str, data: st.DataObject
) -> None:
    timeline = stream(name)
    k = data.draw(st.integers(0, len(timeline)))
    transcript = fold(timeline[:k])
    snapshot = plain(transcript)
    changes = [through_json(transcript.feed(fed, at)) for fed, at in timeline[k:]]
    assert apply(snapshot, [entry for batch in changes for entry in batch]) == plain(transcript)


@LAW
@given(names, st.randoms(use_true_random=False))
def test_T11_changes_lead_to_the_last_snapshot_though_lines_came_in_any_order(
    name: str, random: Any
) -> None:
    timeline = list(stream(name))
    random.shuffle(timeline)
    transcript = Transcript()
    snapshot = plain(transcript)
    for fed, at in timeline:
        snapshot = apply(snapshot, through_json(transcript.feed(fed, at)))
    assert snapshot == plain(transcript)


@LAW
@given(names, st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=30))
def test_T11_the_state_depends_neither_on_batches_nor_on_whether_changes_are_made(
    name: str, batches: list[tuple[int, bool]]
) -> None:
    timeline = stream(name)
    transcript, one_by_one = Transcript(), Transcript()
    place = 0
    for size, observed in [*batches, (len(timeline) or 1, True)]:
        batch = [(fed, timeline[place][1]) for fed, _ in timeline[place : place + size]]
        place += size
        for fed, at in batch:
            one_by_one.feed(fed, at)
        if observed:
            before = plain(transcript)
            assert apply(before, through_json(transcript.feed_all(batch))) == plain(transcript)
        elif batch:
            transcript.take([fed for fed, _ in batch], batch[0][1])
    assert write(plain(transcript)) == write(plain(one_by_one))


def test_T11_a_text_that_grew_unobserved_continues_at_its_end() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("one 🙂 "))
    story.transcript.take([decode_object(delta("two ")), decode_object(delta("three "))], story.at)
    (change,) = story.transcript.feed(decode_object(delta("four")), story.at)
    assert isinstance(change, Append)
    assert change.offset == len("one 🙂 two three ") + 1
    assert story.item("msg-1/0").text == "one 🙂 two three four"


@pytest.mark.parametrize(
    ("old", "new"), [(1, True), (0, 0.0), ([1], [True]), ({"a": 1}, {"a": 1.0})]
)
def test_T11_values_that_differ_only_in_json_are_a_change(old: Any, new: Any) -> None:
    story = Story().cli(calls(input=old))
    fold = story.transcript._fold
    changes: list[Any] = []
    fold.changes = changes
    fold.set("items", "tool-1", input=new)
    fold.set("items", "tool-1", input=new)
    assert [write(change.fields) for change in changes] == [write({"input": new})]
    assert write(story.tool().input) == write(new)


@LAW
@given(names, st.data())
def test_T12_a_line_that_came_before_changes_nothing(name: str, data: st.DataObject) -> None:
    timeline = stream(name)
    k = data.draw(st.integers(0, len(timeline)))
    reused = _reused_request_ids(timeline)
    again = [
        (fed, at)
        for fed, at in timeline[:k]
        if is_line(fed) and _can_be_told_again(fed) and _answers(fed) not in reused
    ]
    if not again:
        return
    fed, _ = data.draw(st.sampled_from(again))
    transcript = fold(timeline[:k])
    before = without_last_event(transcript)
    transcript.feed(fed, timeline[k - 1][1])
    assert without_last_event(transcript) == before


def _reused_request_ids(timeline: Sequence[tuple[Any, float]]) -> set[str]:
    """Request ids that the host of a recording used twice (2.1.29/set_model).

    The answer to the first request is also a valid answer to the second one while that is open,
    so a repeated line is not a duplicate there.
    """
    asked = Counter(fed.request_id for fed, _ in timeline if isinstance(fed, Request))
    return {request_id for request_id, count in asked.items() if count > 1}


def _answers(fed: Any) -> str | None:
    """The id of the request that a line answers, if it answers one."""
    return fed.response.request_id if isinstance(fed, ControlResponse) else None


def _can_be_told_again(fed: Any) -> bool:
    """Lines with an id; a delta has one that is not used, because it is never repeated."""
    if isinstance(fed, StreamEvent):
        return False
    return bool(getattr(fed, "uuid", None)) or type(fed).__name__.startswith("Control")


@LAW
@given(names)
def test_T12_a_stream_in_which_every_line_comes_twice_ends_the_same(name: str) -> None:
    timeline = stream(name)
    twice = [
        entry
        for fed, at in timeline
        for entry in ([(fed, at)] * (2 if is_line(fed) and _can_be_told_again(fed) else 1))
    ]
    assert plain(fold(twice)) == plain(fold(timeline))


@pytest.mark.parametrize("name", [entry for entry in all_streams() if "sessions/" in entry])
def test_T13_without_its_stream_events_a_session_ends_the_same(name: str) -> None:
    timeline = stream(name)
    partial = [event for event in timeline if isinstance(event[0], StreamEvent)]
    assert partial
    assert plain(fold(event for event in timeline if event not in partial)) == plain(fold(timeline))


def _repeated(fed: Sequence[tuple[Any, float]]) -> set[int]:
    """The positions of stream events whose text a finished line repeats later.

    A process that is killed in the middle of a block leaves only its stream events.
    """
    message: dict[str | None, str] = {}
    events: dict[str, list[int]] = {}
    repeated: set[int] = set()
    for number, (value, *_) in enumerate(fed):
        if isinstance(value, StreamEvent):
            started = msgspec.to_builtins(value.event).get("message")
            if isinstance(started, dict):
                message[value.parent_tool_use_id] = started.get("id", "")
            events.setdefault(message.get(value.parent_tool_use_id, ""), []).append(number)
        elif isinstance(value, Assistant):
            repeated |= set(events.get(value.message.id, ()))
    return repeated


@LAW
@given(names, st.sets(st.integers(0, 400)))
@example("2.1.38/sig_int", {3})
def test_T13_the_end_does_not_depend_on_which_deltas_were_seen(name: str, lost: set[int]) -> None:
    timeline = stream(name)
    lost = lost & _repeated(timeline)
    some = [each for number, each in enumerate(timeline) if number not in lost]
    assert plain(fold(some)) == plain(fold(timeline))


@LAW
@given(names)
def test_T14_after_a_result_each_tool_is_over_or_in_the_background(name: str) -> None:
    transcript = Transcript()
    for fed, at in stream(name):
        transcript.feed(fed, at)
        if isinstance(fed, Result):
            _assert_tools_are_over(transcript)


def _assert_tools_are_over(transcript: Transcript) -> None:
    running = {
        entry.tool for entry in transcript.background if entry.state in ("running", "paused")
    }
    for item in plain(transcript)["items"]:
        if item["kind"] == "tool" and item["state"] not in FINAL_TOOL_STATES:
            assert item["id"] in running or item["parent"] in running


@LAW
@given(names, st.randoms(use_true_random=False))
def test_T15_each_request_leaves_pending_once_whatever_the_order(name: str, random: Any) -> None:
    timeline = list(stream(name))
    random.shuffle(timeline)
    transcript = Transcript()
    asked: set[str] = set()
    for fed, at in [*timeline, (ProcessExited(returncode=0), 99.0)]:
        transcript.feed(fed, at)
        asked |= {request.id for request in transcript.pending}
        open_now = {request.id for request in transcript.pending}
        assert not open_now & {request.id for request in transcript.settled}
    ended = [request.id for request in transcript.settled]
    assert transcript.pending == ()
    assert len(ended) == len(set(ended))
    assert asked <= set(ended)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(almost_messages() | damaged_recordings() | json_values(), max_size=12))
def test_T16_reducing_never_raises_whatever_the_lines_hold(values: list[Any]) -> None:
    transcript = Transcript()
    snapshot = plain(transcript)
    for number, value in enumerate(values):
        changes = transcript.feed(decode_object(value), float(number))
        snapshot = apply(snapshot, through_json(changes))
    transcript.feed(ProcessExited(returncode=1), float(len(values)))
    assert transcript.status.state in STATES


@settings(max_examples=examples(80), deadline=None)
@given(names, st.lists(damaged_recordings() | almost_messages(), min_size=1, max_size=5), st.data())
def test_T16_a_damaged_line_in_a_real_session_does_no_harm_to_the_rest(
    name: str, values: list[Any], data: st.DataObject
) -> None:
    timeline: list[Told] = list(stream(name))
    for value in values:
        place = data.draw(st.integers(0, len(timeline)))
        timeline.insert(place, (decode_object(value), timeline[place - 1][1] if place else 0.0))
    transcript = Transcript()
    snapshot = plain(transcript)
    for fed, at in timeline:
        snapshot = apply(snapshot, through_json(transcript.feed(fed, at)))
    assert snapshot == plain(transcript)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(json_values() | st.binary(max_size=20), max_size=6))
def test_T16_no_line_of_another_host_breaks_the_transcript(values: list[Any]) -> None:
    transcript = Transcript()
    for number, value in enumerate(values):
        line = value if isinstance(value, bytes) else write(value)
        transcript.feed(decode_input(line), float(number))
        transcript.feed(decode(line), float(number))
    assert transcript.status.state in STATES


def test_T17_reduce_leaves_the_state_it_was_given_as_it_was() -> None:
    state = Transcript()
    for fed, at in stream("2.1.325/partial"):
        before = plain(state)
        new, changes = reduce(state, fed, at)
        assert plain(state) == before
        assert apply(before, through_json(changes)) == plain(new)
        state = new
    assert plain(state) == plain(fold(stream("2.1.325/partial")))


def growing() -> Fold:
    """A text that is being written."""
    fold = Fold()
    for line in (init(), message_start(), block_start(), delta("first ")):
        step(fold, decode_object(line), 1.0)
    return fold


def test_T18_a_delta_touches_nothing_but_the_end_of_its_text() -> None:
    fold = growing()
    rows = dict(fold.document.rows["items"])
    tail = fold.document.tails["items", "msg-1/0"]
    (*earlier,) = tail.pieces
    step(fold, decode_object(delta("second")), 1.0)
    assert all(fold.document.rows["items"][key] is row for key, row in rows.items())
    assert tail.pieces == [*earlier, "second"]
    assert fold.item("msg-1/0").text == "first second"


def test_T18_setting_another_field_does_not_join_a_text_that_grows() -> None:
    fold = growing()
    pieces = len(fold.document.tails["items", "msg-1/0"].pieces)
    fold.set("items", "msg-1/0", model="other")
    assert len(fold.document.tails["items", "msg-1/0"].pieces) == pieces
    item = fold.item("msg-1/0")
    assert (item.text, item.model) == ("first ", "other")


def test_T18_a_hundred_thousand_deltas_make_one_change_each() -> None:
    story = Story().cli(init(), message_start(), block_start())
    line = decode_object(delta("word "))
    at = story.at
    made = sum(len(story.transcript.feed(line, at)) for _ in range(100_000))
    assert made == 100_000 + 1
    assert len(story.item("msg-1/0").text) == 500_000
