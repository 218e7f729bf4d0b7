"""The messages between nodes and gateways."""

from __future__ import annotations

import json

import msgspec
import pytest

from fairlead.fleet.protocol.envelopes import (
    Answer,
    Beat,
    DoAsk,
    FollowAnswer,
    Frame,
    OpenAsk,
    Position,
    UnreadableEnvelope,
    decode,
    decode_body,
    encode,
)
from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set

CHANGES: tuple[Change, ...] = (
    Add("items", {"id": "a", "text": ""}, "b"),
    Append("items", "a", "text", 0, "line\none"),
    Set("status", None, {"state": "idle"}),
    Remove("items", "b"),
    Replace("turns", [{"id": "t"}]),
)


def test_a_frame_arrives_as_it_was_sent() -> None:
    frame = Frame(epoch="e", from_seq=3, seq=9, changes=CHANGES)
    assert decode(encode(frame), Frame) == frame


def test_a_body_may_contain_any_bytes() -> None:
    body = bytes(range(256)) * 2
    payload = encode(Answer(transfer="t", more=True), body)
    assert decode_body(payload, Answer) == (Answer(transfer="t", more=True), body)


def test_an_intent_is_passed_on_as_the_client_sent_it() -> None:
    sent = b'{"kind":"stop","session":"s"}'
    ask = DoAsk(device="d", client="c", n=1, intent=msgspec.Raw(sent))
    assert bytes(decode(encode(ask), DoAsk).intent) == sent


def test_N13_unknown_fields_are_ignored_and_missing_ones_have_defaults() -> None:
    newer = {"v": 7, "incarnation": "i", "mood": "good", "lobby": ["lobby", "e", 4]}
    beat = decode(json.dumps(newer).encode(), Beat)
    assert (beat.v, beat.incarnation, beat.lobby) == (7, "i", Position("lobby", "e", 4))
    assert (beat.changed, beat.store) == ((), "ok")


def test_N38_positions_are_named_as_in_earlier_versions() -> None:
    answer = FollowAnswer(positions=(Position("s", "e", 3),))
    assert json.loads(encode(answer))["places"] == [["s", "e", 3]]
    assert decode(b'{"places":[["s","e",3]]}', FollowAnswer).positions == answer.positions


def test_a_list_that_a_newer_version_made_longer_can_be_read() -> None:
    newer = {"incarnation": "i", "changed": [["s", "e", 4, "more"]]}
    assert decode(json.dumps(newer).encode(), Beat).changed == (Position("s", "e", 4),)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"document":1}', b"[" * 100_000])
def test_N13_a_message_that_cannot_be_read_is_refused_with_the_reason(payload: bytes) -> None:
    with pytest.raises(UnreadableEnvelope, match="cannot be read as OpenAsk"):
        decode(payload, OpenAsk)
