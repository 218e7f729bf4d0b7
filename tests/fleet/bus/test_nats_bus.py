"""The bus on a real nats-server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import Bus
from tests.fleet.bus.contract import BusContract, Connect
from tests.fleet.bus.nats_harness import NatsHarness, running_bus

SERVERS = (1, 3) if os.environ.get("FAIRLEAD_CLUSTER") else (1,)
"""`make faults` also runs the suite on a cluster of three."""


@pytest.fixture(params=SERVERS, ids=lambda count: f"{count} servers")
async def nats(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[NatsHarness]:
    async with running_bus(tmp_path, count=request.param) as nats:
        yield nats


class TestNatsBus(BusContract):
    @pytest.fixture
    def connect(self, nats: NatsHarness) -> Connect:
        async def connect() -> Bus:
            return await nats.bus(nats.admin)

        return connect
