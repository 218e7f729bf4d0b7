"""An event store that a test can stop and break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fairlead.store.log import NewEvent, StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.intents import IntentOutcome

__all__ = ["Gate"]


class Gate:
    """An event store that appends while `open` is set, fails while `broken`, and keeps the lines."""

    def __init__(self) -> None:
        self.stored: list[bytes] = []
        self.open = asyncio.Event()
        self.broken = False
        self.appends = 0
        self._appending: set[asyncio.Task[None]] = set()

    async def append(
        self,
        session: str,
        new: Sequence[NewEvent],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        self.appends += 1
        await self.open.wait()
        if self.broken:
            raise StoreUnavailable("the disk is full", code="disk_full")
        self.stored += [event.line for event in new]
        return len(self.stored)

    def append_soon(
        self,
        session: str,
        new: Sequence[NewEvent],
        done: Callable[[int, BaseException | None], None],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
        urgent: bool = False,
    ) -> None:
        async def append() -> None:
            try:
                last = await self.append(session, new, intent=intent, audit=audit)
            except StoreUnavailable as problem:
                done(0, problem)
            else:
                done(last, None)

        task = asyncio.create_task(append())
        self._appending.add(task)
        task.add_done_callback(self._appending.discard)
