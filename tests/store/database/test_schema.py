"""From one schema to the next."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sqlite3
import subprocess
from pathlib import Path

import pytest

from fairlead.store.database.folder import DATABASE
from fairlead.store.database.migrations import MIGRATIONS
from fairlead.store.log import Event, StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.events import checksum
from tests.store import programs
from tests.store.log_contract import lines_of, new
from tests.store.programs import LONG_MIGRATION, line_for

NEXT = (*MIGRATIONS, LONG_MIGRATION)


def hashes(folder: Path) -> dict[str, str]:
    """Every file but the lock, and what is in it."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "lock"
    }


def version(path: Path) -> int:
    db = sqlite3.connect(path)
    (matches,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return int(matches)


async def fill(folder: Path, count: int) -> None:
    async with SqliteStore(folder) as store:
        await store.append("a", new(*(line_for("a", seq) for seq in range(1, count + 1))))


def test_S18_the_steps_are_numbered_from_one() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def make_older(folder: Path, older: int) -> None:
    """A database of an earlier schema with one event in it."""
    folder.mkdir()
    db = sqlite3.connect(folder / DATABASE)
    for step in MIGRATIONS[:older]:
        for statement in step.statements:
            db.execute(statement)
    db.execute("INSERT INTO streams (session) VALUES ('a')")
    db.execute(
        "INSERT INTO events VALUES (1, 1, 'out', 5.0, x'31', ?)",
        (checksum("a", Event(1, "out", b"1", 5.0)),),
    )
    db.execute(f"PRAGMA user_version = {older}")
    db.commit()
    db.close()


def copies(folder: Path) -> list[Path]:
    """The whole copies that were made."""
    return [path for path in folder.glob(f"{DATABASE}.schema-*") if ".part" not in path.name]


@pytest.mark.parametrize("older", range(1, len(MIGRATIONS)))
async def test_S18_an_older_database_is_copied_and_brought_up_to_date(
    folder: Path, older: int
) -> None:
    make_older(folder, older)
    async with SqliteStore(folder) as store:
        assert store.state.ok
        assert await lines_of(store, "a") == [b"1"]
        assert await store.sessions() == []
        assert await store.search("x") == []
    (copy,) = copies(folder)
    assert version(copy) == older
    assert version(folder / DATABASE) == MIGRATIONS[-1].number
    assert os.stat(copy).st_mode & 0o777 == 0o600


async def test_S18_a_database_that_is_up_to_date_is_not_copied(folder: Path) -> None:
    await fill(folder, 3)
    await fill(folder, 3)
    assert copies(folder) == []


async def test_S19_a_kill_while_migrating_loses_nothing(folder: Path) -> None:
    count = 30_000
    await fill(folder, count)
    chance = random.Random(3)
    completed = False
    for round_number in range(12):
        migrating = programs.start("migrate", folder)
        assert migrating.stdout is not None
        assert await asyncio.to_thread(migrating.stdout.readline) == "starting\n"
        last_round = round_number == 11
        try:
            patience = 60 if last_round else chance.uniform(0.0, 0.25)
            out, _ = await asyncio.to_thread(migrating.communicate, None, patience)
            completed = completed or out == "ok\n"
        except subprocess.TimeoutExpired:
            migrating.kill()
            await asyncio.to_thread(migrating.communicate)
        assert version(folder / DATABASE) in (MIGRATIONS[-1].number, NEXT[-1].number)
    assert completed
    async with SqliteStore(folder, migrations=NEXT) as store:
        lines = await lines_of(store, "a")
        assert lines == [line_for("a", seq) for seq in range(1, count + 1)]
        assert await store.append("a", new(b"x")) == count + 1
    for copy in copies(folder):
        db = sqlite3.connect(copy)
        assert db.execute("SELECT count(*) FROM events").fetchone() == (count,)
        db.close()


async def test_S20_a_newer_database_is_refused_and_not_changed(folder: Path) -> None:
    async with SqliteStore(folder, migrations=NEXT) as store:
        await store.append("a", new(b"1"))
    before = hashes(folder)
    async with SqliteStore(folder) as store:
        assert store.state.code == "newer_schema"
        assert "newer Fairlead" in store.state.reason
        for refused in (store.append("a", new(b"2")), store.read("a", 0, 1)):
            with pytest.raises(StoreUnavailable) as error:
                await refused
            assert error.value.code == "newer_schema"
    assert hashes(folder) == before
    async with SqliteStore(folder, migrations=NEXT) as store:
        assert await lines_of(store, "a") == [b"1"]
