"""A gateway is started again while the cluster of the bus elects leaders.

The bar needs an otherwise idle machine: FAIRLEAD_FLEET_HEALED_S=2 checks it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from fairlead.fleet.bus.nkey import NodeKey
from tests.fleet.bus.leaders import lead_from
from tests.fleet.faults.fleet_processes import fleet_processes

SERVED_S = float(os.environ.get("FAIRLEAD_FLEET_HEALED_S", "20"))
BUCKETS = ("people", "access", "nodes", "owners", "clients", "uploads")


@pytest.mark.timeout(300)
@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("name", ["gate0", "gate1"])
async def test_N57_a_gateway_that_starts_during_an_election_serves_at_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`gate0` also configures the storage when it starts."""
    async with fleet_processes(tmp_path, 3) as fleet:
        root = NodeKey.stored_in(tmp_path / "gate0" / "data" / "bus" / "admin.key")
        admin = await fleet.nats.bus(root)
        for bucket in BUCKETS:  # An election of one of them is often quick.
            await lead_from(admin, f"KV_{bucket}", 0)
        await fleet.kill(name)
        await fleet.nats.kill_for_good(0)
        began = time.monotonic()
        starting = asyncio.create_task(fleet.start(name))
        await fleet.healed()
        served = time.monotonic() - began
        await starting
        linked = time.monotonic() - began
        with capsys.disabled():
            sys.stdout.write(
                f"\n{name} served {served:.2f} s after its start in an election, and had a link "
                f"after {linked:.2f} s; load {os.getloadavg()[0]:.1f}\n"
            )
        assert served < SERVED_S
