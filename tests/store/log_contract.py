"""What every log must do; a test class inherits the suite and provides a fixture `log`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

import pytest

from fairlead.store.log import FACT, IN, OUT, Event, NewEvent, StoredSnapshot


class Log(Protocol):
    """Stores events; implemented by `SqliteStore` and `MemoryLog`."""

    @property
    def epoch(self) -> str:
        """Changes when numbers start again from 1; a client's old positions are then void."""

    async def append(self, session: str, events: Sequence[NewEvent]) -> int:
        """Store events in order and return the number of the last one, once they are durable.

        Group commit: many appends share one. Raises `StoreUnavailable`, and then none of the
        events was stored.
        """

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Store a snapshot. Unlike events, it may be dropped later."""

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest snapshot of a session that this version made; None if it is damaged."""


ODD_LINES = (b"", b"{}", b"\x00\xff\n\r", "“quoted” 🚀".encode(), b"x" * 300_000)


def new(*lines: bytes, direction: str = OUT) -> list[NewEvent]:
    """Events with these lines, one second apart."""
    return [NewEvent(direction, line, float(at)) for at, line in enumerate(lines)]


async def lines_of(log: Log, session: str, after: int = 0) -> list[bytes]:
    """All lines of a session; fails on a hole."""
    events = await log.read(session, after, 1_000_000)
    assert [event.seq for event in events] == list(range(after + 1, after + 1 + len(events)))
    return [event.line for event in events]


class LogContract:
    """The suite."""

    async def test_S1_numbers_count_from_one_in_each_session(self, log: Log) -> None:
        assert await log.append("a", new(b"1", b"2")) == 2
        assert await log.append("b", new(b"1")) == 1
        assert await log.append("a", new(b"3")) == 3
        assert await log.last_seq("a") == 3
        assert await log.last_seq("b") == 1
        assert await log.last_seq("nobody") == 0

    async def test_S1_every_byte_comes_back_with_its_direction_and_time(self, log: Log) -> None:
        value = [
            NewEvent(direction, line, 1770000000.125 + number)
            for number, line in enumerate(ODD_LINES)
            for direction in (OUT, IN, FACT)
        ]
        await log.append("a", value)
        read = await log.read("a", 0, 100)
        assert [NewEvent(item.direction, item.line, item.at) for item in read] == value

    async def test_S1_order_is_that_of_the_numbers_when_the_clock_jumps(self, log: Log) -> None:
        times = (86_400.0, 0.0, -86_400.0, 172_800.0)
        for at in times:
            await log.append("a", [NewEvent(OUT, b"x", at)])
        assert [item.at for item in await log.read("a", 0, 10)] == list(times)

    async def test_S1_reading_gives_what_follows_and_no_more_than_asked(self, log: Log) -> None:
        await log.append("a", new(*(str(n).encode() for n in range(10))))
        assert [item.seq for item in await log.read("a", 3, 4)] == [4, 5, 6, 7]
        assert [item.seq for item in await log.read("a", 8, 100)] == [9, 10]
        assert [item.seq for item in await log.read("a", -5, 1)] == [1]
        assert await log.read("a", 10, 5) == []
        assert await log.read("a", 99, 5) == []
        assert await log.read("nobody", 0, 5) == []

    async def test_S1_appending_nothing_gives_the_last_number(self, log: Log) -> None:
        assert await log.append("a", []) == 0
        await log.append("a", new(b"1"))
        assert await log.append("a", []) == 1

    async def test_S1_appends_at_the_same_time_do_not_mix(self, log: Log) -> None:
        async def write(writer: int) -> None:
            for number in range(20):
                mark = f"{writer}:{number}".encode()
                await log.append("a", new(mark + b":1", mark + b":2"))

        await asyncio.gather(*(write(writer) for writer in range(5)))
        lines = await lines_of(log, "a")
        assert len(lines) == 200
        for first, second in zip(lines[::2], lines[1::2], strict=True):
            assert (first[:-1], first[-1:], second[-1:]) == (second[:-1], b"1", b"2")
        for writer in range(5):
            own = [line for line in lines[::2] if line.startswith(b"%d:" % writer)]
            assert own == [b"%d:%d:1" % (writer, number) for number in range(20)]

    async def test_S1_what_was_appended_can_be_read_at_once(self, log: Log) -> None:
        for number in range(1, 30):
            last = await log.append("a", new(b"x"))
            assert (await log.read("a", last - 1, 10))[0].seq == number

    async def test_S6_the_newest_snapshot_is_given(self, log: Log) -> None:
        await log.append("a", new(*[b"x"] * 9))
        assert await log.latest_snapshot("a", "v1") is None
        for seq in (3, 9, 6):
            await log.keep_snapshot("a", StoredSnapshot(seq, "v1", (b"%d" % seq, b"head")))
        newest = StoredSnapshot(9, "v1", (b"9", b"head"))
        assert await log.latest_snapshot("a", "v1") == newest
        assert await log.latest_snapshot("b", "v1") is None

    async def test_S6_a_snapshot_that_other_code_made_is_not_given(self, log: Log) -> None:
        await log.keep_snapshot("a", StoredSnapshot(3, "v1", (b"old",)))
        assert await log.latest_snapshot("a", "v2") is None
        await log.keep_snapshot("a", StoredSnapshot(4, "v2", (b"new",)))
        assert await log.latest_snapshot("a", "v2") == StoredSnapshot(4, "v2", (b"new",))

    @pytest.mark.parametrize(
        "parts",
        [(), (b"",), (b"\0\xff" * 9,), tuple(bytes([n]) * n for n in range(200))],
        ids=["none", "an empty one", "any bytes", "many"],
    )
    async def test_S6_a_snapshot_comes_back_as_it_was(
        self, log: Log, parts: tuple[bytes, ...]
    ) -> None:
        await log.keep_snapshot("a", StoredSnapshot(1, "v1", parts))
        assert await log.latest_snapshot("a", "v1") == StoredSnapshot(1, "v1", parts)

    async def test_S8_an_epoch_is_a_name_and_stays(self, log: Log) -> None:
        before = log.epoch
        assert before
        await log.append("a", new(b"x"))
        assert log.epoch == before
