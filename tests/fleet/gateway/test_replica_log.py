"""The copy of a log is one gapless run of events, whatever the stream lost, repeated or kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.gateway.replica_log import Replica, ReplicaLog
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.log_batch import LogBatch, encode_batch
from fairlead.store.log import Event


def event(seq: int, line: bytes = b"") -> Event:
    return Event(seq, "out", line or str(seq).encode(), float(seq))


def batch(after: int, last: int, *, epoch: str = "e", generation: int = 0) -> LogBatch:
    events = tuple(map(event, range(after + 1, last + 1)))
    return LogBatch(session="s", epoch=epoch, generation=generation, after=after, events=events)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.data())
def test_N11_any_end_of_a_log_with_repetitions_is_read_without_gaps(
    sizes: list[int], data: st.DataObject
) -> None:
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    batches = [batch(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    discarded = data.draw(st.integers(0, len(batches) - 1))
    kept = batches[discarded:]
    for place in data.draw(st.lists(st.integers(0, len(kept) - 1), max_size=3)):
        kept = [*kept[: place + 1], kept[place], *kept[place + 1 :]]
    replica = Replica()
    for each in kept:
        replica.take(each)
    first = ends[discarded] - sizes[discarded]
    assert replica.first == first
    assert replica.events == [event(seq) for seq in range(first + 1, ends[-1] + 1)]


def test_N11_a_new_database_of_the_node_begins_a_new_log() -> None:
    replica = Replica()
    replica.take(batch(0, 5))
    replica.take(batch(0, 2, epoch="new"))
    assert (replica.epoch, replica.last) == ("new", 2)


def test_N11_the_adopter_of_a_session_decides_what_came_before() -> None:
    replica = Replica()
    replica.take(batch(0, 5))
    replica.take(batch(3, 4, epoch="other", generation=1))
    replica.take(batch(5, 6))
    assert [each.seq for each in replica.events] == [1, 2, 3, 4]
    assert replica.generation == 1


async def test_N11_a_damaged_record_ends_what_can_be_followed() -> None:
    bus = MemoryBroker().connect()
    stream, subject = bus.stream(subjects.LOG_STREAM), subjects.log("n", "s")
    for payload in (
        encode_batch(batch(0, 2)),
        b"damaged",
        encode_batch(batch(4, 6)),
    ):
        await stream.append(subject, payload)
    replica = ReplicaLog(bus, "n")
    assert [each.seq for each in await replica.read("s", 0, 100)] == [5, 6]
    assert await replica.read("s", 5, 100) == [event(6)]
    assert await replica.last_seq("s") == 6
    assert await replica.last_seq("unknown") == 0
