"""The five operations, and what a snapshot is."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.transcript import SCHEMA, Add, Append, Change, Remove, Replace, Set, apply
from fairlead.transcript.state.changes import units
from fairlead.transcript.state.coalesce import coalesce
from tests.transcript.recordings import all_streams, plain, stream
from tests.transcript.story import Story, block_start, delta, init, message_start, prompt, says

BEFORE: dict[str, Any] = {
    "items": [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}],
    "status": {"state": "idle", "since": 1.0},
}


def after(*changes: Change) -> dict[str, Any]:
    return apply(BEFORE, changes)


def test_T1_a_snapshot_is_json_with_a_schema_number_and_these_sections() -> None:
    story = Story().host(prompt()).cli(init(), says("hello"))
    snapshot = json.loads(story.transcript.snapshot().json())
    assert snapshot["schema"] == SCHEMA == 1
    assert set(snapshot) == {
        "schema", "session", "status", "items", "turns", "pending", "settled", "tasks",
        "background", "files", "ledger",
    }  # fmt: skip
    assert all({"id", "kind", "turn", "parent"} <= set(item) for item in snapshot["items"])


def test_T1_plain_values_and_json_are_the_same_snapshot() -> None:
    story = Story().host(prompt()).cli(init(), says("hello"))
    snapshot = story.transcript.snapshot()
    assert snapshot.plain() == json.loads(snapshot.json())


def test_T2_add_puts_a_row_at_the_end_or_before_another() -> None:
    row = {"id": "c", "text": ""}
    assert [item["id"] for item in after(Add("items", row))["items"]] == ["a", "b", "c"]
    assert [item["id"] for item in after(Add("items", row, "b"))["items"]] == ["a", "c", "b"]


def test_T3_set_changes_fields_of_a_row_or_of_a_section_that_is_one_object() -> None:
    changed = after(Set("items", "a", {"text": "x"}), Set("status", None, {"state": "error"}))
    assert changed["items"][0] == {"id": "a", "text": "x"}
    assert changed["status"] == {"state": "error", "since": 1.0}


def test_T4_append_cuts_a_text_at_the_offset_and_adds_to_it() -> None:
    assert after(Append("items", "a", "text", 3, " more"))["items"][0]["text"] == "one more"
    assert after(Append("items", "a", "text", 1, "h"))["items"][0]["text"] == "oh"


def test_T4_the_same_append_twice_is_one() -> None:
    change = Append("items", "a", "text", 3, " more")
    assert after(change, change)["items"][0]["text"] == "one more"


@given(st.text(), st.text())
def test_T5_offsets_count_utf_16_units_as_javascript_does(first: str, second: str) -> None:
    snapshot = {"items": [{"id": "a", "text": first}]}
    changed = apply(snapshot, [Append("items", "a", "text", units(first), second)])
    assert changed["items"][0]["text"] == first + second
    assert units(first) == len(first.encode("utf-16-le", "surrogatepass")) // 2


def test_T5_an_emoji_is_two_units() -> None:
    story = Story().cli(init(), message_start(), block_start(), delta("👍"), delta("!"))
    (change,) = story.changes[:1]
    assert isinstance(change, Append)
    assert change.offset == 2


def test_T6_remove_takes_a_row_out_and_replace_puts_a_section_in_place_of_another() -> None:
    assert [item["id"] for item in after(Remove("items", "a"))["items"]] == ["b"]
    assert after(Replace("items", [{"id": "z"}]))["items"] == [{"id": "z"}]


def test_T7_the_old_snapshot_stays_and_shares_what_did_not_change() -> None:
    kept = json.dumps(BEFORE)
    changed = after(Set("items", "a", {"text": "x"}))
    assert json.dumps(BEFORE) == kept
    assert changed["items"][1] is BEFORE["items"][1]
    assert changed["status"] is BEFORE["status"]


def test_T7_a_replaced_list_is_not_the_one_of_the_change() -> None:
    rows = [{"id": "z"}]
    after(Replace("items", rows), Add("items", {"id": "y"}))
    assert rows == [{"id": "z"}]


def test_T8_changes_that_belong_to_another_snapshot_are_refused() -> None:
    with pytest.raises(LookupError, match="another snapshot"):
        after(Remove("items", "nobody"))


def test_T9_changes_survive_json() -> None:
    changes: list[Change] = [
        Add("items", {"id": "c", "text": ""}, "a"),
        Set("items", "a", {"text": "x"}),
        Append("items", "b", "text", 3, "!"),
        Remove("items", "a"),
        Replace("status", {"state": "ended"}),
    ]
    assert apply(BEFORE, json.loads(msgspec.json.encode(changes))) == apply(BEFORE, changes)


@pytest.mark.parametrize("name", ["2.1.38/partial", "2.1.325/subagent", "sessions/2.1.325/tools"])
def test_T10_merged_changes_are_fewer_and_do_the_same(name: str) -> None:
    assert name in all_streams()
    story = Story()
    before = plain(story.transcript)
    changes = [entry for fed, at in stream(name) for entry in story.transcript.feed(fed, at)]
    merged = coalesce(changes)
    assert len(merged) < len(changes)
    assert apply(before, merged) == apply(before, changes)


def test_T10_appends_to_two_texts_are_not_mixed() -> None:
    changes: list[Change] = [
        Append("items", "a", "text", 3, "1"),
        Append("items", "a", "text", 4, "2"),
        Append("items", "b", "text", 3, "3"),
        Append("items", "b", "text", 1, "4"),
    ]
    assert coalesce(changes) == (
        Append("items", "a", "text", 3, "12"),
        Append("items", "b", "text", 3, "3"),
        Append("items", "b", "text", 1, "4"),
    )
