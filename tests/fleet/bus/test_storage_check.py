"""A gateway that starts while the storage of the bus is not available waits for it."""

from __future__ import annotations

import asyncio

import pytest

from fairlead.fleet.bus.bus import BusUnavailable
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.bus.storage_check import storage_ready


async def test_N18_a_start_waits_until_the_storage_can_be_written() -> None:
    bus = MemoryBroker().connect()
    bus.cut()
    waiting = asyncio.create_task(storage_ready(bus, ("nodes", "access"), 60.0))
    done, _ = await asyncio.wait([waiting], timeout=0.5)
    assert not done
    bus.heal()
    await asyncio.wait_for(waiting, 30)
    assert [entry for entry in await bus.bucket("nodes").entries() if entry.value is not None] == []


async def test_N18_a_start_gives_up_with_the_reason() -> None:
    bus = MemoryBroker().connect()
    bus.cut()
    with pytest.raises(BusUnavailable):
        await storage_ready(bus, ("nodes",), 0.0)
