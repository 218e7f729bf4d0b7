"""Batches of a log: what is decoded is what was encoded, and nothing else is read as a batch."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.fleet.protocol.log_batch import (
    LogBatch,
    UnreadableBatch,
    decode_batch,
    encode_batch,
)
from fairlead.store.log import Event


@given(
    st.integers(0, 10**9),
    st.lists(st.tuples(st.sampled_from(["in", "out", "fact"]), st.binary(max_size=200))),
    st.booleans(),
)
def test_N7_a_batch_has_the_exact_lines(
    after: int, lines: list[tuple[str, bytes]], deleted: bool
) -> None:
    events = tuple(
        Event(after + place, direction, line, place / 3)
        for place, (direction, line) in enumerate(lines, 1)
    )
    batch = LogBatch(
        session="s", epoch="e", generation=2, after=after, events=events, deleted=deleted
    )
    assert decode_batch(encode_batch(batch)) == batch


def test_a_batch_with_a_gap_is_not_sent() -> None:
    batch = LogBatch(session="s", epoch="e", after=3, events=(Event(5, "out", b"", 0.0),))
    with pytest.raises(ValueError, match="without a gap"):
        encode_batch(batch)


@given(st.binary(max_size=60))
def test_N7_other_bytes_are_no_batch(payload: bytes) -> None:
    with pytest.raises(UnreadableBatch):
        decode_batch(payload)


def test_N7_a_cut_batch_is_no_batch() -> None:
    payload = encode_batch(LogBatch(session="s", epoch="e", after=0))
    for length in range(len(payload)):
        with pytest.raises(UnreadableBatch):
            decode_batch(payload[:length])


def test_N7_a_batch_of_a_newer_version_says_what_to_do() -> None:
    packed = (99, "s", "e", 0, 0, False, (), "a later field")
    with pytest.raises(UnreadableBatch, match="Update Fairlead"):
        decode_batch(zlib.compress(msgspec.msgpack.encode(packed)))
