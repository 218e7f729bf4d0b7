"""The log that forgets."""

from __future__ import annotations

import pytest

from fairlead.store.log import Log, StoredSnapshot, StoreUnavailable
from fairlead.store.memory import MemoryLog
from tests.store.log_contract import LogContract, new


class TestMemoryLog(LogContract):
    @pytest.fixture
    def log(self) -> Log:
        return MemoryLog()

    async def test_S17_takes_nothing_when_closed(self) -> None:
        log = MemoryLog()
        await log.close()
        with pytest.raises(StoreUnavailable) as told:
            await log.append("a", new(b"x"))
        assert told.value.code == "closed"
        with pytest.raises(StoreUnavailable):
            await log.keep_snapshot("a", StoredSnapshot(1, "v1", ()))

    async def test_S7_two_logs_have_two_epochs(self) -> None:
        assert MemoryLog().epoch != MemoryLog().epoch
