"""The lease of a node: on the bus within one process, and on NATS with processes that are paused."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.bus.nats_bus import NatsBus
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.node.lease import LEASE_S, LeaseTaken, NodeLease, place_of
from tests.fleet.bus.nats_harness import NatsHarness, running_bus
from tests.waiting import until

PAUSES = int(os.environ.get("FAIRLEAD_PAUSES", "10"))
PAIRS = 2 if PAUSES < 100 else 4
HOLDER = Path(__file__).with_name("lease_holder.py")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lease(broker: MemoryBroker, place: str, clock: Clock) -> NodeLease:
    return NodeLease(broker.connect().bucket("lease"), "n", place, ticks=clock)


async def test_N16_a_second_process_with_the_same_key_is_refused_with_words() -> None:
    broker, clock = MemoryBroker(), Clock()
    first, second = lease(broker, "here", clock), lease(broker, "there", clock)
    generation = await first.acquire()
    with pytest.raises(
        LeaseTaken, match=r"Another process on .* runs as this node since .*--new-identity"
    ):
        await second.acquire()
    clock.now += 5
    await first.renew()
    assert (first.held, second.held, first.generation) == (True, False, generation)


async def test_N16_the_same_data_folder_takes_its_lease_back_at_once() -> None:
    broker, clock = MemoryBroker(), Clock()
    before, after = lease(broker, "here", clock), lease(broker, "here", clock)
    first = await before.acquire()
    assert await after.acquire() > first
    other = lease(broker, "there", clock)
    with pytest.raises(LeaseTaken):
        await other.acquire()


async def test_N16_a_released_lease_is_free() -> None:
    broker, clock = MemoryBroker(), Clock()
    first, second = lease(broker, "here", clock), lease(broker, "there", clock)
    generation = await first.acquire()
    await first.release()
    assert not first.held
    assert await second.acquire() > generation


async def test_N16_a_lease_that_was_not_renewed_is_not_held() -> None:
    broker, clock = MemoryBroker(), Clock()
    first = lease(broker, "here", clock)
    await first.acquire()
    clock.now += 14.9
    assert first.held
    clock.now += 0.2
    assert not first.held


async def test_N16_a_node_that_lost_its_lease_while_suspended_is_notified() -> None:
    broker, clock = MemoryBroker(), Clock()
    first, second = lease(broker, "here", clock), lease(broker, "there", clock)
    generation = await first.acquire()
    clock.now += 20
    await broker.connect().bucket("lease").delete("n")  # It expired.
    assert await second.acquire() > generation
    with pytest.raises(LeaseTaken):
        await first.renew()
    assert not first.held


async def test_N16_a_node_that_is_started_again_needs_no_bus_for_the_rest_of_its_lease(
    tmp_path: Path,
) -> None:
    broker, clock, file = MemoryBroker(), Clock(), tmp_path / "lease.json"
    bucket = broker.connect().bucket("lease")
    first = NodeLease(bucket, "n", "here", ticks=clock, file=file)
    generation = await first.acquire()
    clock.now += 5
    await first.renew()
    clock.now += 5
    bus = broker.connect()
    bus.cut()
    next_one = NodeLease(bus.bucket("lease"), "n", "here", ticks=clock, file=file)
    assert (next_one.held, next_one.generation) == (True, generation)
    told: list[bool] = []
    keeping = asyncio.create_task(next_one.keep(told.append))
    await until(lambda: told == [True])
    bus.heal()
    await until(lambda: next_one._until == clock.now + LEASE_S)  # It was renewed.
    keeping.cancel()
    await asyncio.wait([keeping])
    with pytest.raises(LeaseTaken):
        await lease(broker, "there", clock).acquire()
    copied = NodeLease(bucket, "n", "there", ticks=clock, file=file)
    assert not copied.held  # A copy of the folder is another place.
    clock.now += LEASE_S + 0.1
    assert not NodeLease(bucket, "n", "here", ticks=clock, file=file).held
    await next_one.acquire()
    await next_one.release()
    assert not NodeLease(bucket, "n", "here", ticks=clock, file=file).held


def test_the_place_of_a_folder_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert place_of(tmp_path / "a") == place_of(tmp_path / "a") != place_of(tmp_path / "b")


@pytest.mark.timeout(120 + 4 * PAUSES)
async def test_N16_a_paused_holder_never_writes_after_the_next_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_bus(tmp_path, lease_s=1) as nats:
        while len(nats.nodes) < PAIRS:
            nats.nodes.append(NodeKey())
        await nats.servers[0].set_members(nats.members)
        admin = await nats.bus(nats.admin)
        chances = random.Random(7)
        results = await asyncio.gather(
            *(
                _pause_often(nats, admin, key, PAUSES // PAIRS, random.Random(chances.random()))
                for key in nats.nodes
            )
        )
    pauses, records, stale = (sum(each) for each in zip(*results, strict=True))
    with capsys.disabled():
        sys.stdout.write(f"\nlease: {pauses} pauses, {records} records, {stale} stale\n")
    assert stale == 0
    assert records > pauses
    assert pauses >= PAUSES // PAIRS * PAIRS


async def _pause_often(
    nats: NatsHarness, admin: NatsBus, key: NodeKey, pauses: int, chances: random.Random
) -> tuple[int, int, int]:
    """Two processes with one key; the writing one is paused until the other one has taken over."""
    seed = nats.folder / f"{key.id}.key"
    seed.write_text(key.seed)
    subject = f"fl.log.{key.id}.s"
    authority = str(nats.certificates.authority)
    processes = {
        place: await asyncio.create_subprocess_exec(
            sys.executable, str(HOLDER), nats.addresses[0], authority, str(seed), place
        )
        for place in ("one", "two")
    }
    try:
        generation, holder = await _next_holder(admin, subject, 0)
        for _ in range(pauses):
            await asyncio.sleep(chances.uniform(0, 0.2))
            paused = processes[holder]
            paused.send_signal(signal.SIGSTOP)
            generation, holder = await _next_holder(admin, subject, generation)
            paused.send_signal(signal.SIGCONT)
        # The last one that was paused gets time for what it may still want to write.
        await _next_records(admin, subject, 20)
    finally:
        for process in processes.values():
            process.kill()
            await process.wait()
    generations = [
        int(record.payload.split()[0])
        for record in await admin.stream("log").read(subject, 0, 10**6)
    ]
    stale = sum(later < earlier for earlier, later in itertools.pairwise(generations))
    return len(set(generations)) - 1, len(generations), stale


async def _next_holder(admin: NatsBus, subject: str, generation: int) -> tuple[int, str]:
    """The generation and the name of the next process that writes."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        record = await admin.stream("log").last(subject)
        if record is not None:
            found, holder, _ = record.payload.decode().split()
            if int(found) > generation:
                return int(found), holder
        await asyncio.sleep(0.02)
    raise TimeoutError


async def _next_records(admin: NatsBus, subject: str, count: int) -> None:
    record = await admin.stream("log").last(subject)
    assert record is not None
    deadline = time.monotonic() + 20
    while len(await admin.stream("log").read(subject, record.number, count)) < count:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
