"""The bus within one process."""

from __future__ import annotations

import pytest

from fairlead.fleet.bus.bus import Bus, BusUnavailable, Message
from fairlead.fleet.bus.memory_bus import MemoryBroker
from tests.fleet.bus.contract import BusContract, Connect, Inbox


class TestMemoryBus(BusContract):
    @pytest.fixture
    def connect(self) -> Connect:
        broker = MemoryBroker()

        async def connect() -> Bus:
            return broker.connect()

        return connect


async def test_N5_a_cut_connection_neither_sends_nor_receives() -> None:
    broker = MemoryBroker()
    cut, other = broker.connect(), broker.connect()
    inbox = Inbox()
    states: list[bool] = []
    cut.on_connected(states.append)
    await cut.subscribe("fl.>", inbox)
    cut.cut()
    with pytest.raises(BusUnavailable):
        await cut.publish("fl.a", b"")
    with pytest.raises(BusUnavailable):
        await cut.bucket("people").get("a")
    await other.publish("fl.a", b"lost")
    cut.heal()
    await other.publish("fl.a", b"heard")
    assert (await inbox.next()).payload == b"heard"
    assert states == [False, True]


async def test_a_test_can_lose_and_repeat_messages() -> None:
    broker = MemoryBroker()
    bus, inbox = broker.connect(), Inbox()
    await bus.subscribe("fl.a", inbox)
    broker.tamper = lambda message: [] if message.payload == b"lost" else [message, message]
    await bus.publish("fl.a", b"lost")
    await bus.publish("fl.a", b"twice")
    assert [await inbox.next(), await inbox.next()] == [Message("fl.a", b"twice")] * 2
