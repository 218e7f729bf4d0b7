"""Which records are the conversation, and in which order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairlead.transcript.history.branch import branch, seconds
from tests.transcript.recordings import SESSIONS, session_files

Record = dict[str, Any]

ALL_SESSIONS = sorted(f"{path.parent.name}/{path.stem}" for path in SESSIONS.glob("*/*.json"))


def record(uuid: str, parent: str | None, second: int = 0, **fields: Any) -> Record:
    time = f"2026-01-01T00:00:{second:02d}.500Z"
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": time, **fields}


def ids(records: list[Record]) -> list[str]:
    return [entry["uuid"] for entry in branch(records)]


def test_T125_what_was_rewound_is_left_out() -> None:
    rewound = [record("a", None, 1), record("b", "a", 2), record("c", "b", 3), record("d", "a", 4)]
    assert ids(rewound) == ["a", "d"]


def test_T126_records_that_were_written_out_of_order_are_put_in_order() -> None:
    late = [record("c", "b", 3), record("d", "c", 4), record("a", None, 1), record("b", "a", 2)]
    assert ids(late) == ["a", "b", "c", "d"]


def test_T126_a_record_with_an_early_time_stays_behind_its_elder() -> None:
    assert ids([record("a", None, 9), record("b", "a", 1), record("c", "b", 10)]) == ["a", "b", "c"]


def test_T127_results_of_parallel_calls_belong_to_the_path() -> None:
    def call(uuid: str, parent: str, second: int) -> Record:
        block = {"type": "tool_use", "id": f"tool-{uuid}"}
        message = {"id": "msg-1", "content": [block]}
        return record(uuid, parent, second, type="assistant", message=message)

    def result(uuid: str, parent: str, second: int) -> Record:
        block = {"type": "tool_result", "tool_use_id": f"tool-{parent}"}
        return record(uuid, parent, second, message={"content": [block]})

    records = [
        record("a", None, 1),
        call("b", "a", 2),
        call("c", "b", 3),
        result("r1", "b", 4),
        result("r2", "c", 5),
        record("d", "r2", 6),
    ]
    assert ids(records) == ["a", "b", "c", "r1", "r2", "d"]
    assert ids([*records[:5], record("d", "r1", 6)]) == ["a", "b", "c", "r1", "r2", "d"]


def test_T128_over_a_gap_the_file_leads_on() -> None:
    gap = [record("a", None, 1), record("b", "a", 2), record("c", "not-in-the-file", 3)]
    assert ids(gap) == ["a", "b", "c"]


def test_T128_a_compaction_is_no_gap() -> None:
    boundary = record("b", None, 2, type="system", logicalParentUuid="a")
    assert ids([record("a", None, 1), boundary, record("c", "b", 3)]) == ["a", "b", "c"]


def test_T128_a_circle_ends() -> None:
    assert set(ids([record("a", "b", 1), record("b", "a", 2)])) <= {"a", "b"}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 9), st.integers(0, 59)), max_size=12))
def test_T128_no_tree_of_records_is_too_odd(shape: list[tuple[int, int, int]]) -> None:
    records = [record(str(own), str(parent) if parent else None, at) for own, parent, at in shape]
    kept = branch(records)
    assert len({entry["uuid"] for entry in kept}) == len(kept)


def test_T126_times_are_seconds_since_1970() -> None:
    assert seconds({"timestamp": "1970-01-02T00:00:01.250Z"}) == 86_401.25
    assert seconds({"timestamp": "yesterday"}) is None
    assert seconds({"timestamp": 7}) is None


def test_T126_a_real_file_is_out_of_order() -> None:
    main, _ = session_files("2.1.38/ask")
    times = [seconds(entry) for entry in main if entry["type"] in ("user", "assistant")]
    assert times != sorted(times, key=lambda at: at or 0.0)
    assert all(session_files(name)[0] for name in ALL_SESSIONS)
