"""Bytes to lines: W1 to W7 of docs/wire.md."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.wire.framing import DEFAULT_LINE_LIMIT, OVERSIZED_HEAD_BYTES, LineSplitter, Oversized
from tests.wire.strategies import LAW

Line = bytes | Oversized


def lines_of(*chunks: bytes, limit: int = DEFAULT_LINE_LIMIT) -> list[Line]:
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(item % (len(data) + 1) for item in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def byte_by_byte(data: bytes) -> list[bytes]:
    return [bytes([item]) for item in data]


@pytest.mark.parametrize(
    "inside", ["\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
)
def test_W1_only_a_line_feed_ends_a_line(inside: str) -> None:
    text = f"one{inside}still one".encode()
    assert lines_of(text + b"\ntwo\n") == [text, b"two"]


def test_W1_every_line_feed_ends_a_line_even_an_empty_one() -> None:
    assert lines_of(b"\n\na\n\n") == [b"", b"", b"a", b""]


@given(st.binary(max_size=200), st.lists(st.integers(0, 10_000), max_size=12))
@LAW
def test_W2_any_chunking_gives_the_same_lines(data: bytes, places: list[int]) -> None:
    complete = lines_of(data)
    assert lines_of(*cut(data, places)) == complete
    assert lines_of(*byte_by_byte(data)) == complete
    assert b"\n".join(line for line in complete if isinstance(line, bytes)) == data.removesuffix(
        b"\n"
    )


@given(
    st.lists(st.integers(0, 12), max_size=8),
    st.lists(st.integers(0, 10_000), max_size=12),
    st.integers(1, 10),
)
@LAW
def test_W2_chunking_does_not_change_which_lines_are_too_long(
    lengths: list[int], places: list[int], limit: int
) -> None:
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    expected: list[Line] = [
        b"x" * n if n <= limit else Oversized(head=b"x" * n, size=n, limit=limit) for n in lengths
    ]
    assert lines_of(data, limit=limit) == expected
    assert lines_of(*cut(data, places), limit=limit) == expected
    assert lines_of(*byte_by_byte(data), limit=limit) == expected


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_W3_a_carriage_return_stays_in_the_line(chunk: int) -> None:
    data = b'{"a":1}\r\n{"b":2}\r\n'
    chunks = [data[n : n + chunk] for n in range(0, len(data), chunk)]
    assert lines_of(*chunks) == [b'{"a":1}\r', b'{"b":2}\r']


def test_W4_a_character_cut_between_chunks_comes_out_whole() -> None:
    text = "né 😀 \u2028 end"
    data = text.encode() + b"\n"
    for position in range(len(data)):
        (line,) = lines_of(data[:position], data[position:])
        assert isinstance(line, bytes)
        assert line.decode() == text


def test_W5_a_line_above_the_limit_in_one_chunk_is_reported_and_reading_goes_on() -> None:
    lines = lines_of(b"before\n" + b"x" * 2_000 + b"\nafter\n", limit=1_500)
    skipped = Oversized(head=b"x" * OVERSIZED_HEAD_BYTES, size=2_000, limit=1_500)
    assert lines == [b"before", skipped, b"after"]


@pytest.mark.parametrize("chunk", [1, 7, 1_499, 1_500, 1_501])
def test_W5_a_line_above_the_limit_in_many_chunks_is_reported_once(chunk: int) -> None:
    data = b"before\n" + b"x" * 6_000 + b"\nafter\n"
    chunks = [data[n : n + chunk] for n in range(0, len(data), chunk)]
    skipped = Oversized(head=b"x" * OVERSIZED_HEAD_BYTES, size=6_000, limit=1_500)
    assert lines_of(*chunks, limit=1_500) == [b"before", skipped, b"after"]


def test_W5_a_line_of_exactly_the_limit_is_kept_and_one_byte_more_is_not() -> None:
    assert lines_of(b"x" * 10 + b"\n", limit=10) == [b"x" * 10]
    assert lines_of(b"x" * 11 + b"\n", limit=10) == [Oversized(b"x" * 11, 11, 10)]


def test_W5_a_line_that_never_ends_costs_no_memory_beyond_the_limit() -> None:
    splitter = LineSplitter(limit=10_000)
    chunk = b"x" * 5_000
    tracemalloc.start()
    try:
        for _ in range(2_000):
            assert splitter.feed(chunk) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000
    assert splitter.pending == 10_000_000
    (skipped,) = splitter.feed(b"\n")
    assert skipped == Oversized(head=b"x" * OVERSIZED_HEAD_BYTES, size=10_000_000, limit=10_000)


def test_W6_what_has_no_line_end_when_the_stream_ends_is_a_line() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\ntw") == [b"one"]
    assert splitter.pending == 2
    assert splitter.finish() == [b"tw"]
    assert splitter.pending == 0
    assert splitter.finish() == []


def test_W6_a_stream_that_ends_with_a_line_end_leaves_nothing() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\n") == [b"one"]
    assert splitter.finish() == []


def test_W6_an_unfinished_line_above_the_limit_is_reported_at_the_end() -> None:
    assert lines_of(b"x" * 20, limit=10) == [Oversized(b"x" * 20, 20, 10)]


@pytest.mark.timeout(30)
def test_W7_a_line_of_50_megabytes_in_small_chunks_is_not_copied_for_each_of_them() -> None:
    # 12,800 chunks: adding each to a growing whole would move 320 GB and run into the timeout.
    chunk = b"x" * 4096
    splitter = LineSplitter()
    for _ in range(12_800):
        assert splitter.feed(chunk) == []
    (line,) = splitter.feed(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == 12_800 * 4096
    assert splitter.feed(b"next\n") == [b"next"]
