"""Full disks, cut logs, changed bytes, killed processes."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.database.state import StoreState
from fairlead.store.log import StoreUnavailable
from fairlead.store.pace import Pace
from fairlead.store.sqlite import SqliteStore
from tests.store import programs
from tests.store.log_contract import lines_of, new
from tests.store.programs import line_for

BOUND_S = 30.0


async def is_a_beginning(store: SqliteStore, session: str) -> int:
    """Check that every event has the line it must have; how many there are."""
    lines = await lines_of(store, session)
    assert lines == [line_for(session, seq) for seq in range(1, len(lines) + 1)]
    return len(lines)


# Killed


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize("seed", range(12))
async def test_S2_what_was_acknowledged_survives_kill_9(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    writer = programs.start("append", folder)
    assert writer.stdout is not None
    acknowledged = {"a": 0, "b": 0, "c": 0}
    for _ in range(chance.randrange(1, 300)):
        session, seq = (await asyncio.to_thread(writer.stdout.readline)).split()
        acknowledged[session] = int(seq)
    writer.send_signal(signal.SIGKILL)
    rest, _ = await asyncio.to_thread(writer.communicate)
    for line in rest.splitlines(keepends=True):
        if line.endswith("\n"):
            session, seq = line.split()
            acknowledged[session] = int(seq)
    async with SqliteStore(folder) as store:
        assert store.state.ok
        for session, step in (("a", 1), ("b", 3), ("c", 50)):
            stored = await is_a_beginning(store, session)
            assert stored >= acknowledged[session]
            assert stored % step == 0, "an append is stored whole or not at all"
            assert await store.last_intent(session) == stored
            assert len(await store.audit(session, 1_000_000)) == stored // step


async def test_S7_the_epoch_stays_through_kill_9(folder: Path) -> None:
    async with SqliteStore(folder) as store:
        before = store.epoch
    writer = programs.start("append", folder)
    assert writer.stdout is not None
    await asyncio.to_thread(writer.stdout.readline)
    writer.kill()
    await asyncio.to_thread(writer.communicate)
    async with SqliteStore(folder) as store:
        assert store.epoch == before


# Full


async def fill_up(store: SqliteStore) -> int:
    """Append until it is refused; the last number that was acknowledged."""
    for seq in range(1, 10_000):
        try:
            await store.append("a", new(line_for("a", seq)))
        except StoreUnavailable as refused:
            reported = refused
            break
    assert reported.code == "disk_full"
    assert "the disk is full" in reported.reason
    return seq - 1


async def test_S11_a_full_database_refuses_keeps_and_recovers(folder: Path) -> None:
    pages = [60]

    def limited(path: Path, read_only: bool) -> sqlite3.Connection:
        db = connect(path, read_only)
        db.execute(f"PRAGMA max_page_count = {pages[0]}")
        return db

    async with SqliteStore(folder, connect=limited, pace=Pace(rest=0.0, probe=0.01)) as store:
        states: asyncio.Queue[StoreState] = asyncio.Queue()
        store.on_state(states.put_nowait)
        acknowledged = await fill_up(store)
        assert (await asyncio.wait_for(states.get(), BOUND_S)).code == "disk_full"
        with pytest.raises(StoreUnavailable):
            await store.append("a", new(b"x" * 100_000))
        assert await is_a_beginning(store, "a") == acknowledged > 10
        pages[0] = 1000
        assert (await asyncio.wait_for(states.get(), BOUND_S)).ok
        assert await store.append("a", new(line_for("a", acknowledged + 1))) == acknowledged + 1
        assert await is_a_beginning(store, "a") == acknowledged + 1


def can_mount() -> bool:
    """Whether the test can mount its own file system here."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def fill(folder: Path, program: str, before: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Run a program that fills its disk; what it says when full and when there is room again."""
    filler = programs.start(program, folder, before=before)
    assert filler.stdout is not None
    full = filler.stdout.readline().split()
    rest, _ = filler.communicate("go on\n", timeout=BOUND_S)
    assert filler.returncode == 0
    return full, rest.split()


SMALL_DISKS: list[tuple[str, tuple[str, ...]]] = [("fill_limited", ())]
if can_mount():
    SMALL_DISKS.append(("fill_small_disk", ("unshare", "-rm")))


