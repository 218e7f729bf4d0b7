"""Finished lines: withdrawn ones go, unknown ones stay."""

from __future__ import annotations

from fairlead.transcript.state.model import UnknownItem
from fairlead.wire.decode import decode
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Story,
    asks,
    assistant,
    calls,
    fresh,
    gives,
    init,
    result,
    says,
    system,
)


def test_T69_a_withdrawn_message_goes() -> None:
    first = says("never mind")
    story = Story().cli(init(), first, says("kept", "msg-2"))
    story.cli({"type": "tombstone", "uuid": fresh(), "message": {"uuid": first["uuid"]}})
    assert story.shown() == ["text kept"]


def test_T69_a_superseded_message_is_removed() -> None:
    first = says("draft")
    story = Story().cli(init(), first, says("better", "msg-2", supersedes=[first["uuid"]]))
    assert story.shown() == ["text better"]


def test_T69_a_message_that_a_refusal_retracted_is_removed() -> None:
    first = says("no longer")
    line = system("model_refusal_fallback", retracted_message_uuids=[first["uuid"]])
    story = Story().cli(init(), first, line)
    assert story.shown() == ["notice fallback"]


def test_T69_a_withdrawn_call_is_not_waited_for() -> None:
    call = calls()
    story = Story().cli(init(), call, asks())
    story.cli({"type": "tombstone", "uuid": fresh(), "message": {"uuid": call["uuid"]}})
    assert story.items() == ()
    assert story.pending() == ()
    assert [entry.outcome for entry in story.transcript.settled] == ["superseded"]
    assert story.state == "thinking"


def test_T70_a_line_of_an_unknown_type_is_kept_whole() -> None:
    line = {"type": "frobnicate", "uuid": fresh(), "deep": {"a": [1]}}
    story = Story().cli(init(), line)
    (item,) = story.items()
    assert isinstance(item, UnknownItem)
    assert (item.type, item.data) == ("frobnicate", line)


def test_T70_unknown_subtypes_blocks_and_requests_are_kept_whole() -> None:
    story = Story().cli(init(), system("glow"), assistant({"type": "hologram", "x": 1}))
    request = {"subtype": "please", "x": 1}
    story.cli({"type": "control_request", "request_id": "r", "request": request})
    assert story.shown() == ["unknown system/glow", "unknown block/hologram",
                             "unknown control_request/please"]  # fmt: skip
    assert all(item.data is not None for item in story.items())  # type: ignore[union-attr]


def test_T71_noise_on_stdout_is_one_item_for_adjacent_lines() -> None:
    story = Story().feed(decode(b"warning: one"), decode(b"two"))
    story.cli(init(), says("hi"))
    story.feed(decode(b"three"))
    assert [getattr(item, "text", "") for item in story.items()] == [
        "warning: one\ntwo", "hi", "three",
    ]  # fmt: skip


def test_T71_the_help_of_a_cli_is_noise() -> None:
    (item,) = fold(stream("2.1.38/help")).items
    assert isinstance(item, UnknownItem)
    assert item.text.startswith("Usage: claude")


def test_T72_keepalive_lines_create_no_item() -> None:
    story = Story().cli(
        {"type": "keep_alive"},
        {"type": "transcript_mirror", "filePath": "f", "entries": []},
        system("control_request_progress", request_id="r", status="started"),
    )
    assert story.items() == ()
    assert story.transcript.status.last_event == story.at


def test_T72_a_result_with_an_id_seen_before_is_the_same_result() -> None:
    end = result("done", total_cost_usd=1.0)
    story = Story().cli(init(), calls(), gives(), end, end)
    assert len(story.turns()) == 1
    assert story.transcript.ledger.cost_usd == 1.0
