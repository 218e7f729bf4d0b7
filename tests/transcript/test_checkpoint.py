"""Going on from a checkpoint is the same as beginning with the first event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.transcript import Transcript
from fairlead.transcript.checkpoint import Unreadable
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.document import LISTS
from fairlead.transcript.state.facts import ProcessExited, ProcessStarted, PromptEdited, PromptHeld
from fairlead.transcript.state.packed import PART_ROWS, Packed
from fairlead.wire.decode import decode_object
from tests.matrix import examples
from tests.transcript.recordings import all_streams, fold, plain, stream
from tests.transcript.story import (
    Story,
    block_start,
    delta,
    init,
    message_start,
    prompt,
    result,
    says,
)
from tests.wire.strategies import almost_messages, damaged_recordings

LAW = settings(max_examples=examples(60), deadline=None)

names = st.sampled_from(all_streams())

TimedEvent = tuple[Fed, float]

U1, U2 = (f"00000000-0000-4000-9000-{number:012d}" for number in (1, 2))


def restored(transcript: Transcript) -> Transcript:
    """What is read back of a transcript that was kept."""
    return Transcript.restored(tuple(transcript.checkpoint().parts()))


def packed(transcript: Transcript, section: str = "items") -> int:
    rows = transcript._fold.document.rows[section].values()
    return sum(1 for row in rows if type(row) is Packed)


def long_story(turns: int) -> Story:
    story = Story()
    for number in range(turns):
        story.host(prompt(f"ask {number}")).cli(init(), says(f"answer {number}"), result("ok"))
    return story


@pytest.mark.matrix(target="faults", cases=2)
@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T131_every_recording_goes_on_from_any_of_its_events(version: str) -> None:
    folded = 0
    for name in all_streams():
        if version not in name.split("/"):
            continue
        events = stream(name)
        whole = plain(fold(events))
        for k in range(0, len(events) + 1, max(1, len(events) // 7)):
            transcript = restored(fold(events[:k]))
            for fed, at in events[k:]:
                transcript.feed(fed, at)
            assert plain(transcript) == whole, (name, k)
            folded += 1
    assert folded >= 100


@LAW
@given(names, st.data())
def test_T131_a_checkpoint_of_any_moment_comes_back_as_it_was(
    name: str, data: st.DataObject
) -> None:
    events = stream(name)
    k = data.draw(st.integers(0, len(events)))
    transcript = fold(events[:k])
    assert plain(restored(transcript)) == plain(transcript)


@LAW
@given(names, st.lists(st.integers(0, 400), max_size=6))
def test_T131_a_checkpoint_of_a_checkpoint_comes_back_as_it_was(
    name: str, moments: list[int]
) -> None:
    transcript = Transcript()
    events = stream(name)
    for number, (fed, at) in enumerate(events):
        if number in moments:
            transcript = restored(transcript)
        transcript.feed(fed, at)
    assert plain(transcript) == plain(fold(events))


@LAW
@given(names, st.randoms(use_true_random=False), st.integers(0, 400))
def test_T131_a_checkpoint_comes_back_though_lines_came_in_any_order(
    name: str, random: Any, k: int
) -> None:
    events = list(stream(name))
    random.shuffle(events)
    transcript = restored(fold(events[:k]))
    for fed, at in events[k:]:
        transcript.feed(fed, at)
    assert plain(transcript) == plain(fold(events))


@settings(max_examples=examples(100), deadline=None)
@given(names, st.lists(damaged_recordings() | almost_messages(), max_size=5), st.data())
def test_T131_a_checkpoint_comes_back_though_lines_are_damaged(
    name: str, values: list[Any], data: st.DataObject
) -> None:
    events: list[TimedEvent] = list(stream(name))
    for value in values:
        place = data.draw(st.integers(0, len(events)))
        events.insert(place, (decode_object(value), events[place - 1][1] if place else 0.0))
    events.append((ProcessExited(returncode=1), events[-1][1] if events else 0.0))
    k = data.draw(st.integers(0, len(events)))
    before = fold(events[:k])
    try:
        transcript = restored(before)
    except Unreadable:
        return  # It says so when it is made, and nobody relies on it.
    for fed, at in events[k:]:
        transcript.feed(fed, at)
    assert plain(transcript) == plain(fold(events))


def test_T131_a_text_that_is_being_written_goes_on_growing() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("first "))
    transcript = restored(story.transcript)
    (change,) = transcript.feed(decode_object(delta("second")), story.at)
    assert getattr(change, "offset", None) == len("first ")
    assert transcript.items[-1].text == "first second"  # type: ignore[union-attr]


def test_T131_prompts_that_wait_are_there_with_all_they_hold() -> None:
    story = Story().host(
        PromptHeld(prompt("one", U1, priority="now")), PromptHeld(prompt("two", U2))
    )
    edited = prompt("one, but better", U1, priority="now")
    story.host(PromptEdited(edited))
    assert restored(story.transcript).held == (edited, prompt("two", U2))


def test_T132_rows_that_are_not_read_stay_packed() -> None:
    story = long_story(PART_ROWS)
    transcript = restored(story.transcript)
    assert transcript.count("items") == packed(transcript) == 2 * PART_ROWS
    assert [entry.text for entry in transcript.last("items", 2)] == [
        f"ask {PART_ROWS - 1}",
        f"answer {PART_ROWS - 1}",
    ]
    assert packed(transcript) == PART_ROWS
    transcript.feed(ProcessStarted(resumed="x"), story.at)
    assert packed(transcript) == PART_ROWS
    assert transcript.item_ids[:-1] == story.transcript.item_ids


def test_T132_parts_that_were_not_opened_are_stored_again_unchanged() -> None:
    first = tuple(long_story(PART_ROWS).transcript.checkpoint().parts())
    transcript = Transcript.restored(first)
    transcript.last("items", 1)
    again = tuple(transcript.checkpoint().parts())
    assert again[0] is first[0]
    assert plain(Transcript.restored(again)) == plain(Transcript.restored(first))


def test_T132_a_row_that_was_changed_or_removed_is_not_unpacked_over() -> None:
    story = long_story(3)
    transcript = restored(story.transcript)
    fold_ = transcript._fold
    first, second, *_ = transcript.item_ids
    fold_.remove("items", second)
    fold_.set("items", first, text="changed")
    assert [getattr(item, "text", "") for item in transcript.items][:2] == ["changed", "ask 1"]
    assert plain(restored(transcript)) == plain(transcript)


def test_T132_a_fork_of_packed_rows_goes_its_own_way() -> None:
    transcript = restored(long_story(2).transcript)
    other = transcript.fork()
    other._fold.set("items", other.item_ids[0], text="changed")
    assert packed(transcript) == 4
    assert getattr(transcript.items[0], "text", "") == "ask 0"


@pytest.mark.parametrize("section", LISTS)
def test_T133_a_row_that_could_not_be_read_back_is_not_kept(section: str) -> None:
    story = long_story(1)
    row = {"items": story.items()[0], "turns": story.turns()[0]}.get(section)
    if row is None:
        row = type("Row", (), {"id": "x"})()
        story.transcript._fold.document.add(section, row, None)
    else:
        field = "text" if section == "items" else "prompts"
        story.transcript._fold.document.set_row(section, row.id, row, {field: 7})
    with pytest.raises(Unreadable):
        tuple(story.transcript.checkpoint().parts())


def test_T133_parts_that_are_no_checkpoint_are_refused() -> None:
    parts = tuple(long_story(2).transcript.checkpoint().parts())
    for wrong in ((), parts[:-1], parts[1:], (b"x", *parts), (*parts[:-1], b"{}")):
        with pytest.raises(Unreadable):
            Transcript.restored(wrong)


def test_a_checkpoint_stays_as_it_was_while_the_transcript_goes_on() -> None:
    story = long_story(2)
    story.cli(init(), message_start(), block_start(), delta("first "))
    before = plain(story.transcript)
    taken = story.transcript.checkpoint()
    story.cli(delta("second"), says("more"), result("done")).host(prompt("next"))
    assert plain(Transcript.restored(tuple(taken.parts()))) == before
