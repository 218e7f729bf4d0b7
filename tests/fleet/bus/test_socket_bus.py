"""The bus between the processes of one machine."""

from __future__ import annotations

import asyncio
import stat
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import Bus, BusError, BusUnavailable
from fairlead.fleet.bus.socket_bus import SocketBroker, SocketBus, connect_socket_bus
from tests.fleet.bus.contract import BusContract, Connect, Inbox
from tests.waiting import until

ECHO = """
import asyncio, pathlib, sys
from fairlead.fleet.bus.socket_bus import connect_socket_bus

async def main():
    bus = await connect_socket_bus(pathlib.Path(sys.argv[1]))
    ended = asyncio.Event()
    bus.on_connected(lambda connected: ended.set())
    await bus.subscribe("fl.do.n", lambda message: asyncio.create_task(
        bus.publish(message.reply, message.payload[::-1])))
    await bus.publish("fl.beat.n", b"ready")
    await ended.wait()

asyncio.run(main())
"""


@pytest.fixture
async def broker() -> AsyncIterator[SocketBroker]:
    # The path of a Unix socket is limited to 108 bytes, and pytest's folders are long.
    with tempfile.TemporaryDirectory() as folder:
        broker = SocketBroker(Path(folder) / "bus")
        await broker.start()
        yield broker
        await broker.close()


class TestSocketBus(BusContract):
    @pytest.fixture
    async def connect(self, broker: SocketBroker) -> AsyncIterator[Connect]:
        buses: list[SocketBus] = []

        async def connect() -> Bus:
            buses.append(await connect_socket_bus(broker.path))
            return buses[-1]

        yield connect
        for bus in buses:
            await bus.close()


async def test_N1_messages_pass_between_the_brokers_process_and_another(
    broker: SocketBroker,
) -> None:
    own, beats = broker.broker.connect(), Inbox()
    await own.subscribe("fl.beat.*", beats)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", ECHO, str(broker.path))
    assert (await beats.next()).payload == b"ready"
    assert await own.request("fl.do.n", b"abc", 20) == b"cba"
    await broker.close()
    assert await process.wait() == 0


async def test_N5_a_connection_ends_with_the_broker(broker: SocketBroker) -> None:
    bus = await connect_socket_bus(broker.path)
    states: list[bool] = []
    bus.on_connected(states.append)
    waiting = asyncio.create_task(bus.request("fl.nothing", b"", 60))
    await broker.close()
    await until(lambda: states)
    assert states == [False]
    with pytest.raises(BusError):  # `NoListener` if the broker answered before it closed.
        await waiting
    with pytest.raises(BusUnavailable):
        await bus.publish("fl.a", b"")
    with pytest.raises(BusUnavailable):
        await bus.bucket("people").get("a")
    await bus.close()


async def test_only_the_user_can_connect(broker: SocketBroker) -> None:
    assert stat.S_IMODE(broker.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("garbage", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x02\xc1\xc1", b"\x00"])
async def test_garbage_ends_only_its_own_connection(broker: SocketBroker, garbage: bytes) -> None:
    bus, inbox = await connect_socket_bus(broker.path), Inbox()
    await bus.subscribe("fl.a", inbox)
    reader, writer = await asyncio.open_unix_connection(broker.path)
    writer.write(garbage)
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    await bus.publish("fl.a", b"x")
    assert (await inbox.next()).payload == b"x"
    await bus.close()


async def test_N5_a_process_that_does_not_read_delays_no_other(broker: SocketBroker) -> None:
    sender, inbox = broker.broker.connect(), Inbox()
    stuck = await connect_socket_bus(broker.path)
    await stuck.subscribe("fl.a", Inbox())
    assert stuck._reading is not None
    stuck._reading.cancel()
    other = await connect_socket_bus(broker.path)
    await other.subscribe("fl.a", inbox)
    piece = b"x" * 1_000_000
    for _ in range(100):
        await sender.publish("fl.a", piece)
        assert (await inbox.next()).payload == piece
    await other.close()
    await stuck.close()
