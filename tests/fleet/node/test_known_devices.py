"""Which role a device of the fleet has on a machine."""

from __future__ import annotations

import asyncio

import pytest

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.protocol.people import Person, encode_person
from fairlead.server.refusal import Refusal


async def put(broker: MemoryBroker, **fields: object) -> None:
    person = Person(id="d", name="phone", **{"role": "owner", **fields})  # type: ignore[arg-type]
    await broker.connect().bucket("people").put("d", encode_person(person))


@pytest.mark.parametrize(
    ("role", "most", "given"),
    [("owner", "owner", "owner"), ("owner", "approver", "approver"), ("viewer", "owner", "viewer")],
)
async def test_N20_a_role_is_capped_by_the_machine(role: str, most: str, given: str) -> None:
    broker = MemoryBroker()
    await put(broker, role=role)
    devices = KnownDevices(broker.connect(), most)
    await devices.start()
    assert (await devices.find("d")).role == given


async def test_N19_a_revocation_takes_effect_by_either_way() -> None:
    for by_message in (True, False):
        broker = MemoryBroker()
        await put(broker)
        devices = KnownDevices(broker.connect())
        await devices.start()
        assert (await devices.find("d")).name == "phone"
        if by_message:
            await broker.connect().publish("fl.cut.d", b"")
            await put(broker)  # A late entry does not bring it back.
        else:
            broker.tamper = lambda message: []
            await put(broker, revoked=1.0)
        inbox = broker.connect()
        await inbox.bucket("people").get("d")
        for _ in range(3):  # Messages are delivered by the event loop.
            await inbox.publish("fl.nothing", b"")
            await asyncio.sleep(0)
        with pytest.raises(Refusal, match="revoked"):
            await devices.find("d")


async def test_an_unknown_device_is_refused_and_one_that_was_just_paired_is_found() -> None:
    broker = MemoryBroker()
    devices = KnownDevices(broker.connect())
    for name in ("d", "not a token", "a.b", "*"):
        with pytest.raises(Refusal):
            await devices.find(name)
    await put(broker)
    assert (await devices.find("d")).id == "d"


async def test_N20_a_device_that_cannot_be_looked_up_now_is_not_called_unknown() -> None:
    broker = MemoryBroker()
    await put(broker)
    bus = broker.connect()
    devices = KnownDevices(bus)
    await devices.start()
    bus.cut()
    with pytest.raises(Refusal) as refused:
        await devices.find("d")
    assert refused.value.code == "unavailable"
    bus.heal()
    assert (await devices.find("d")).role == "owner"


async def test_N54_a_machine_that_was_cut_off_looks_a_device_up_again() -> None:
    broker = MemoryBroker()
    await put(broker)
    bus = broker.connect()
    devices = KnownDevices(bus)
    await devices.start()
    assert (await devices.find("d")).name == "phone"
    bus.cut()
    await put(broker, revoked=1.0)
    bus.heal()
    with pytest.raises(Refusal, match="revoked"):  # Though the list was not read again yet.
        await devices.find("d")
