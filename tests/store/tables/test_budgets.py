"""The budgets table: costs and levels that are stored once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import budgets as table
from fairlead.store.tables.budgets import Spent


async def test_S50_a_cost_counts_once_and_a_level_is_noted_once(tmp_path: Path) -> None:
    rows = [
        Spent(session=session, turn=turn, at=at, project="/p", cost_usd=cost)
        for session, turn, at, cost in (
            ("a", "1", 10.0, 0.1),
            ("a", "2", 20.0, 0.2),
            ("b", "1", 30.0, 0.4),
        )
    ]
    async with SqliteStore(tmp_path / "data") as store:
        assert await store.apply(lambda db: table.put_spent(db, rows)) == 3
        assert await store.apply(lambda db: table.put_spent(db, rows)) == 0
        assert await store.query(partial(table.spent_in_session, session="a")) == 0.3
        assert await store.query(partial(table.spent_in_project, project="/p")) == 0.7
        assert await store.query(partial(table.spent_since, at=20.0)) == 0.6
        note = partial(table.add_level, budget="day:", period="2026-11-17", level="warned", at=1.0)
        assert await store.apply(note)
        assert not await store.apply(note)
        await store.apply(lambda db: table.put_budget(db, "day:", b"{}"))
        assert await store.query(table.budgets) == {"day:": b"{}"}
        await store.apply(lambda db: table.remove_budget(db, "day:"))
        assert await store.query(table.budgets) == {}
        assert await store.query(table.levels) == set()
