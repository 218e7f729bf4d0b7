"""Group commit, locks, and operations that fail."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from fairlead.store.database.connection import Connect, connect
from fairlead.store.database.state import StoreState
from fairlead.store.log import StoredSnapshot, StoreUnavailable
from fairlead.store.pace import Activity, Pace
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.intents import IntentOutcome
from fairlead.store.tables.sessions import SessionRow
from tests.store import programs
from tests.store.log_contract import lines_of, new

BOUND_S = 60.0
QUICK = Pace(rest=0.0, patience=0.05, probe=0.01)
LONG_PAUSES = Pace(rest=1e9, longest=BOUND_S * 10)


@asynccontextmanager
async def locked(folder: Path) -> AsyncIterator[asyncio.Event]:
    """Another process holds the write lock; set the event to make it let go."""
    holder = programs.start("hold_lock", folder)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "locked\n"
    over = asyncio.Event()

    async def let_go() -> None:
        await over.wait()
        await asyncio.to_thread(holder.communicate)

    letting_go = asyncio.create_task(let_go())
    try:
        yield over
    finally:
        over.set()
        await asyncio.wait_for(letting_go, BOUND_S)


async def test_S4_appends_that_come_together_share_a_commit(store: SqliteStore) -> None:
    before = store.counters.commits
    await asyncio.gather(*(store.append(f"s{n % 7}", new(b"x")) for n in range(500)))
    assert store.counters.commits - before <= 25


async def test_S4_appends_of_any_size_in_one_commit_keep_their_numbers_and_their_order(
    store: SqliteStore,
) -> None:
    sizes = [1, 2, 3, 63, 64, 65, 130, 0, 7]
    lines = {f"s{size}": [b"%d of %d" % (n, size) for n in range(size)] for size in sizes}
    before = store.counters.commits
    appends: list[Any] = []
    for session, of_session in lines.items():
        # Another write between the appends finds the events that were appended before it.
        appends.append(store.append(session, new(*of_session)))
        appends.append(store.put_session(SessionRow(id=session)))
        appends.append(store.append(session, new(b"last")))
    results = await asyncio.gather(*appends)
    assert results[0::3] == sizes
    assert results[2::3] == [size + 1 for size in sizes]
    assert store.counters.commits - before <= 2
    for session, of_session in lines.items():
        assert await lines_of(store, session) == [*of_session, b"last"]


async def test_S4_writes_of_one_turn_of_the_loop_share_a_commit(store: SqliteStore) -> None:
    """Those that follow each other within the turn too, such as an answer and the row it changes."""
    before = store.counters.commits
    appended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    row = asyncio.ensure_future(store.put_session(SessionRow(id="a")))
    outcome = asyncio.ensure_future(store.put_intent_result("c", 1, b"{}"))
    await asyncio.sleep(0)
    store.append_soon("a", new(b"1"), lambda last, _: appended.set_result(last), urgent=True)
    await asyncio.gather(row, outcome, appended)
    assert store.counters.commits - before == 1


async def test_S4_an_append_of_the_last_moment_is_stored_before_the_store_closes(
    folder: Path,
) -> None:
    outcomes: list[tuple[int, BaseException | None]] = []
    store = await SqliteStore(folder).start()
    store.append_soon("a", new(b"1"), lambda last, problem: outcomes.append((last, problem)))
    await store.close()
    assert outcomes == [(1, None)]
    with pytest.raises(StoreUnavailable):
        store.append_soon("a", new(b"2"), lambda last, problem: outcomes.append((last, problem)))
    async with SqliteStore(folder) as again:
        assert await lines_of(again, "a") == [b"1"]


async def test_S4_one_that_comes_alone_does_not_wait(folder: Path) -> None:
    async with SqliteStore(folder, pace=LONG_PAUSES) as store:
        await asyncio.wait_for(store.append("a", new(b"x")), BOUND_S)


async def test_S4_a_full_group_does_not_wait(folder: Path) -> None:
    async with SqliteStore(folder, pace=structs.replace(LONG_PAUSES, group=3)) as store:
        await store.append("a", new(b"x"))
        waiting = [asyncio.ensure_future(store.append("a", new(b"x"))) for _ in range(3)]
        assert await asyncio.wait_for(asyncio.gather(*waiting), BOUND_S) == [2, 3, 4]


async def test_S4_an_urgent_append_does_not_wait_and_takes_the_others_along(folder: Path) -> None:
    async with SqliteStore(folder, pace=LONG_PAUSES) as store:
        await store.append("a", new(b"1"))
        waiting = asyncio.ensure_future(store.append("a", new(b"2")))
        urgent: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        await asyncio.sleep(0)
        store.append_soon(
            "b", new(b"1"), lambda last, problem: urgent.set_result(last), urgent=True
        )
        assert await asyncio.wait_for(urgent, BOUND_S) == 1
        assert await asyncio.wait_for(waiting, BOUND_S) == 2


async def test_S4_the_pause_after_a_commit_follows_the_event_loop(folder: Path) -> None:
    late_s = 0.05

    def note_late(last: int, problem: BaseException | None) -> None:
        time.sleep(late_s)

    async with SqliteStore(folder, pace=Pace(rest=10.0, longest=BOUND_S)) as store:
        store.append_soon("a", new(b"1"), note_late)
        await store.append("b", new(b"1"))  # It shares the commit, so the loop is late by now.
        began = time.monotonic()
        await store.append("a", new(b"2"))
        assert time.monotonic() - began > 9 * late_s


def active(share: float = 0.0, per_s: float = 0.0) -> Activity:
    activity = Activity()
    activity.share, activity.per_s = share, per_s
    return activity


@pytest.mark.parametrize(
    ("took", "activity", "urgent", "pause"),
    [
        (0.0, active(), False, 0.0),  # Nothing was committed yet.
        (0.001, active(0.02, 50), False, 0.001),
        (0.001, active(0.08, 250), False, 0.001),
        (0.001, active(0.12), False, 0.0125),
        (0.001, active(0.16), False, 0.025),
        (0.001, active(1.3), False, 0.025),
        (0.001, active(1.3), True, 0.005),
        (0.001, active(per_s=300), False, 0.005),
        (0.001, active(per_s=500), False, 0.025),
        (0.001, active(per_s=9_000), False, 0.025),
        (0.001, active(0.12, 300), False, 0.0125),
        (0.001, active(0.09, 400), False, 0.015),
        (0.010, active(0.02), False, 0.010),
        (0.100, active(0.02), False, 0.025),
        (0.100, active(0.02), True, 0.005),
    ],
)
def test_S4_the_pause_grows_with_the_load_the_writes_and_the_time_of_a_commit(
    took: float, activity: Activity, urgent: bool, pause: float
) -> None:
    assert Pace().pause_s(took, activity, urgent=urgent) == pytest.approx(pause)


@pytest.mark.parametrize("share", [0.01, 0.1, 1.5])
@pytest.mark.parametrize("every_s", [0.001, 0.02, 1.0])
def test_S4_the_activity_of_a_steady_process_is_what_it_does_in_a_second(
    share: float, every_s: float
) -> None:
    activity = Activity(7.0, 100.0)
    for number in range(1, int(10 / every_s)):
        activity.note(3, 7.0 + share * number * every_s, 100.0 + number * every_s)
    assert activity.share == pytest.approx(share)
    assert activity.per_s == pytest.approx(3 / every_s)


def test_S4_after_a_pause_of_seconds_a_process_counts_as_idle() -> None:
    activity = Activity()
    for number in range(100):
        activity.note(100, 0.1 * number, 0.1 * number)
    busy = activity.share, activity.per_s
    activity.note(1, 9.9 + 0.01, 9.9 + 5.0)
    assert busy == pytest.approx((1.0, 1_000.0))
    assert Pace().pause_s(0.0, activity, urgent=False) == 0.0
    assert activity.share > 0
    activity.note(1, 11.0, 9.9 + 5.0)  # The clock stands still: nothing can be said.
    assert activity.share < 0.01


async def test_S9_the_event_loop_runs_on_while_the_database_is_locked(folder: Path) -> None:
    async with SqliteStore(folder, pace=Pace(patience=BOUND_S)) as store:
        await store.append("a", new(b"1"))
        async with locked(folder) as over:
            waiting = asyncio.ensure_future(store.append("a", new(b"2")))
            for _ in range(100):
                # Each of these goes through the loop several times, and none waits for the lock.
                assert await lines_of(store, "a") == [b"1"]
            assert not waiting.done()
            over.set()
            assert await asyncio.wait_for(waiting, BOUND_S) == 2


async def test_S10_a_short_lock_costs_only_time(folder: Path) -> None:
    async with SqliteStore(folder, pace=Pace(patience=BOUND_S)) as store:
        async with locked(folder) as over:
            waiting = asyncio.ensure_future(store.append("a", new(b"x")))
            completed, _ = await asyncio.wait([waiting], timeout=0.2)
            assert not completed
            over.set()
            assert await asyncio.wait_for(waiting, BOUND_S) == 1
        assert store.state.ok


async def test_S10_a_long_lock_refuses_and_passes_by_itself(folder: Path) -> None:
    async with SqliteStore(folder, pace=QUICK) as store:
        states: asyncio.Queue[StoreState] = asyncio.Queue()
        await store.append("a", new(b"1"))
        store.on_state(states.put_nowait)
        async with locked(folder) as over:
            with pytest.raises(StoreUnavailable, match="another program") as error:
                await asyncio.wait_for(store.append("a", new(b"2")), BOUND_S)
            assert error.value.code == "locked"
            assert (await asyncio.wait_for(states.get(), BOUND_S)).code == "locked"
            assert await lines_of(store, "a") == [b"1"]
            over.set()
            assert (await asyncio.wait_for(states.get(), BOUND_S)).ok
        assert await store.append("a", new(b"3")) == 2


async def test_S10_a_database_that_is_locked_at_the_start_opens_later(folder: Path) -> None:
    async with SqliteStore(folder) as store:
        epoch = store.epoch
    async with locked(folder) as over, SqliteStore(folder, pace=QUICK) as store:
        assert store.state.code == "locked"
        states: asyncio.Queue[StoreState] = asyncio.Queue()
        store.on_state(states.put_nowait)
        over.set()
        assert (await asyncio.wait_for(states.get(), BOUND_S)).ok
        assert await store.append("a", new(b"1")) == 1
        assert store.epoch == epoch


async def test_S16_a_listener_hears_each_change_once_until_it_stops(folder: Path) -> None:
    async with SqliteStore(folder, pace=QUICK) as store:
        received: list[str] = []
        changed = asyncio.Event()
        stop = store.on_state(lambda state: received.append(state.code))
        store.on_state(lambda state: changed.set())
        async with locked(folder):
            for _ in range(3):
                with pytest.raises(StoreUnavailable):
                    await store.append("a", new(b"x"))
            assert received == ["locked"]
            stop()
            changed.clear()
        await asyncio.wait_for(changed.wait(), BOUND_S)
        assert received == ["locked"]
        assert store.state.ok


# Operations that fail

KINDS = {
    "busy": (sqlite3.SQLITE_BUSY, "database is locked"),
    "full": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "io": (sqlite3.SQLITE_IOERR_WRITE, "disk I/O error"),
    "no handle": (sqlite3.SQLITE_CANTOPEN, "unable to open database file"),
}


class Countdown:
    """Counts operations on all connections for writing, and fails the n-th."""

    def __init__(self, fail_at: int, kind: str) -> None:
        self.fail_at = fail_at
        self.kind = kind
        self.count = 0

    def step(self) -> None:
        self.count += 1
        if self.count == self.fail_at:
            code, text = KINDS[self.kind]
            problem = sqlite3.OperationalError(text)
            problem.sqlite_errorcode = code
            raise problem

    def connect(self, path: Path, read_only: bool) -> sqlite3.Connection:
        if read_only:
            return connect(path, True)
        self.step()
        countdown = self

        class Failing(sqlite3.Connection):
            def execute(self, *arguments: Any) -> sqlite3.Cursor:
                countdown.step()
                return super().execute(*arguments)

            def executemany(self, *arguments: Any) -> sqlite3.Cursor:
                countdown.step()
                return super().executemany(*arguments)

        return sqlite3.connect(
            path, factory=Failing, timeout=0.05, isolation_level=None, check_same_thread=False
        )


async def work(folder: Path, connect: Connect) -> list[bytes]:
    """A life of a store; gives back what was acknowledged."""
    acknowledged: list[bytes] = []
    async with SqliteStore(
        folder, connect=connect, pace=Pace(rest=0.0, patience=0.0, probe=0.001)
    ) as store:
        for number in range(4):
            lines = [b"%d:%d" % (number, part) for part in range(number + 1)]
            intent = IntentOutcome(client="c", n=number + 1, result=b"{}")
            try:
                last = await store.append("a", new(*lines), intent=intent)
            except StoreUnavailable:
                continue
            acknowledged += lines
            assert last == len(acknowledged)
            assert await store.intent_result("c", number + 1) == b"{}"
        try:
            await store.keep_snapshot("a", StoredSnapshot(1, "v1", (b"1", b"2")))
            await store.index_items("a", [{"id": "p", "kind": "prompt", "text": "words"}])
        except StoreUnavailable:
            pass
        assert await lines_of(store, "a") == acknowledged
    return acknowledged


async def operations(folder: Path) -> int:
    """How many operations a life without failure has."""
    countdown = Countdown(0, "busy")
    assert len(await work(folder, countdown.connect)) == 10
    return countdown.count


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("kind", KINDS)
async def test_S12_whichever_operation_fails_no_hole_and_no_loss(tmp_path: Path, kind: str) -> None:
    total = await operations(tmp_path / "whole")
    assert total > 40
    for n in range(1, total + 1):
        folder = tmp_path / str(n)
        acknowledged = await work(folder, Countdown(n, kind).connect)
        async with SqliteStore(folder) as store:
            assert store.state.ok, f"operation {n}"
            assert await lines_of(store, "a") == acknowledged, f"operation {n}"
            assert await store.append("a", new(b"x")) == len(acknowledged) + 1
