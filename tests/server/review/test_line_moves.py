"""Where lines of a file are after a change."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.server.review.line_moves import moved_to, nearest

BEFORE = list("abcdefghij")


@pytest.mark.parametrize(
    ("after", "start", "end", "now"),
    [
        ("abcdefghij", 3, 4, 3),
        ("xabcdefghij", 3, 4, 4),
        ("bcdefghij", 3, 4, 2),
        ("abXdefghij", 3, 3, None),
        ("abXdefghij", 4, 5, 4),
        ("abdefghij", 3, 3, None),
        ("abcXdefghij", 3, 4, None),
        ("abXcdYefghij", 3, 4, 4),
        ("XbcdefghiY", 2, 9, 2),
        ("", 1, 1, None),
    ],
)
def test_B73_lines_are_followed_through_a_change(
    after: str, start: int, end: int, now: int | None
) -> None:
    assert moved_to(BEFORE, list(after), start, end) == now


LINES = st.lists(st.sampled_from("abcd{}"), max_size=30)


@given(LINES, LINES, st.integers(1, 30), st.integers(0, 5))
def test_B73_lines_that_are_reported_as_the_same_are_the_same(
    before: list[str], after: list[str], start: int, more: int
) -> None:
    end = start + more
    now = moved_to(before, after, start, end)
    if now is not None:
        assert after[now - 1 : now + more] == before[start - 1 : end]


@given(LINES, LINES, LINES, st.data())
def test_B73_an_insertion_or_removal_elsewhere_does_not_change_the_lines(
    head: list[str], block: list[str], tail: list[str], data: st.DataObject
) -> None:
    marked = ["start", *block, "end"]
    new_head = data.draw(LINES)
    now = moved_to([*head, *marked, *tail], [*new_head, *marked, *tail],
                   len(head) + 1, len(head) + len(marked))  # fmt: skip
    assert now == len(new_head) + 1


def test_B73_large_and_repeated_content_takes_bounded_time() -> None:
    before = ["x", "y"] * 20_000
    after = ["y", "z"] * 20_000
    started = time.process_time()
    assert moved_to(before, after, 20_000, 20_001) is None
    assert nearest(["x"] * 40_000, ["x"] * 100 + ["y"], 1) is None
    assert time.process_time() - started < 10


def test_B73_the_nearest_block_counts() -> None:
    lines = list("a}b}c}")
    assert nearest(lines, ["}"], 5) in (4, 6)
    assert nearest(lines, ["b", "}"], 1) == 3
    assert nearest(lines, ["q"], 1) is None
    assert nearest([], ["q"], 1) is None
