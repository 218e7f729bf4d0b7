"""What reaches a terminal: text, and no control sequences."""

from __future__ import annotations

import io
from typing import Any

import pytest

from fairlead.commands.console.screen import Screen, describe_call
from fairlead.commands.console.terminal import Style, plain
from fairlead.wire.decode import decode_object


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "‹1B›[31mred‹1B›[0m"),
        ("rm -rf x\rls", "rm -rf x‹0D›ls"),
        ("a\u202eb", "a‹202E›b"),
        ("zero\u200bwidth", "zero‹200B›width"),
        ("bell\x07 del\x7f c1\x9b", "bell‹07› del‹7F› c1‹9B›"),
        ("line\u2028sep", "line‹2028›sep"),
        ("tag\U000e0041", "tag‹E0041›"),
    ],
)
def test_characters_that_steer_or_hide_are_written_out(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines\tand a tab", "naïve — “quotes”", "👩‍💻 日本語"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert plain(text) == text


def show(*messages: dict[str, Any]) -> str:
    out = io.StringIO()
    screen = Screen(out, Style(color=False))
    for message in messages:
        screen.show(decode_object(message))
    screen.end_text()
    return out.getvalue()


def delta(text: str) -> dict[str, Any]:
    event = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }
    return {"type": "stream_event", "event": event}


def assistant(*content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": "m", "content": list(content)}}


def test_streamed_text_is_shown_once() -> None:
    block = {"type": "text", "text": "Hello there"}
    assert show(delta("Hello "), delta("there"), assistant(block)) == "Hello there\n"


def test_text_that_was_not_streamed_is_shown_when_it_is_finished() -> None:
    assert show(assistant({"type": "text", "text": "All at once"})) == "All at once\n"


def test_a_tool_call_and_the_start_of_its_output_are_shown() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "seq 6"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "1\n2\n3\n4\n5\n6"}
    user = {"type": "user", "message": {"role": "user", "content": [result]}}
    assert show(assistant(call), user) == (
        "● Bash seq 6\n  ⎿ 1\n    2\n    3\n    4\n    … 2 more lines\n"
    )


def test_a_failed_turn_says_why() -> None:
    failure = {"type": "result", "subtype": "success", "is_error": True, "result": "Not logged in"}
    assert show(failure) == "✗ success: Not logged in\n"


def test_hostile_output_cannot_steer_the_screen() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "\x1b[2Jgone"}
    user = {"type": "user", "message": {"role": "user", "content": [result]}}
    assert "\x1b" not in show(user, delta("\x1b]0;title\x07"))


def test_a_call_is_described_by_what_says_most() -> None:
    assert describe_call("Bash", {"command": "a\nb\nc"}) == "a … (+2 lines)"
    assert describe_call("Read", {"file_path": "/x"}) == "/x"
    assert describe_call("mcp__x__y", {"n": 1}) == '{"n": 1}'
    assert describe_call("Odd", None) == ""