@pytest.mark.parametrize(("program", "before"), SMALL_DISKS)
async def test_S11_a_disk_that_takes_no_more_refuses_keeps_and_recovers(
    tmp_path: Path, program: str, before: tuple[str, ...]
) -> None:
    full, recovered = await asyncio.to_thread(fill, tmp_path, program, before)
    text, acknowledged, code = full
    assert (text, code) == ("refused", "disk_full")
    assert int(acknowledged) > 50
    one_more = str(int(acknowledged) + 1)
    assert recovered == ["recovered", one_more, one_more, "True"]


# Cut and changed


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """A folder as a killed process leaves it: most of the log is in the write-ahead log."""
    folder = tmp_path / "crashed"
    writer = programs.start("append", folder)
    assert writer.stdout is not None
    for _ in range(120):
        writer.stdout.readline()
    writer.kill()
    writer.communicate()
    return folder


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def wal_of(folder: Path) -> Path:
    return folder / f"{DATABASE}-wal"


async def test_S13_a_log_that_was_cut_leaves_a_beginning(crashed: Path, tmp_path: Path) -> None:
    size = len(wal_of(crashed).read_bytes())
    assert size > 100_000
    lengths = set()
    for number, cut in enumerate(range(0, size, max(997, size // 60 // 997 * 997))):
        folder = copied(crashed, tmp_path / str(number))
        os.truncate(wal_of(folder), cut)
        async with SqliteStore(folder) as store:
            assert store.state.ok
            lengths.add(sum([await is_a_beginning(store, item) for item in "abc"]))
            after = await store.last_seq("a") + 1
            assert await store.append("a", new(line_for("a", after))) == after
    assert len(lengths) > 5, "the cuts must be at places that matter"


async def read_or_condemned(store: SqliteStore, session: str) -> bool:
    """Whether everything is as it was written; if not, the store must have reported it."""
    try:
        await is_a_beginning(store, session)
    except StoreUnavailable as refused:
        reported = refused
    else:
        return True
    assert (reported.code, store.state.code) == ("damaged", "damaged")
    with pytest.raises(StoreUnavailable):
        await store.append(session, new(b"x"))
    return False


def content(folder: Path) -> bytes:
    return (folder / DATABASE).read_bytes()


def overwrite(folder: Path, with_what: bytes) -> None:
    (folder / DATABASE).write_bytes(with_what)


def changed(whole: bytes, chance: random.Random) -> bytes:
    """The same with a byte, some bytes or a page changed at some place."""
    broken = bytearray(whole)
    at = chance.randrange(len(broken))
    for position in range(at, min(at + chance.choice((1, 1, 64, 4096)), len(broken))):
        broken[position] ^= chance.randrange(1, 256)
    return bytes(broken)


async def test_S14_a_changed_byte_never_gives_a_wrong_event(crashed: Path, tmp_path: Path) -> None:
    async with SqliteStore(crashed) as store:
        written = {item: await is_a_beginning(store, item) for item in "abc"}
    complete = content(crashed)
    chance = random.Random(5)
    noticed = 0
    for number in range(60):
        folder = copied(crashed, tmp_path / str(number))
        broken = changed(complete, chance)
        overwrite(folder, broken)
        async with SqliteStore(folder) as store:
            at_start = store.state.code == "damaged"
            good = [await read_or_condemned(store, item) for item in "abc"]
            damaged = store.state.code == "damaged"
            if not damaged:
                assert all(good)
                assert {item: await store.last_seq(item) for item in "abc"} == written
        noticed += damaged
        if at_start:
            assert content(folder) == broken, "what is damaged is not touched"
    assert noticed > 10


@pytest.mark.parametrize("damage", ["no database at all", "a page of noise"])
async def test_S15_a_new_database_is_started_next_to_a_damaged_one(
    crashed: Path, damage: str
) -> None:
    async with SqliteStore(crashed) as store:
        epoch = store.epoch
    broken = bytearray(content(crashed))
    position = 0 if damage == "no database at all" else 3 * 4096
    broken[position : position + 4096] = random.Random(1).randbytes(4096)
    overwrite(crashed, bytes(broken))
    async with SqliteStore(crashed) as store:
        assert store.state.code == "damaged"
        assert "It is not changed" in store.state.reason
        with pytest.raises(StoreUnavailable) as error:
            await store.append("new", new(b"1"))
        assert error.value.code == "damaged"
        received: list[str] = []
        store.on_state(lambda state: received.append(state.code))
        stored = await store.start_fresh()
        assert stored.read_bytes() == broken
        assert store.epoch != epoch
        assert await store.append("new", new(b"1")) == 1
        assert await lines_of(store, "new") == [b"1"]
        assert await store.last_seq("a") == 0
        assert received == ["ok"]
