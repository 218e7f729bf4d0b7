"""The store's face: the log contract and the tables."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path
from typing import Any, cast

import pytest

from fairlead.store.code_version import code_version
from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.log import StoredSnapshot, StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import intents
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device
from fairlead.store.tables.drafts import Draft
from fairlead.store.tables.intents import KEPT, IntentOutcome
from fairlead.store.tables.sessions import SessionRow
from tests.store.log_contract import Log, LogContract, lines_of, new
from tests.store.memory_log import MemoryLog

DEVICE = Device(id="d", name="Phone", role="viewer", token_hash="h", created=1.0)


class TestSqliteLog(LogContract):
    @pytest.fixture
    def log(self, store: SqliteStore) -> Log:
        return store


class TestSqliteLogThatDoesNotWaitForTheDisk(LogContract):
    @pytest.fixture
    async def log(self, folder: Path):  # type: ignore[no-untyped-def]
        async with SqliteStore(folder, survive_power_loss=False) as store:
            yield store


async def test_S1_no_write_overtakes_an_append_of_the_same_turn(store: SqliteStore) -> None:
    numbers: list[int] = []

    def done(last: int, problem: BaseException | None) -> None:
        assert problem is None
        numbers.append(last)

    store.append_soon("s", new(b"first"), done)
    assert await store.append("s", new(b"second")) == 2
    store.append_soon("s", new(b"third"), done)
    assert await store.apply(lambda db: len(db.execute("SELECT 1 FROM events").fetchall())) == 3
    assert numbers == [1, 3]
    assert await lines_of(store, "s") == [b"first", b"second", b"third"]


@pytest.mark.parametrize("seed", range(5))
async def test_S8_the_store_does_what_the_log_in_memory_does(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = MemoryLog()
    for _ in range(3):
        async with SqliteStore(folder) as store:
            for _ in range(40):
                session = chance.choice("abc")
                lines = [chance.randbytes(chance.randrange(40)) for _ in range(chance.randrange(4))]
                after, limit = chance.randrange(-1, 30), chance.randrange(30)
                assert await store.append(session, new(*lines)) == await model.append(
                    session, new(*lines)
                )
                assert await store.last_seq(session) == await model.last_seq(session)
                assert await store.read(session, after, limit) == await model.read(
                    session, after, limit
                )


async def test_S1_numbers_go_on_where_they_were_after_restarts(folder: Path) -> None:
    for life in range(4):
        async with SqliteStore(folder) as store:
            assert await store.append("a", new(b"x", b"y")) == 2 * life + 2
            assert await lines_of(store, "a") == [b"x", b"y"] * (life + 1)


async def test_S2_everything_is_there_after_a_restart(folder: Path) -> None:
    async with SqliteStore(folder) as store:
        await store.append("a", new(b"1", b"2"))
        await store.keep_snapshot("a", StoredSnapshot(2, "v1", (b"x", b"y")))
    async with SqliteStore(folder) as store:
        assert await lines_of(store, "a") == [b"1", b"2"]
        assert await store.latest_snapshot("a", "v1") == StoredSnapshot(2, "v1", (b"x", b"y"))
        assert await store.append("a", new(b"3")) == 3


@pytest.mark.parametrize(("waits", "level"), [(None, 2), (True, 2), (False, 1)])
async def test_S40_a_commit_waits_for_the_disk_by_default(
    folder: Path, waits: bool | None, level: int
) -> None:
    opened: list[sqlite3.Connection] = []

    def watched(path: Path, read_only: bool) -> sqlite3.Connection:
        db = connect(path, read_only)
        if not read_only:
            opened.append(db)
        return db

    chosen: dict[str, Any] = {} if waits is None else {"survive_power_loss": waits}
    async with SqliteStore(folder, connect=watched, **chosen) as store:
        await store.append("a", new(b"x"))
        levels = {db.execute("PRAGMA synchronous").fetchone()[0] for db in opened}
    assert levels == {level}


async def test_S3_events_intent_and_audit_are_stored_together(store: SqliteStore) -> None:
    outcome = IntentOutcome(client="c", n=1, result=b'{"ok":true}')
    record = AuditRecord(at=1.0, action="send", session="a", device="d", details={"n": 1})
    await store.append("a", new(b"1"), intent=outcome, audit=[record])
    assert await store.intent_result("c", 1) == b'{"ok":true}'
    assert await store.audit("a") == [record]


async def test_S3_nothing_is_stored_if_a_part_cannot_be(store: SqliteStore) -> None:
    too_large = IntentOutcome(client="c", n=2**70, result=b"{}")
    record = AuditRecord(at=1.0, action="send")
    with pytest.raises(OverflowError):
        await store.append("a", new(b"1"), intent=too_large, audit=[record])
    with pytest.raises(OverflowError):
        await store.put_session(SessionRow(id="s"), intent=too_large)
    assert await store.last_seq("a") == 0
    assert await store.audit() == []
    assert await store.sessions() == []


async def test_S5_a_write_that_is_wrong_fails_alone(store: SqliteStore) -> None:
    wrong = IntentOutcome(client="c", n=2**70, result=b"{}")
    good = [store.append(f"s{n}", new(b"x")) for n in range(10)]
    bad = store.append("a", new(b"x"), intent=wrong)
    outcomes = await asyncio.gather(*good[:5], bad, *good[5:], return_exceptions=True)
    assert isinstance(outcomes.pop(5), OverflowError)
    assert outcomes == [1] * 10
    assert store.state.ok


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE snapshot_parts SET body = x'00ff' WHERE seq = 2 AND number = 1",
        "UPDATE snapshot_parts SET body = 'text' WHERE seq = 2 AND number = 1",
        "UPDATE snapshot_parts SET seq = 3 WHERE seq = 2",
        "DELETE FROM snapshot_parts WHERE seq = 2 AND number = 0",
        "DELETE FROM snapshot_parts WHERE seq = 2 AND number = 2",
        "DELETE FROM snapshots WHERE seq = 2",
        "UPDATE snapshots SET parts = 4 WHERE seq = 2",
    ],
)
async def test_S6_a_damaged_snapshot_is_passed_over(folder: Path, damage: str) -> None:
    older = StoredSnapshot(1, "v1", (b"older",))
    async with SqliteStore(folder) as store:
        await store.keep_snapshot("a", older)
        await store.keep_snapshot("a", StoredSnapshot(2, "v1", (b"a", b"b", b"c")))
    db = sqlite3.connect(folder / DATABASE)
    with db:
        assert db.execute(damage).rowcount > 0
    db.close()
    async with SqliteStore(folder) as store:
        assert await store.latest_snapshot("a", "v1") == older


async def test_S6_only_the_last_snapshots_take_room(folder: Path) -> None:
    async with SqliteStore(folder) as store:
        for seq in range(1, 6):
            await store.keep_snapshot("a", StoredSnapshot(seq, "v1", (b"x", b"y")))
        await store.keep_snapshot("a", StoredSnapshot(5, "v1", (b"z",)))
    db = sqlite3.connect(folder / DATABASE)
    matches = db.execute("SELECT seq, number FROM snapshot_parts ORDER BY seq, number").fetchall()
    db.close()
    assert matches == [(4, 0), (4, 1), (5, 0)]


def test_S6_the_version_of_the_code_is_the_same_each_time() -> None:
    assert code_version() == code_version()
    assert len(code_version()) == 32


async def test_S7_the_epoch_stays_through_restarts(folder: Path) -> None:
    epochs = set()
    for _ in range(3):
        async with SqliteStore(folder) as store:
            epochs.add(store.epoch)
    assert len(epochs) == 1


@pytest.mark.parametrize(("closed", "stays"), [("yes", True), ("no", False)])
async def test_S7_the_epoch_changes_if_the_machine_went_down_meanwhile(
    folder: Path, closed: str, stays: bool
) -> None:
    async with SqliteStore(folder) as store:
        before = store.epoch
    db = sqlite3.connect(folder / DATABASE)
    with db:
        db.execute("UPDATE meta SET value = 'an earlier boot' WHERE name = 'boot'")
        db.execute("UPDATE meta SET value = ? WHERE name = 'closed'", (closed,))
    db.close()
    async with SqliteStore(folder) as store:
        assert (store.epoch == before) is stays


async def test_S17_a_closed_store_refuses_everything(folder: Path) -> None:
    store = SqliteStore(folder)
    with pytest.raises(StoreUnavailable):
        await store.append("a", new(b"x"))
    await store.start()
    await store.close()
    for refused in (store.append("a", new(b"x")), store.read("a", 0, 1), store.sessions()):
        with pytest.raises(StoreUnavailable) as error:
            await refused
        assert error.value.code == "closed"


async def test_S17_closing_stores_what_was_given_before(folder: Path) -> None:
    store = await SqliteStore(folder).start()
    value = [asyncio.create_task(store.append("a", new(b"x"))) for _ in range(50)]
    await asyncio.sleep(0)
    await store.close()
    assert sorted(await asyncio.gather(*value)) == list(range(1, 51))
    async with SqliteStore(folder) as store:
        assert await store.last_seq("a") == 50


async def test_S24_a_session_row_comes_back_as_it_was_put(store: SqliteStore) -> None:
    first = SessionRow(id="1", cwd="/a", title="ä", created=1.0, last_activity=5.0, cost_usd=0.25)
    second = SessionRow(id="2", last_activity=9.0, pinned=True, options={"model": "opus"})
    await store.put_session(first)
    await store.put_session(second)
    assert await store.sessions() == [second, first]
    assert await store.session("1") == first
    assert await store.session("3") is None
    renamed = SessionRow(id="1", cwd="/b", title="new", last_activity=10.0)
    await store.put_session(renamed)
    assert await store.sessions() == [renamed, second]


async def test_S25_a_revoked_device_stays_revoked(store: SqliteStore) -> None:
    await store.put_device(DEVICE)
    assert await store.device_by_token_hash("h") == DEVICE
    assert await store.device_by_token_hash("other") is None
    assert await store.revoke_device("d", at=7.0) is True
    assert await store.revoke_device("d") is False
    assert await store.revoke_device("nobody") is False
    await store.put_device(DEVICE)
    assert await store.device_by_token_hash("h") is None
    assert [(device.id, device.revoked) for device in await store.devices()] == [("d", 7.0)]


async def test_S26_the_audit_lists_the_newest_first(store: SqliteStore) -> None:
    for number in range(5):
        session = "a" if number % 2 else None
        await store.record_audit(AuditRecord(at=0.0, action=str(number), session=session))
    assert [item.action for item in await store.audit(limit=3)] == ["4", "3", "2"]
    assert [item.action for item in await store.audit("a")] == ["3", "1"]


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM audit", "UPDATE audit SET action = 'x'", "UPDATE events SET line = x'00'"],
)
async def test_S26_what_happened_cannot_be_changed(folder: Path, statement: str) -> None:
    async with SqliteStore(folder) as store:
        await store.append("a", new(b"1"), audit=[AuditRecord(at=0.0, action="did")])
    db = sqlite3.connect(folder / DATABASE)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        db.execute(statement)
    db.close()


async def test_S27_a_draft_belongs_to_a_session_and_a_device(store: SqliteStore) -> None:
    first = Draft(session="a", device="d", text="half a th", at=1.0)
    other = Draft(session="a", device="e", text="x", at=2.0)
    await store.put_draft(first)
    await store.put_draft(other)
    assert await store.draft("a", "d") == first
    assert await store.draft("b", "d") is None
    assert await store.drafts("a") == [other, first]
    await store.put_draft(Draft(session="a", device="d", text="", at=3.0))
    assert await store.drafts("a") == [other]


async def test_S28_the_first_result_of_an_intent_stays(store: SqliteStore) -> None:
    await store.put_intent_result("c", 7, b"1")
    await store.put_intent_result("c", 7, b"2")
    assert await store.intent_result("c", 7) == b"1"
    assert await store.intent_result("d", 7) is None
    assert (await store.last_intent("c"), await store.last_intent("d")) == (7, 0)


async def test_S28_only_the_last_results_of_a_client_are_kept(store: SqliteStore) -> None:
    numbers = range(1, KEPT + 11)
    await asyncio.gather(*(store.put_intent_result("c", n, b"{}") for n in numbers))
    assert await store.intent_result("c", 10) is None
    assert await store.intent_result("c", 11) == b"{}"
    assert await store.last_intent("c") == KEPT + 10


async def test_S28_a_client_whose_result_was_rolled_back_is_noted_with_the_next(
    folder: Path,
) -> None:
    async with SqliteStore(folder) as store:
        results = await asyncio.gather(
            store.put_intent_result("d/c", 1, b"{}"),
            store.put_intent_result("d/c", cast(int, "not a number"), b"{}"),
            return_exceptions=True,
        )
        assert results[0] is None
        assert isinstance(results[1], Exception)
        assert await store.query(lambda db: intents.has_room(db, "d/c"))
        rows = await store.query(
            lambda db: db.execute("SELECT device, client FROM intent_clients").fetchall()
        )
        assert rows == [("d", "d/c")]
