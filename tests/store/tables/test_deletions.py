"""Erasing a session: in small transactions, and nothing of others."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fairlead.store.log import NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.deletions import ERASED_AT_ONCE, KEPT_TABLES, OWN_TABLES, Deletion


def lines(name: str, count: int) -> list[NewEvent]:
    return [NewEvent("out", f"{name} {number}".encode(), 1.0) for number in range(count)]


async def test_S47_a_long_session_is_erased_and_its_number_is_not_used_again(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path / "data", survive_power_loss=False) as store:
        await store.append("a", lines("a", ERASED_AT_ONCE + 10))
        await store.append("b", lines("b", 10))
        await store.put_deletions([Deletion(session="a", at=1.0)])
        assert await store.begin_deletion("a")
        before = store.counters.commits
        await store.erase_session("a")
        assert store.counters.commits - before >= 3
        assert await store.read("a", 0, 10) == []
        assert len(await store.read("b", 0, 100)) == 10
        assert await store.deletions() == []
        await store.append("c", lines("c", 3))
        assert [event.line for event in await store.read("c", 0, 9)] == [b"c 0", b"c 1", b"c 2"]
        assert await store.last_seq("a") == 0


async def test_S47_a_deletion_that_has_begun_cannot_be_undone(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data", survive_power_loss=False) as store:
        await store.put_deletions([Deletion(session=name, at=1.0, files=True) for name in "ab"])
        assert await store.begin_deletion("a")
        assert await store.undo_deletions(["a", "b", "unknown"]) == ["b"]
        assert [each.session for each in await store.deletions()] == ["a"]
        assert not await store.begin_deletion("b")


async def test_S47_no_row_of_an_erased_session_stays_in_any_table(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data", survive_power_loss=False) as store:
        await store.apply(_fill)
        tables = await store.query(_tables_by_session)
        # A new table says whether its rows go with their session.
        assert tables.keys() == {*OWN_TABLES, *KEPT_TABLES, "deliveries"}
        await store.put_deletions([Deletion(session="a", at=1.0)])
        assert await store.begin_deletion("a")
        await store.erase_session("a")
        left = await store.query(_tables_by_session)
        assert {name for name in (*OWN_TABLES, "deliveries") if left[name] != {"b"}} == {
            "deletions"
        }
        assert left["deletions"] == set()


def _fill(db: sqlite3.Connection) -> None:
    for session in "ab":
        db.execute("INSERT INTO drafts VALUES (?, 'd', 'text', 1)", (session,))
        db.execute("INSERT INTO comments VALUES (?, 'c', x'7b7d')", (session,))
        db.execute("INSERT INTO comment_files VALUES (?, 'p', 'f', x'00')", (session,))
        db.execute("INSERT INTO notice_marks VALUES (?, x'7b7d')", (session,))
        notice = db.execute(
            "INSERT INTO notices (session, key, at, body) VALUES (?, 'k', 1, x'7b7d')", (session,)
        ).lastrowid
        db.execute("INSERT INTO deliveries VALUES (?, 't', 1, 0)", (notice,))


def _tables_by_session(db: sqlite3.Connection) -> dict[str, set[str]]:
    """The sessions of each table that has a column for them."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {
        name: {row[0] for row in db.execute(f"SELECT session FROM {name}")}
        for name in names
        if "session" in {column[1] for column in db.execute(f"PRAGMA table_info({name})")}
    }
    due = db.execute("SELECT session FROM deliveries JOIN notices ON notices.id = notice")
    return {**found, "deliveries": {session for (session,) in due}}
