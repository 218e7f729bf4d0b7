"""Every recording folds to its golden snapshot."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from fairlead.transcript import Transcript, apply
from tests.transcript.golden import EMPTY, FOLDER, WITH_CHANGES, expected, names, written
from tests.transcript.recordings import plain


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T130_every_recording_folds_to_its_golden_snapshot(version: str) -> None:
    checked = 0
    for name in names():
        if name.startswith(f"{version}/"):
            assert written(name) == expected(name), f"{name}: see tests/transcript/golden.py"
            checked += 1
    assert checked > 20


def test_T130_golden_changes_lead_from_the_empty_snapshot_to_the_last() -> None:
    empty = json.loads(EMPTY.read_text())
    assert empty == plain(Transcript())
    replayed = 0
    for name in names():
        files = written(name)
        if "changes" in files:
            changes = [entry for batch in files["changes"] for entry in batch["changes"]]
            assert apply(empty, changes) == files["snapshot"], name
            replayed += 1
    assert replayed >= 2 * len(WITH_CHANGES)


def test_T130_no_golden_file_is_left_over() -> None:
    known = {EMPTY.relative_to(FOLDER).as_posix()}
    for name in names():
        known |= {f"{name}.{ending}.json" for ending in written(name)}
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.json")} == known


def test_T130_together_they_use_every_operation_and_every_kind_of_item() -> None:
    operations: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for name in names():
        files = written(name)
        for batch in files.get("changes", ()):
            operations.update(change["op"] for change in batch["changes"])
        kinds.update(item["kind"] for item in files["snapshot"]["items"])
    assert set(operations) == {"add", "set", "append", "remove", "replace"}
    assert set(kinds) == {"prompt", "text", "thinking", "tool", "command", "notice", "unknown"}
