"""What the bus on NATS does when the server dies, hangs or takes nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import BusUnavailable, NoAnswer
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from tests import waiting
from tests.fleet.bus.contract import Inbox
from tests.fleet.bus.nats_harness import NatsHarness, running_bus

NOTICED_S = 6.0
MANY = 400


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[NatsHarness]:
    async with running_bus(tmp_path) as nats:
        yield nats


async def until(bus: NatsBus, connected: bool, timeout_s: float = 20.0) -> float:
    """How long it takes until the bus is connected, or not."""
    started = time.monotonic()
    while bus.connected != connected:
        assert time.monotonic() - started < timeout_s, bus.problem
        await asyncio.sleep(0.01)
    return time.monotonic() - started


async def test_N5_without_a_connection_nothing_is_sent_or_queued(nats: NatsHarness) -> None:
    bus, other = await nats.bus(nats.admin), await nats.bus(nats.admin)
    inbox, states = Inbox(), list[bool]()
    bus.on_connected(states.append)
    await bus.subscribe("fl.beat.*", inbox)
    os.kill(nats.servers[0].pid, signal.SIGKILL)
    await until(bus, False)
    with pytest.raises(BusUnavailable):
        await bus.publish("fl.beat.a", b"lost")
    with pytest.raises(BusUnavailable):
        await bus.request("fl.do.a", b"", 5)
    with pytest.raises(BusUnavailable):
        await bus.bucket("people").get("a")
    with pytest.raises(BusUnavailable):
        await bus.stream("log").last("fl.log.a.s")
    await until(bus, True)
    await until(other, True)
    await other.publish("fl.beat.a", b"heard")
    assert (await inbox.next()).payload == b"heard"
    assert states == [False, True]
    assert nats.servers[0].restarts == 1


async def test_a_request_fails_at_once_if_the_connection_is_lost(nats: NatsHarness) -> None:
    bus = await nats.bus(nats.admin)
    await bus.subscribe("fl.do.a", Inbox())
    asking = asyncio.create_task(bus.request("fl.do.a", b"", 60))
    await asyncio.sleep(0)
    os.kill(nats.servers[0].pid, signal.SIGKILL)
    with pytest.raises((NoAnswer, BusUnavailable)):
        async with asyncio.timeout(10):
            await asking


async def test_N15_a_silent_server_is_noticed(nats: NatsHarness) -> None:
    bus = await nats.bus(nats.admin)
    await _hang(nats, bus, b"")


async def test_N15_a_silent_server_is_noticed_while_all_buffers_are_full(nats: NatsHarness) -> None:
    bus = await nats.bus(nats.admin)
    await _hang(nats, bus, bytes(100_000))


async def _hang(nats: NatsHarness, bus: NatsBus, payload: bytes) -> None:
    refused = 0
    os.kill(nats.servers[0].pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        while bus.connected:
            try:
                if payload:
                    await bus.publish("fl.beat.a", payload)
            except BusUnavailable:
                refused += 1
            await asyncio.sleep(0.005)
            assert time.monotonic() - started < NOTICED_S + 2, "the silence was not noticed"
    finally:
        os.kill(nats.servers[0].pid, signal.SIGCONT)
    assert bus.resets >= 1
    assert bool(refused) == bool(payload)
    await until(bus, True)
    await bus.publish("fl.beat.a", b"")


async def test_a_bus_waits_for_a_server_that_is_not_there_yet(tmp_path: Path) -> None:
    async with running_bus(tmp_path) as nats:
        bus = NatsBus(["tls://127.0.0.1:9"], nats.admin, tls_context(None))
        bus.start()
        assert not await bus.wait_connected(0.3)
        assert "127.0.0.1:9" in bus.problem
        await bus.close()


async def test_a_server_of_another_authority_is_refused(nats: NatsHarness) -> None:
    bus = NatsBus(nats.addresses, nats.admin, tls_context(None))
    bus.start()
    assert not await bus.wait_connected(1.0)
    assert "certificate" in bus.problem
    await bus.close()


async def test_the_bus_works_over_a_websocket(nats: NatsHarness) -> None:
    address = f"wss://localhost:{nats.servers[0].settings.websocket_port}"
    bus, inbox = await nats.bus(nats.admin, [address]), Inbox()
    await bus.subscribe("fl.live.a.s", inbox)
    for number in range(50):
        await bus.publish("fl.live.a.s", bytes(20_000) + str(number).encode())
    for number in range(50):
        assert (await inbox.next()).payload[20_000:] == str(number).encode()
    assert await bus.bucket("people").put("a", b"1") > 0
    os.kill(nats.servers[0].pid, signal.SIGKILL)
    await until(bus, False)
    await until(bus, True)


async def test_N1_what_is_subscribed_while_a_connection_is_made_is_heard(
    nats: NatsHarness,
) -> None:
    sender = await nats.bus(nats.admin)
    listener = NatsBus(
        nats.addresses, nats.admin, tls_context(nats.certificates.authority), name="listener"
    )
    heard: set[str] = set()
    subjects: list[str] = []
    listener.start()
    try:
        while not listener.connected:  # At every moment of the handshakes of both connections.
            # Not more and more on a busy machine: a connection is made only with all of them.
            for prefix in ("fl.ask", "fl.beat") if len(subjects) < MANY else ():
                subjects.append(f"{prefix}.n{len(subjects)}")
                await listener.subscribe(subjects[-1], lambda message: heard.add(message.subject))
            await asyncio.sleep(0.0002)
        for subject in subjects:
            await sender.publish(subject, b"")
        await waiting.until(lambda: heard == {*subjects}, 30)
    finally:
        await listener.close()


async def test_N53_a_subscription_that_is_given_up_leaves_the_connection_usable(
    nats: NatsHarness,
) -> None:
    bus, other = await nats.bus(nats.admin), await nats.bus(nats.admin)
    for number in range(8):
        for subject in (f"fl.beat.x{number}", f"fl.ask.x{number}"):  # Of both connections.
            giving_up = asyncio.create_task(bus.subscribe(subject, Inbox()))
            for _ in range(number):
                await asyncio.sleep(0)
            giving_up.cancel()
            await asyncio.wait([giving_up])
    inbox = Inbox()
    async with asyncio.timeout(30):
        await bus.subscribe("fl.beat.*", inbox)
        await other.publish("fl.beat.a", b"heard")
        assert (await inbox.next()).payload == b"heard"


async def test_N52_a_connection_can_be_closed_while_it_is_being_made(nats: NatsHarness) -> None:
    tls = tls_context(nats.certificates.authority)
    for step in range(24):
        bus = NatsBus(nats.addresses, nats.nodes[0], tls)
        bus.start()
        await asyncio.sleep(0.002 * step)  # Any moment will do; that is the test.
        async with asyncio.timeout(20):
            await bus.close()
        assert not bus.connected
