"""What every bus must do; a test class inherits the suite and provides a fixture `connect`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fairlead.fleet.bus.bus import Bus, Conflict, Entry, Message, NoAnswer, NoListener

Connect = Callable[[], Awaitable[Bus]]
"""Makes another connection to the same bus."""

SOON_S = 5.0
"""Enough for a message on a busy machine."""


class Inbox:
    """The messages that a handler got."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Message] = asyncio.Queue()

    def __call__(self, message: Message) -> None:
        self._queue.put_nowait(message)

    async def next(self) -> Message:
        """The next message; fails if none arrives."""
        async with asyncio.timeout(SOON_S):
            return await self._queue.get()

    @property
    def empty(self) -> bool:
        return self._queue.empty()


class BusContract:
    """The suite."""

    async def test_N1_messages_of_one_sender_arrive_in_order(self, connect: Connect) -> None:
        sender, receiver = await connect(), await connect()
        inbox = Inbox()
        await receiver.subscribe("fl.live.n.s", inbox)
        for number in range(100):
            await sender.publish("fl.live.n.s", str(number).encode())
        assert [(await inbox.next()).payload for _ in range(100)] == [
            str(number).encode() for number in range(100)
        ]

    async def test_N1_a_message_reaches_every_listener_and_its_own_sender(
        self, connect: Connect
    ) -> None:
        first, second = await connect(), await connect()
        inboxes = Inbox(), Inbox()
        await first.subscribe("fl.beat.*", inboxes[0])
        await second.subscribe("fl.>", inboxes[1])
        await first.publish("fl.beat.n", b"\x00\xff")
        for inbox in inboxes:
            assert await inbox.next() == Message("fl.beat.n", b"\x00\xff", None)

    async def test_N1_a_closed_subscription_gets_nothing(self, connect: Connect) -> None:
        bus, inbox, other = await connect(), Inbox(), Inbox()
        subscription = await bus.subscribe("fl.beat.a", inbox)
        await bus.subscribe("fl.beat.a", other)
        await subscription.close()
        await bus.publish("fl.beat.a", b"x")
        await other.next()
        assert inbox.empty

    async def test_N2_a_request_gets_the_answer_of_the_listener(self, connect: Connect) -> None:
        asking, answering = await connect(), await connect()
        tasks = set()

        def answer(message: Message) -> None:
            assert message.reply is not None
            task = asyncio.create_task(answering.publish(message.reply, message.payload * 2))
            tasks.add(task)

        await answering.subscribe("fl.ask.n.open", answer)
        assert await asking.request("fl.ask.n.open", b"ab", SOON_S) == b"abab"

    async def test_N2_a_request_without_a_listener_fails_at_once(self, connect: Connect) -> None:
        bus = await connect()
        with pytest.raises(NoListener):
            await bus.request("fl.ask.n.open", b"", 60)

    async def test_N2_a_request_that_is_not_answered_fails_in_time(self, connect: Connect) -> None:
        bus = await connect()
        await bus.subscribe("fl.ask.n.open", Inbox())
        with pytest.raises(NoAnswer):
            await bus.request("fl.ask.n.open", b"", 0.05)

    async def test_N3_a_bucket_returns_what_was_written_last(self, connect: Connect) -> None:
        one, other = (await connect()).bucket("people"), (await connect()).bucket("people")
        assert await one.get("a.b") is None
        revision = await one.put("a.b", b"1")
        assert await other.get("a.b") == Entry("a.b", b"1", revision)
        await other.delete("a.b")
        assert await one.get("a.b") is None

    async def test_N3_only_one_of_several_writers_creates_a_key(self, connect: Connect) -> None:
        buckets = [(await connect()).bucket("lease") for _ in range(4)]
        results = await asyncio.gather(
            *(bucket.create("n", str(place).encode()) for place, bucket in enumerate(buckets)),
            return_exceptions=True,
        )
        won = [place for place, result in enumerate(results) if not isinstance(result, Conflict)]
        assert len(won) == 1
        entry = await buckets[0].get("n")
        assert entry == Entry("n", str(won[0]).encode(), results[won[0]])  # type: ignore[arg-type]

    async def test_N3_a_key_is_updated_only_at_the_expected_revision(
        self, connect: Connect
    ) -> None:
        bucket = (await connect()).bucket("lease")
        first = await bucket.create("n", b"1")
        second = await bucket.update("n", b"2", first)
        with pytest.raises(Conflict):
            await bucket.update("n", b"3", first)
        assert await bucket.get("n") == Entry("n", b"2", second)

    async def test_N3_a_deleted_key_can_be_created_again(self, connect: Connect) -> None:
        bucket = (await connect()).bucket("lease")
        await bucket.create("n", b"1")
        await bucket.delete("n")
        await bucket.create("n", b"2")
        with pytest.raises(Conflict):
            await bucket.create("n", b"3")

    async def test_N3_entries_are_listed_by_their_first_tokens(self, connect: Connect) -> None:
        bucket = (await connect()).bucket("rows")
        for key in ("n1.a", "n1.b", "n2.a"):
            await bucket.put(key, key.encode())
        assert {entry.key for entry in await bucket.entries()} == {"n1.a", "n1.b", "n2.a"}
        assert {entry.key for entry in await bucket.entries("n1")} == {"n1.a", "n1.b"}
        assert await bucket.entries("n3") == []

    async def test_N3_listeners_hear_of_writes_and_deletions(self, connect: Connect) -> None:
        writing, listening = (await connect()).bucket("people"), (await connect()).bucket("people")
        heard: asyncio.Queue[Entry] = asyncio.Queue()
        await listening.listen(heard.put_nowait)
        revision = await writing.put("a", b"1")
        await writing.delete("a")
        async with asyncio.timeout(SOON_S):
            assert await heard.get() == Entry("a", b"1", revision)
            deleted = await heard.get()
        assert (deleted.key, deleted.value) == ("a", None)

    async def test_N4_a_stream_returns_the_records_of_a_subject_in_order(
        self, connect: Connect
    ) -> None:
        stream = (await connect()).stream("log")
        numbers = [
            await stream.append(f"fl.log.n.{session}", str(place).encode())
            for place, session in enumerate("abababab")
        ]
        assert numbers == sorted(set(numbers))
        records = await (await connect()).stream("log").read("fl.log.n.a")
        assert [record.payload for record in records] == [b"0", b"2", b"4", b"6"]
        later = await stream.read("fl.log.n.a", records[1].number, 1)
        assert [record.payload for record in later] == [b"4"]
        last = await stream.last("fl.log.n.b")
        assert last is not None
        assert last.payload == b"7"
        assert await stream.last("fl.log.n.c") is None

    async def test_N4_only_one_of_two_writers_continues_a_subject(self, connect: Connect) -> None:
        stream, other = (await connect()).stream("log"), (await connect()).stream("log")
        first = await stream.append("fl.log.n.s", b"1", after=0)
        second = await other.append("fl.log.n.s", b"2", after=first)
        with pytest.raises(Conflict):
            await stream.append("fl.log.n.s", b"x", after=first)
        with pytest.raises(Conflict):
            await stream.append("fl.log.n.s", b"x", after=0)
        await stream.append("fl.log.n.s", b"3", after=second)
        records = await stream.read("fl.log.n.s")
        assert [record.payload for record in records] == [b"1", b"2", b"3"]
