"""Lines that are fed together: the state and the merged changes of the lines fed one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.transcript import Transcript
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.changes import Append, Change
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.state.fold import LAST_EVENT_STEP_S
from fairlead.wire.decode import decode_object
from tests.matrix import examples
from tests.transcript.recordings import all_streams, stream
from tests.transcript.story import (
    Line,
    Story,
    block_start,
    block_stop,
    calls,
    delta,
    event,
    gives,
    init,
    json_delta,
    message_start,
    result,
    says,
    system,
    thinking_delta,
)

LAW = settings(max_examples=examples(100), deadline=None)

Told = tuple[Fed, float]

CALL = {"type": "tool_use", "id": "call-1", "name": "Bash", "input": {}}


def signature_delta() -> Line:
    body = {"type": "signature_delta", "signature": "c2ln"}
    return event("content_block_delta", index=0, delta=body)


texts = st.sampled_from(["", "a", "é", "🙂 b"])
indexes = st.integers(0, 1)
parents = st.sampled_from([None, None, "call-1"])
deltas = (
    st.builds(delta, texts, indexes, parents)
    | st.builds(thinking_delta, texts, indexes)
    | st.builds(json_delta, texts, indexes)
    | st.builds(signature_delta)
)
others = (
    st.builds(message_start, st.sampled_from(["msg-1", "msg-2"]), parents)
    | st.builds(
        block_start,
        st.sampled_from([None, {"type": "thinking", "thinking": ""}, CALL]),
        indexes,
        parents,
    )
    | st.builds(block_stop, indexes)
    | st.builds(says, texts, st.sampled_from(["msg-1", "msg-2"]))
    | st.builds(lambda: calls("call-1"))
    | st.builds(lambda: gives("done", "call-1"))
    | st.builds(lambda: system("thinking_tokens", estimated_tokens=7))
    | st.builds(lambda: system("status", status="requesting"))
    | st.builds(init)
    | st.builds(result)
)
steps = st.sampled_from([0.0, 0.0, 0.3, LAST_EVENT_STEP_S, 2.5])
lines = st.lists(st.tuples(deltas | deltas | others, steps), max_size=40)
sizes = st.lists(st.integers(1, 12), max_size=30)


def timeline(drawn: list[tuple[Line, float]]) -> list[Told]:
    at = 0.0
    told: list[Told] = []
    for line, step in [(init(), 0.0), (message_start(), 0.0), (block_start(), 0.0), *drawn]:
        at += step
        told.append((decode_object(line), at))
    return told


def batches(told: list[Told], sizes: list[int]) -> list[list[Told]]:
    cut: list[list[Told]] = []
    for size in [*sizes, len(told)]:
        if told:
            cut.append(told[:size])
            told = told[size:]
    return cut


def checkpoint(transcript: Transcript) -> list[bytes]:
    return list(transcript.checkpoint().parts())


def check(told: list[Told], sizes: list[int]) -> None:
    one_by_one, together = Transcript(), Transcript()
    single, unobserved = Transcript(), Transcript()
    for batch in batches(told, sizes):
        changes: list[Change] = []
        for fed, at in batch:
            changes += one_by_one.feed(fed, at)
        assert coalesce(together.feed_all(batch)) == coalesce(changes)
        assert checkpoint(together) == checkpoint(one_by_one)
        moment = batch[0][1]
        unobserved.take([fed for fed, _ in batch], moment)
        for fed, _ in batch:
            single.feed(fed, moment)
        assert checkpoint(unobserved) == checkpoint(single)


@LAW
@given(lines, sizes)
def test_T11_streams_in_any_batches_give_the_same_state_and_merged_changes(
    drawn: list[tuple[Line, float]], sizes: list[int]
) -> None:
    check(timeline(drawn), sizes)


@LAW
@given(st.sampled_from(all_streams()), sizes)
def test_T11_recordings_in_any_batches_give_the_same_state_and_merged_changes(
    name: str, sizes: list[int]
) -> None:
    check(list(stream(name)), sizes)


@pytest.mark.parametrize("make", [delta, thinking_delta, json_delta])
def test_T18_deltas_of_one_block_that_come_together_are_one_change(make: Any) -> None:
    kinds: dict[Any, Line] = {
        thinking_delta: {"type": "thinking", "thinking": ""},
        json_delta: CALL,
    }
    story = Story().cli(init(), message_start(), block_start(kinds.get(make)), make("first "))
    at = story.at
    run = [(decode_object(make(text)), at) for text in ("second ", "", "third")]
    (change,) = story.transcript.feed_all(run)
    assert isinstance(change, Append)
    assert (change.text, change.offset) == ("second third", len("first "))


def test_T18_deltas_of_two_blocks_in_turn_are_changes_of_their_own() -> None:
    story = Story().cli(init(), message_start())
    for index in (0, 1):
        story.cli(block_start(index=index), delta(f"{index}: ", index))
    run = [(decode_object(delta(str(n), n % 2)), story.at) for n in range(4)]
    assert len(story.transcript.feed_all(run)) == 4
    assert [story.item(f"msg-1/{n}").text for n in (0, 1)] == ["0: 02", "1: 13"]


def test_T108_the_time_of_the_last_event_is_due_within_a_run_of_deltas() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("a"))
    at = story.at
    run = [(decode_object(delta("b")), at + step / 2) for step in range(1, 4)]
    story.transcript.feed_all(run)
    assert story.transcript.status.last_event == at + LAST_EVENT_STEP_S
    assert story.item("msg-1/0").text == "abbb"
