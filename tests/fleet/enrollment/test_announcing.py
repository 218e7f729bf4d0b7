"""Machines are listed also if the storage of the bus is unavailable for a moment."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from fairlead.fleet.bus.bus import BusError
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.enrollment.announcing import announce
from fairlead.fleet.enrollment.roster import EnrolledNode

NODE = EnrolledNode(id="n1", public="U", name="laptop", joined=5.0)


async def test_N17_a_machine_is_listed_when_the_storage_is_available_again() -> None:
    bus = MemoryBroker().connect()
    bus.cut()
    listing = asyncio.create_task(announce(bus, NODE, True))
    await asyncio.sleep(0)
    assert not listing.done()
    bus.heal()
    await asyncio.wait_for(listing, 60)
    entry = await bus.bucket("nodes").get("n1")
    assert entry is not None
    assert entry.value is not None
    assert msgspec.json.decode(entry.value) == {"name": "laptop", "joined": 5.0}
    await announce(bus, NODE, False)
    assert await bus.bucket("nodes").get("n1") is None


async def test_N17_a_machine_is_not_listed_if_the_storage_stays_unavailable() -> None:
    bus = MemoryBroker().connect()
    bus.cut()
    with pytest.raises(BusError):
        await announce(bus, NODE, True, patience_s=0.0)
