"""The log that forgets."""

from __future__ import annotations

import pytest

from fairlead.store.log import StoredSnapshot, StoreUnavailable
from tests.store.log_contract import Log, LogContract, new
from tests.store.memory_log import MemoryLog


class TestMemoryLog(LogContract):
    @pytest.fixture
    def log(self) -> Log:
        return MemoryLog()

    async def test_S17_takes_nothing_when_closed(self) -> None:
        log = MemoryLog()
        await log.close()
        with pytest.raises(StoreUnavailable) as error:
            await log.append("a", new(b"x"))
        assert error.value.code == "closed"
        with pytest.raises(StoreUnavailable):
            await log.keep_snapshot("a", StoredSnapshot(1, "v1", ()))

    async def test_S7_two_logs_have_two_epochs(self) -> None:
        assert MemoryLog().epoch != MemoryLog().epoch
