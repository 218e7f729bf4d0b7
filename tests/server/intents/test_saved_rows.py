"""Rows that are stored later share one write, and none is lost if it fails."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import structs

from fairlead.store.tables.sessions import SessionRow
from tests.server.server_harness import ServerHarness


async def test_rows_that_change_together_are_stored_once_each(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        catalog, store = harness.registry.sessions.catalog, harness.registry.sessions.store
        before = store.counters.writes
        for number in range(20):
            row = SessionRow(id=f"s{number % 5}", cwd="/", title=f"title {number}")
            catalog.save_soon(row)
        await harness.until(lambda: not harness.registry.sessions._tasks)
        assert store.counters.writes == before + 1
        titles = {row.id: row.title for row in await store.sessions()}
        assert titles == {f"s{number}": f"title {number + 15}" for number in range(5)}


async def test_a_row_whose_write_is_cancelled_is_stored_later(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        catalog, store = harness.registry.sessions.catalog, harness.registry.sessions.store
        row = SessionRow(id="s", cwd="/", title="old")
        await catalog.save(row)
        catalog.rows["s"] = structs.replace(row, title="new")
        catalog._unsaved.add("s")
        saving = asyncio.create_task(catalog.save_all())
        await asyncio.sleep(0)
        saving.cancel()
        await asyncio.wait([saving])
        assert catalog._unsaved == {"s"}
        await catalog.save_all()
        assert [row.title for row in await store.sessions()] == ["new"]
