"""What the CLI's own sessions used, by the files that real CLIs wrote."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from fairlead.store.cli_files.file_usage import FileSpent, FileSums, file_sums, spent_in
from fairlead.store.sqlite import SqliteStore
from tests.store.cli_files.usage_files import Record, files_of
from tests.transcript.recordings import SESSIONS

REAL = sorted(f"{path.parent.name}/{path.stem}" for path in SESSIONS.glob("*/*.json"))


def last_total(files: list[list[Record]]) -> Record | None:
    totals = [file for file in files[0] if file["type"] == "cost-state"]
    return totals[-1] if totals else None


def by_model(spent: tuple[FileSpent, ...], what: str) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for item in spent:
        sums[item.model] += getattr(item, what)
    return {model: round(value, 10) for model, value in sums.items() if value}


@pytest.mark.parametrize("name", REAL)
def test_S42_each_answer_in_a_real_file_is_counted_once(name: str) -> None:
    session, files = files_of(name)
    records = [record for records in files for record in records if record["type"] == "assistant"]
    answers = {
        record["message"]["id"]: record["message"]["usage"]["input_tokens"]
        for record in records
        if record["message"]["model"] != "<synthetic>"
    }
    counted = [record for record in spent_in(session, files) if not record.cost_usd]
    assert len(counted) == len(answers) <= len(records) - 4 * name.endswith("/tools")
    assert sum(record.input_tokens for record in counted) == sum(answers.values())
    assert all(record.at > 1.7e9 and record.model.startswith("claude-") for record in counted)


@pytest.mark.parametrize("name", [item for item in REAL if last_total(files_of(item)[1])])
def test_S42_the_money_is_what_the_file_tells(name: str) -> None:
    session, files = files_of(name)
    total = last_total(files)
    assert total is not None
    reported = {model: round(usage["costUSD"], 10) for model, usage in total["modelUsage"].items()}
    assert by_model(spent_in(session, files), "cost_usd") == reported


@pytest.mark.parametrize("name", [item for item in REAL if not last_total(files_of(item)[1])])
def test_S42_where_a_file_tells_no_money_there_is_none(name: str) -> None:
    session, files = files_of(name)
    assert by_model(spent_in(session, files), "cost_usd") == {}


def forked(records: list[Record], session: str) -> list[Record]:
    """As 2.1.325 writes a fork: the answers again, no totals, and a total that continues."""
    (total,) = (record for record in records if record["type"] == "cost-state")
    copied = [
        {**record, "sessionId": session} for record in records if record["type"] != "cost-state"
    ]
    answer = next(record for record in copied if record["type"] == "assistant")
    more = {
        **answer,
        "uuid": "another",
        "timestamp": "2026-11-16T10:00:00.000Z",
        "message": {**answer["message"], "id": "msg_of_the_fork"},
    }
    models = {
        name: {**record, "costUSD": record["costUSD"] + 1}
        for name, record in total["modelUsage"].items()
    }
    return [
        *copied,
        more,
        {**total, "totalCostUSD": total["totalCostUSD"] + 1, "modelUsage": models},
    ]


@pytest.mark.parametrize("fork_first", [False, True])
async def test_S42_a_fork_in_the_files_counts_its_parents_answers_once(
    tmp_path: Path, fork_first: bool
) -> None:
    session, (records,) = files_of("2.1.325/tools")
    parent = spent_in(session, [records])
    fork = spent_in("fork", [forked(records, "fork")])
    order = [("fork", fork), (session, parent)]
    async with SqliteStore(tmp_path) as store:
        for name, spent in order if fork_first else reversed(order):
            await store.put_file_usage(name, spent, project="/home/me/ship")
        sums = file_sums(tmp_path, FileSums())
    figures = [row.figures for row in sums.rows]
    assert sum(figure["input_tokens"] for figure in figures) == 700
    assert sum(figure["cost_usd"] for figure in figures) == pytest.approx(0.00744)
    assert {row.project for row in sums.rows} == {"/home/me/ship"}


def test_what_a_branch_copied_under_new_ids_is_not_counted() -> None:
    session, (records,) = files_of("2.1.325/tools")
    copies = [
        {**record, "forkedFrom": {"sessionId": "other", "messageUuid": "u"}} for record in records
    ]
    assert not [record for record in spent_in(session, [copies]) if record.input_tokens]


async def test_a_file_that_is_read_again_is_not_counted_again(tmp_path: Path) -> None:
    session, files = files_of("2.1.325/subagent")
    async with SqliteStore(tmp_path) as store:
        await store.put_file_usage(session, spent_in(session, [files[0][:20], *files[1:]]))
        for _ in range(2):
            await store.put_file_usage(session, spent_in(session, files))
        sums = file_sums(tmp_path, FileSums())
        assert file_sums(tmp_path, sums) is sums
        await store.put_file_usage("another", [FileSpent(answer="a", at=1.0, model="m")])
        assert len(file_sums(tmp_path, sums).rows) == len(sums.rows) + 1
    assert sum(row.figures["input_tokens"] for row in sums.rows) == 400
    assert {row.session for row in sums.rows} == {session}


@pytest.mark.parametrize(
    "record",
    [
        {"type": "assistant"},
        {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": "many"}}},
        {"type": "assistant", "message": {"id": "m", "usage": [1], "model": 3}},
        {"type": "cost-state", "totalCostUSD": "much", "modelUsage": 3},
        {"type": "cost-state", "totalCostUSD": 0.0, "modelUsage": {"opus": None}},
    ],
)
def test_what_cannot_be_read_counts_nothing(record: Record) -> None:
    spent = spent_in("s", [[record]])
    assert not any(item.input_tokens or item.cost_usd for item in spent)
