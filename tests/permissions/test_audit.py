"""What remains of a decision."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.permissions import (
    AuditLog,
    AuditRecord,
    Decider,
    Outcome,
    RuleBook,
    Scope,
    audited,
    input_sha256,
)
from fairlead.permissions.audit import canonical_json
from tests.permissions.checking import decide

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
INPUTS = st.dictionaries(st.text(), JSON, max_size=4)


def record(number: int = 0, **changes: Any) -> AuditRecord:
    fields: dict[str, Any] = {
        "at": 1_700_000_000.25 + number,
        "session_id": "s",
        "request_id": f"r{number}",
        "tool": "Bash",
        "input_sha256": "0" * 64,
        "outcome": Outcome.ALLOWED,
        "decider": Decider.PERSON,
        **changes,
    }
    return AuditRecord(**fields)


@pytest.mark.matrix(target="faults", cases=0)
@given(value=INPUTS, data=st.data())
def test_P52_the_hash_does_not_depend_on_the_order_of_keys(
    value: dict[str, Any], data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(value.items()))))
    assert input_sha256(value) == input_sha256(shuffled)
    assert json.loads(canonical_json(value)) == value


def test_P52_the_hash_is_the_sha_256_of_canonical_json() -> None:
    text = '{"a":[1,"é"],"command":"ls"}'
    value = {"command": "ls", "a": [1, "é"]}
    assert canonical_json(value).decode() == text
    assert input_sha256(value) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 2**64}, {"a": 2**64 + 1}),
        ({"a": "x"}, {"a": "x "}),
        ({}, {"a": None}),
    ],
)
def test_P52_another_input_has_another_hash(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert input_sha256(one) != input_sha256(other)


def test_P52_broken_text_can_be_hashed() -> None:
    assert len(input_sha256({"a": "\ud800"})) == 64


def test_P53_a_record_names_rule_scope_and_file() -> None:
    book = RuleBook.of(deny=["Bash(rm:*)"], scope=Scope.PROJECT, file="/p/.claude/settings.json")
    written = audited(
        decide("rm x", book),
        at=12.5,
        session_id="s",
        request_id="r",
        tool="Bash",
        tool_input={"command": "rm x"},
        outcome=Outcome.DENIED,
        decider=Decider.RULE,
        name="host policy",
    )
    assert (written.rule, written.scope, written.file) == (
        "Bash(rm:*)",
        "projectSettings",
        "/p/.claude/settings.json",
    )
    assert written.input_sha256 == input_sha256({"command": "rm x"})
    assert (written.at, written.decider, written.name) == (12.5, Decider.RULE, "host policy")
    assert AuditRecord.from_json(written.to_json()) == written


@given(
    words=st.text(),
    name=st.text(),
    outcome=st.sampled_from(Outcome),
    decider=st.sampled_from(Decider),
)
def test_P53_a_record_is_one_line_and_reads_back_as_written(
    words: str, name: str, outcome: Outcome, decider: Decider
) -> None:
    written = record(words=words, name=name, outcome=outcome, decider=decider)
    assert "\n" not in written.to_json()
    assert AuditRecord.from_json(written.to_json()) == written


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", '{"at": 1}', "x"])
def test_P53_a_line_that_is_no_record_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError):
        AuditRecord.from_json(line)


def test_P54_the_log_grows_and_is_the_owners_alone(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "deep" / "audit.jsonl")
    assert list(log.records()) == []
    log.append(record(1))
    first = log.path.read_bytes()
    log.append(record(2, words="é \u2028 \ud800"))
    assert log.path.read_bytes().startswith(first)
    assert [entry.request_id for entry in log.records()] == ["r1", "r2"]
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_P54_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append(record(1))
    with log.path.open("ab") as file:
        file.write(record(2).to_json().encode()[:40] + b"\n")
    log.append(record(3))
    assert [entry.request_id for entry in log.records()] == ["r1", "r3"]


def fill(path: str, start: int) -> None:
    log = AuditLog(path)
    for number in range(start, start + 50):
        log.append(record(number, words="x" * 2000))


@pytest.mark.matrix(target="faults", cases=0)
def test_P54_several_processes_share_a_log(tmp_path: Path) -> None:
    path = str(tmp_path / "audit.jsonl")
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=fill, args=(path, start)) for start in (0, 50, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    found = {entry.request_id for entry in AuditLog(path).records()}
    assert found == {f"r{number}" for number in range(150)}
