"""The notices table: one transaction, one notice for each key, and deliveries that stay."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import notices as table
from fairlead.store.tables.notices import NewDelivery, NewNotice, NoticeMark


def notice(key: str, *targets: str, at: float = 10.0, due: float = 12.0) -> NewNotice:
    deliveries = tuple(NewDelivery(target, due) for target in targets)
    return NewNotice(key=key, at=at, body=key.encode(), deliveries=deliveries)


async def test_S48_a_notice_its_deliveries_and_the_mark_are_stored_together_once(
    tmp_path: Path,
) -> None:
    mark = NoticeMark(turn="t", keys=("request:1",))
    async with SqliteStore(tmp_path / "data") as store:
        for _ in range(2):
            await store.apply(lambda db: table.put(db, "s", [notice("request:1", "a", "b")], mark))
        due = await store.query(lambda db: table.due(db, 12.0, 10))
        assert [(each.notice, each.target, each.key) for each in due] == [
            (1, "a", "request:1"),
            (1, "b", "request:1"),
        ]
        assert await store.query(table.marks) == {"s": mark}
        assert await store.query(lambda db: table.due(db, 11.9, 10)) == []
        # A newer one of the session replaces it where it was not sent; one that is settled goes.
        await store.apply(lambda db: table.put(db, "s", [notice("turn:2", "a")], None))
        keys = {
            each.target: each.key
            for each in await store.query(partial(table.due, now=99.0, limit=10))
        }
        assert keys == {"a": "turn:2", "b": "request:1"}
        await store.apply(lambda db: table.put(db, "s", [], None, ["request:1"]))
        left = await store.query(partial(table.due, now=99.0, limit=10))
        assert [each.key for each in left] == ["turn:2"]


async def test_S49_a_delivery_stays_until_it_is_made_and_old_notices_are_deleted(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await store.apply(lambda db: table.put_target(db, "a", b"{}"))
        await store.apply(lambda db: table.put(db, "s", [notice("one", "a")], None))
        await store.apply(lambda db: table.put(db, "r", [notice("two", "a")], None))
        await store.apply(lambda db: table.retry(db, 1, "a", 50.0, "busy"))
        assert (await store.query(table.targets))[0].problem == "busy"
        await store.apply(lambda db: table.finish(db, 2, "a", 12.5))
        (target,) = await store.query(table.targets)
        assert (target.last_sent, target.problem) == (12.5, "")
        assert await store.query(table.next_due) == 50.0
        await store.apply(lambda db: table.prune(db, 1000.0))
        (left,) = await store.query(partial(table.due, now=50.0, limit=10))
        assert (left.notice, left.tries) == (1, 1)
        await store.apply(lambda db: table.forget_target(db, "a"))
        assert await store.query(table.next_due) is None
        assert await store.query(table.targets) == []
