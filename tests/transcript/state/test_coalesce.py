"""Merged changes do what the single ones did."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from fairlead.transcript.state.changes import Add, Append, Change, Remove, Set, apply
from fairlead.transcript.state.coalesce import coalesce
from tests.server.hub.plain_document import PlainDocument


@given(st.integers(0, 2**32), st.integers(0, 6))
def test_merged_changes_lead_to_the_same_state(seed: int, items: int) -> None:
    rng = random.Random(seed)
    plain = PlainDocument(items)
    before = plain.state
    changes: list[Change] = []
    for _ in range(30):
        changes += plain.change(rng)
    merged = coalesce(changes)
    assert apply(before, merged) == plain.state
    assert len(merged) <= len(changes)


def test_a_text_that_grows_between_other_changes_becomes_one_append() -> None:
    pieces: list[Change] = []
    for n in range(100):
        pieces += [Append("items", "a", "text", n, "x"), Set("status", None, {"n": n})]
    assert coalesce(pieces) == (
        Append("items", "a", "text", 0, "x" * 100),
        Set("status", None, {"n": 99}),
    )


def test_a_row_that_was_removed_and_added_again_is_not_merged_across_its_death() -> None:
    changes: list[Change] = [
        Set("items", "a", {"n": 1}),
        Remove("items", "a"),
        Add("items", {"id": "a", "n": 2}),
        Set("items", "a", {"n": 3}),
    ]
    assert coalesce(changes) == tuple(changes)


def test_a_status_comes_after_what_led_to_it() -> None:
    changes: list[Change] = [
        Set("status", None, {"state": "thinking"}),
        Add("items", {"id": "a"}),
        Set("status", None, {"state": "idle"}),
    ]
    assert coalesce(changes) == (changes[1], changes[2])
