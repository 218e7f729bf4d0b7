"""Streamed messages: drafts that grow and end as the finished block says."""

from __future__ import annotations

import pytest

from fairlead.transcript import Add, Append
from fairlead.transcript.state.facts import ProcessExited
from fairlead.transcript.state.model import TextItem, ThinkingItem
from tests.transcript.story import (
    Line,
    Story,
    assistant,
    block_start,
    block_stop,
    calls,
    delta,
    event,
    init,
    json_delta,
    message_start,
    message_stop,
    result,
    says,
    system,
    thinking_delta,
    thinks,
    tool_use,
)

THINKING = {"type": "thinking", "thinking": ""}


def test_T32_a_text_appears_with_its_first_words_and_grows() -> None:
    story = Story().cli(init(), message_start(), block_start())
    assert story.items() == ()
    story.cli(delta("Hel"))
    assert [type(change) for change in story.changes[:2]] == [Add, Append]
    story.cli(delta("lo"))
    assert story.changes[0] == Append("items", "msg-1/0", "text", 3, "lo")
    (item,) = story.items()
    assert isinstance(item, TextItem)
    assert (item.text, item.complete) == ("Hello", False)


def test_T32_the_finished_block_completes_the_same_item() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("Hel"), says("Hello"))
    (item,) = story.items()
    assert isinstance(item, TextItem)
    assert (item.id, item.text, item.complete) == ("msg-1/0", "Hello", True)
    assert item.model == "m"


@pytest.mark.parametrize("final", ["word wor", "word word and more", "something else", "w"])
def test_T33_the_finished_block_has_the_last_word(final: str) -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("word word "), says(final))
    assert story.shown() == [f"text {final}"]
    story.cli(delta(" late"))
    assert story.shown() == [f"text {final}"]


def test_T33_a_block_that_was_cut_off_says_so() -> None:
    story = Story().cli(
        init(), message_start(), block_start(), delta("wo"), says("wo", aborted=True)
    )
    assert story.item("msg-1/0").aborted is True


def test_T34_the_blocks_of_a_message_are_items_of_their_own() -> None:
    story = Story().cli(init(), message_start(), block_start(THINKING), thinking_delta("hm"))
    story.cli(thinks("hm"), block_stop(), block_start(index=1), delta("so", 1), says("so"))
    assert story.shown() == ["thinking hm", "text so"]
    assert [item.id for item in story.items()] == ["msg-1/0", "msg-1/1"]


def test_T34_blocks_that_stay_empty_make_no_item_and_no_hole() -> None:
    story = Story().cli(init(), message_start(), block_start(), block_start(index=1))
    story.cli(delta("words", 1), says("words"))
    assert [item.id for item in story.items()] == ["msg-1/0"]


CUT: list[tuple[str, list[Line]]] = [
    ("the next message", [message_start("msg-2")]),
    ("a finished block of another message", [says("whole", "msg-2")]),
    ("the result", [result(None, subtype="error_during_execution")]),
]


@pytest.mark.parametrize(("name", "lines"), CUT, ids=[name for name, _ in CUT])
def test_T35_a_draft_without_a_finished_block_goes(name: str, lines: list[Line]) -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("draft"), *lines)
    assert "text draft" not in story.shown()


def test_T138_words_stay_cut_off_when_the_process_goes() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("draft"))
    (item,) = story.host(ProcessExited(returncode=1)).items()
    assert isinstance(item, TextItem)
    assert (item.text, item.complete, item.aborted) == ("draft", True, True)


def test_T138_thinking_stays_when_the_process_goes_and_a_half_written_call_does_not() -> None:
    start = block_start(tool_use("tool-1", "Bash", {}), index=1)
    story = Story().cli(init(), message_start(), block_start(THINKING), thinking_delta("hm"), start)
    (item,) = story.host(ProcessExited(returncode=1)).items()
    assert isinstance(item, ThinkingItem)
    assert (item.text, item.complete) == ("hm", True)


def test_T35_drafts_of_tools_go_too() -> None:
    start = tool_use("tool-1", "Bash", {})
    story = Story().cli(init(), message_start(), block_start(start), json_delta('{"comm'))
    story.cli(message_start("msg-2"), result())
    assert story.items() == ()


def test_T36_thinking_has_its_words_its_time_and_how_much_was_withheld() -> None:
    story = Story().cli(init(), message_start(), block_start(THINKING), thinking_delta("h"))
    story.cli(system("thinking_tokens", estimated_tokens=30))
    assert story.item("msg-1/0").tokens == 30
    story.cli(thinks("hm", thinking_duration_ms=12))
    item = story.item("msg-1/0")
    assert isinstance(item, ThinkingItem)
    assert (item.text, item.tokens, item.duration_ms, item.redacted) == ("hm", 30, 12, False)


def test_T36_withheld_thinking_is_shown_as_such() -> None:
    story = Story().cli(init(), assistant({"type": "redacted_thinking", "data": "xx"}))
    item = story.item("msg-1/0")
    assert (item.text, item.redacted) == ("", True)


def test_T37_two_conversations_stream_at_once() -> None:
    story = Story().cli(init(), calls("Task"), message_start("main"), block_start(), delta("ma"))
    story.cli(
        message_start("sub", "tool-1"),
        block_start(parent="tool-1"),
        delta("su", parent="tool-1"),
        delta("in"),
        delta("b", parent="tool-1"),
    )
    assert story.shown() == ["tool Task running", "text main", "text sub"]
    assert story.item("sub/0").parent == "tool-1"


def test_T38_unknown_events_and_deltas_change_nothing() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("a"))
    before = story.shown()
    story.cli(
        event("content_block_delta", index=0, delta={"type": "glow_delta", "glow": 1}),
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "x"}),
        event("flicker"),
        event("content_block_delta", index=7, delta={"type": "text_delta", "text": "?"}),
        message_stop(),
    )
    assert story.shown() == before
