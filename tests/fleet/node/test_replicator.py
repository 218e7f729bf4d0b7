"""Copies of logs on the bus: complete, once, only with consent, and never of a session that moved."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import NoAnswer, RecordStream
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.gateway.replica_log import ReplicaLog
from fairlead.fleet.node.replicator import BATCH_BYTES, Replicator
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.log_batch import LogBatch, decode_batch, encode_batch
from fairlead.store.log import Event, NewEvent
from fairlead.store.sqlite import SqliteStore
from tests.waiting import until

NODE = "n1"


class Copying:
    """A node's store, its replicator, and the bus."""

    def __init__(self, store: SqliteStore, broker: MemoryBroker) -> None:
        self.store = store
        self.broker = broker
        self.bus = broker.connect()
        self.allowed = {"s", "t"}
        self.fenced: list[tuple[str, int]] = []
        self.replicator = self.another()

    def another(self, stream: RecordStream | None = None) -> Replicator:
        return Replicator(
            self.store,
            stream or self.bus.stream(subjects.LOG_STREAM),
            NODE,
            may_leave=self.allowed.__contains__,
            on_fenced=lambda session, generation: self.fenced.append((session, generation)),
            delay_s=0.01,
            retry_s=0.01,
        )

    async def store_lines(self, session: str, *lines: bytes) -> int:
        last = await self.store.append(session, [NewEvent("out", line, 1.5) for line in lines])
        self.replicator.changed(session, sum(map(len, lines)))
        return last

    async def copied(self, session: str, last: int) -> list[Event]:
        """The events of the copy, when it has reached a number."""
        await until(lambda: self.replicator.replicated(session) >= last)
        return await ReplicaLog(self.bus, NODE).read(session, 0, 1_000_000)

    async def batches(self, session: str) -> list[LogBatch]:
        records = await self.bus.stream(subjects.LOG_STREAM).read(subjects.log(NODE, session))
        return [decode_batch(record.payload) for record in records]


@contextlib.asynccontextmanager
async def running(replicator: Replicator) -> AsyncIterator[None]:
    task = asyncio.create_task(replicator.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.fixture
async def copying(tmp_path: Path) -> AsyncIterator[Copying]:
    async with SqliteStore(tmp_path / "data") as store:
        copying = Copying(store, MemoryBroker())
        async with running(copying.replicator):
            yield copying


async def test_N8_the_copy_of_a_log_has_every_event_once(copying: Copying) -> None:
    for number in range(20):
        await copying.store_lines("s", f"{number} 🚀".encode(), b"\x00\xff")
        await copying.store_lines("t", f"t{number}".encode())
    assert await copying.copied("s", 40) == await copying.store.read("s", 0, 1_000)
    assert await copying.copied("t", 20) == await copying.store.read("t", 0, 1_000)
    batches = await copying.batches("s")
    assert [batch.after for batch in batches] == [0, *(batch.last for batch in batches[:-1])]


async def test_N8_long_logs_are_sent_in_several_batches(copying: Copying) -> None:
    lines = [bytes([65 + place]) * (BATCH_BYTES // 3) for place in range(8)]
    lines.append(b"x" * (3 * BATCH_BYTES))
    last = await copying.store_lines("s", *lines)
    assert [event.line for event in await copying.copied("s", last)] == lines
    sizes = [sum(len(event.line) for event in batch.events) for batch in await copying.batches("s")]
    assert max(sizes[:-1]) <= BATCH_BYTES
    assert sizes[-1] == 3 * BATCH_BYTES


async def test_N8_a_restarted_node_goes_on_where_the_copy_ends(tmp_path: Path) -> None:
    broker = MemoryBroker()
    for run in range(3):
        async with SqliteStore(tmp_path / "data") as store:
            copying = Copying(store, broker)
            async with running(copying.replicator):
                last = await copying.store_lines("s", f"run {run}".encode())
                events = await copying.copied("s", last)
    assert [event.line for event in events] == [b"run 0", b"run 1", b"run 2"]
    assert len(await copying.batches("s")) == 3


async def test_N8_a_lost_connection_delays_the_copy_and_loses_nothing(copying: Copying) -> None:
    await copying.copied("s", await copying.store_lines("s", b"before"))
    copying.bus.cut()
    last = await copying.store_lines("s", b"meanwhile", b"still")
    copying.bus.heal()
    events = await copying.copied("s", last)
    assert [event.line for event in events] == [b"before", b"meanwhile", b"still"]


async def test_N8_an_append_that_was_not_confirmed_is_not_repeated(copying: Copying) -> None:
    stream = LostConfirmations(copying.bus.stream(subjects.LOG_STREAM), 3)
    replicator = copying.replicator = copying.another(stream)
    async with running(replicator):
        for number in range(4):
            last = await copying.store_lines("s", str(number).encode())
            await copying.copied("s", last)
    assert stream.left == 0
    lines = [event.line for batch in await copying.batches("s") for event in batch.events]
    assert lines == [b"0", b"1", b"2", b"3"]


class LostConfirmations:
    """A stream that stores every record and loses the confirmations of the first ones."""

    def __init__(self, stream: RecordStream, left: int) -> None:
        self._stream = stream
        self.left = left
        self.last = stream.last
        self.read = stream.read

    async def append(self, subject: str, payload: bytes, *, after: int | None = None) -> int:
        number = await self._stream.append(subject, payload, after=after)
        if self.left:
            self.left -= 1
            raise NoAnswer("The confirmation was lost.")
        return number


async def test_N9_a_log_without_consent_never_leaves_the_machine(copying: Copying) -> None:
    copying.allowed.discard("s")
    await copying.store_lines("s", b"a secret")
    await copying.copied("t", await copying.store_lines("t", b"fine"))
    assert await copying.batches("s") == []


async def test_N9_a_deleted_session_is_deleted_in_the_copy(copying: Copying) -> None:
    await copying.copied("s", await copying.store_lines("s", b"a", b"b"))
    copying.allowed.discard("s")
    copying.replicator.deleted("s")
    records = copying.broker.stream(subjects.LOG_STREAM).records
    await until(lambda: decode_batch(records[-1].payload).deleted)
    replica = ReplicaLog(copying.bus, NODE)
    assert await replica.read("s", 0, 100) == []
    assert (await replica.load("s")).deleted


async def test_N10_a_session_that_another_machine_adopted_is_not_sent_again(
    copying: Copying,
) -> None:
    last = await copying.store_lines("s", b"ours")
    await copying.copied("s", last)
    stream = copying.bus.stream(subjects.LOG_STREAM)
    marker = LogBatch(session="s", epoch="another", generation=1, after=last)
    await stream.append(subjects.log(NODE, "s"), encode_batch(marker))
    await copying.store_lines("s", b"too late")
    assert await until(lambda: copying.fenced) == [("s", 1)]
    await copying.store_lines("s", b"later still")
    await copying.copied("t", await copying.store_lines("t", b"other sessions go on"))
    events = await ReplicaLog(copying.bus, NODE).read("s", 0, 100)
    assert [event.line for event in events] == [b"ours"]
    assert copying.fenced == [("s", 1)]
