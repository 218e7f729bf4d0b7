"""What everything cost: the sums of `/api/usage`, and that they are those of the transcripts."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.http.usage import Account, Usage
from fairlead.server.refusal import Refusal
from fairlead.store.log import FACT, OUT, NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.recording import recorded
from fairlead.transcript.state.facts import ProcessStarted
from fairlead.transcript.transcript import Transcript
from fairlead.wire.events import Result
from fairlead.wire.json_text import parse
from tests.server.conftest import Served

RECORDINGS = Path(__file__).parents[2] / "recordings"
ALL = sorted(f"{path.parent.name}/{path.stem}" for path in RECORDINGS.glob("*/*.ndjson"))
STARTED = NewEvent(FACT, b'{"fact":"process_started","resumed":null}', 0.0)


def entries(name: str) -> list[dict[str, Any]]:
    lines = (RECORDINGS / f"{name}.ndjson").read_bytes().splitlines()
    return [entry for line in lines if line.strip() and isinstance(entry := parse(line), dict)]


def test_the_sums_are_those_of_the_transcripts_ledger() -> None:
    with_models = 0
    for name in ALL:
        transcript, account = Transcript(), Account()
        sums: dict[str, float] = defaultdict(float)
        for entry in entries(name):
            fed = recorded(entry)
            if fed is None:
                continue
            transcript.feed(*fed)
            if isinstance(fed[0], ProcessStarted):
                account.start()
            elif isinstance(fed[0], Result):
                for model, figures in account.take(fed[0]).items():
                    sums[model] += figures["cost_usd"]
        assert sum(sums.values()) == pytest.approx(transcript.ledger.cost_usd, abs=1e-8), name
        with_models += len([model for model in sums if model])
    assert with_models > 100


def result(total: float, uuid: str, **models: dict[str, Any]) -> bytes:
    result_line = {"type": "result", "uuid": uuid, "total_cost_usd": total, "modelUsage": models}
    return json.dumps(result_line).encode()


def usage_of(cost: float, tokens: int) -> dict[str, Any]:
    return {"costUSD": cost, "inputTokens": tokens, "outputTokens": 2 * tokens}


async def test_B32_usage_is_summed_by_time_project_and_model(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        usage = Usage(tmp_path / "data", lambda: store.epoch)
        await store.append("one", [
            STARTED,
            NewEvent(OUT, result(0.5, "r1", opus=usage_of(0.5, 10)), 10.0),
            NewEvent(OUT, result(0.8, "r2", opus=usage_of(0.5, 10), haiku=usage_of(0.3, 5)), 20.0),
            STARTED,
            NewEvent(OUT, result(0.9, "r3", opus=usage_of(0.9, 30)), 25.0),
        ])  # fmt: skip
        found = await usage.report([0.0, 15.0, 30.0])
    rows = [(row.bucket, row.model, row.cost_usd) for row in found.rows]
    assert rows == [(0, "opus", 0.5), (1, "haiku", 0.3), (1, "opus", 0.9)]
    assert found.turns == (1, 2)
    assert found.rows[2].output_tokens == 60
    assert found.first == 10.0


async def test_B32_a_forks_copied_past_is_counted_once(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        usage = Usage(tmp_path / "data", lambda: store.epoch)
        past = [STARTED, NewEvent(OUT, result(0.5, "r1"), 10.0)]
        await store.append("parent", past)
        await store.append("fork", past)
        await store.append("fork", [STARTED, NewEvent(OUT, result(0.2, "r2"), 11.0)])
        found = await usage.report([0.0, 100.0])
    assert [row.cost_usd for row in found.rows] == [0.7]


async def test_what_came_since_the_last_question_is_in_the_next_answer(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        usage = Usage(tmp_path / "data", lambda: store.epoch)
        assert (await usage.report([0.0, 1.0])).first is None
        await store.append("one", [STARTED, NewEvent(OUT, result(0.5, "r1"), 0.5)])
        assert (await usage.report([0.0, 1.0])).turns == (1,)
        await store.append("one", [NewEvent(OUT, result(0.6, "r2"), 0.7)])
        found = await usage.report([0.0, 1.0])
    assert found.turns == (2,)
    assert found.rows[0].cost_usd == pytest.approx(0.6)


@pytest.mark.parametrize("bounds", [[], [1.0], [2.0, 1.0], [0.0, float("nan")], [0.0] * 600])
async def test_bounds_that_mean_nothing_are_refused(tmp_path: Path, bounds: list[float]) -> None:
    with pytest.raises(Refusal):
        await Usage(tmp_path, lambda: "").report(bounds)


async def test_B32_a_real_turn_is_in_the_report(served: Served) -> None:
    client = await served.client("viewer")
    owner = await served.client()
    await owner.ending(await owner.new_session("hello"))
    bearer = {"authorization": f"Bearer {client.token}"}
    status, body, _ = await served.http("/api/usage?bounds=0,99999999999", **bearer)
    report = json.loads(body)
    assert (status, report["turns"]) == (200, [1])
    assert report["rows"][0]["project"] == str(served.project)
    assert report["rows"][0]["cost_usd"] == pytest.approx(0.01)
    assert (await served.http("/api/usage?bounds=soon", **bearer))[0] == 400
