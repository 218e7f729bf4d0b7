"""Revocations while messages get lost, while nothing can be stored, and after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.memory_bus import MemoryBroker, MemoryBus
from fairlead.fleet.gateway.devices.people import FleetPeople
from fairlead.fleet.gateway.gateway import Gateway, open_gateway
from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.protocol.people import decode_person
from fairlead.store.tables.devices import Device
from tests.server.conftest import PATIENT
from tests.waiting import until, until_asked


def device(name: str) -> Device:
    return Device(
        id=name, name=name, role="operator", token_hash=name, created=1.0, last_seen=1.0
    )  # fmt: skip


async def revoked(bus: MemoryBus, name: str) -> float | None:
    entry = await bus.bucket("people").get(name)
    assert entry is not None
    assert entry.value is not None
    person = decode_person(entry.value)
    assert person is not None
    return person.revoked


@asynccontextmanager
async def gateway_on(bus: MemoryBus, folder: Path) -> AsyncIterator[Gateway]:
    async with open_gateway(bus, data=folder, gateway_id="gate", limits=PATIENT) as gateway:
        running = asyncio.create_task(gateway.run())
        await until(lambda: gateway._server.started)
        yield gateway
        gateway.stop()
        await asyncio.wait_for(running, 30)


async def test_N54_a_machine_that_missed_the_first_message_gets_a_later_one() -> None:
    broker = MemoryBroker()
    people, bus = FleetPeople(broker.connect()), broker.connect()
    await people.start()
    await people.put_device(device("d"))
    known = KnownDevices(bus)
    await known.start()
    assert (await known.find("d")).name == "d"
    lost: list[str] = []

    def lose_first(message: Any) -> list[Any]:
        """The message about the bucket too: a bucket without a leader sends none."""
        if message.subject.startswith("fl.kv.") or (message.subject == "fl.cut.d" and not lost):
            lost.append(message.subject)
            return []
        return [message]

    broker.tamper = lose_first
    try:
        assert await people.revoke_device("d")
        await until(lambda: known.known("d") is None)
        assert "fl.cut.d" in lost
    finally:
        await people.close()


async def test_N54_a_revocation_is_stored_by_another_gateway_if_the_first_one_is_lost() -> None:
    broker = MemoryBroker()
    bus, people = broker.connect(), FleetPeople(broker.connect())
    await people.start()
    await people.put_device(device("d"))
    running = asyncio.create_task(people.run())
    try:
        await bus.publish("fl.cut.d", b"")  # All that the first one could do.
        await bus.publish("fl.cut.unknown", b"")

        async def is_stored() -> bool:
            return await revoked(bus, "d") is not None

        await until_asked(is_stored, 30)
        assert await bus.bucket("people").get("unknown") is None
    finally:
        running.cancel()
        await asyncio.wait([running])
        await people.close()


async def test_N54_a_gateway_revokes_a_device_that_it_has_not_heard_of() -> None:
    broker = MemoryBroker()
    first, second = FleetPeople(broker.connect()), FleetPeople(broker.connect())
    broker.tamper = lambda message: []
    for people in (first, second):
        await people.start()
    try:
        await first.put_device(device("d"))
        assert await second.revoke_device("d")
        assert await revoked(broker.connect(), "d") is not None
        assert not await second.revoke_device("unknown")
        assert not await second.revoke_device("not a token")
    finally:
        for people in (first, second):
            await people.close()


async def test_N54_a_revocation_that_could_not_be_stored_outlives_the_gateway(
    tmp_path: Path,
) -> None:
    broker = MemoryBroker()
    bus = broker.connect()
    async with gateway_on(bus, tmp_path / "gate") as gateway:
        paired = await gateway.devices.make_device("phone", "operator")
        bus.cut()
        outcome = await gateway.devices.revoke(paired.device)
        assert (outcome.stored, outcome.durable) == (False, True)
    again = broker.connect()
    assert await revoked(again, paired.device) is None
    async with gateway_on(again, tmp_path / "gate") as gateway:
        assert await gateway.devices.device_of(paired.token, "") is None

        async def is_stored() -> bool:
            return await revoked(again, paired.device) is not None

        await until_asked(is_stored)
        await until(lambda: not gateway.devices.revocations.unstored)
