"""The bus on a real nats-server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.fleet.bus.bus import Bus
from tests.fleet.bus.contract import BusContract, Connect
from tests.fleet.bus.server import Ground, running_bus


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with running_bus(tmp_path) as ground:
        yield ground


class TestNatsBus(BusContract):
    @pytest.fixture
    def connect(self, ground: Ground) -> Connect:
        async def connect() -> Bus:
            return await ground.bus(ground.admin)

        return connect
