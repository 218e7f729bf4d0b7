"""The schedules table: a run and the time of the next one are stored together."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from msgspec import structs

from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import schedules as table


async def test_S51_a_run_and_the_next_time_are_stored_together_and_old_runs_go(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await store.apply(lambda db: table.put(db, "a", b"{}", 10.0))
        plan = partial(table.plan, schedule="a", due=10.0, next_at=20.0, prompt="p")
        first = await store.apply(plan)
        assert [row.next_at for row in await store.query(table.rows)] == [20.0]
        assert await store.query(table.open_runs) == [first]
        done = structs.replace(first, state="done", outcome="success", cost_usd=0.5, session="s")
        await store.apply(lambda db: table.change_run(db, done))
        assert await store.query(table.last_runs) == {"a": done}
        for _ in range(table.KEPT_RUNS):
            await store.apply(plan)
        assert len(await store.query(table.open_runs)) == table.KEPT_RUNS
        assert (await store.query(table.last_runs))["a"].id == table.KEPT_RUNS + 1
        await store.apply(lambda db: table.remove(db, "a"))
        assert await store.query(table.rows) == []
        assert await store.query(table.last_runs) == {}
