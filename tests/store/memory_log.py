"""A log in memory, which follows every rule of `Log` except durability."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from fairlead.store.log import Event, NewEvent, StoredSnapshot, StoreUnavailable

__all__ = ["MemoryLog"]


class MemoryLog:
    """Implements `Log`."""

    def __init__(self) -> None:
        self._epoch = str(uuid.uuid4())
        self._events: dict[str, list[Event]] = {}
        self._snapshots: dict[str, StoredSnapshot] = {}
        self._closed = False

    @property
    def epoch(self) -> str:
        """New with each log."""
        return self._epoch

    async def append(self, session: str, events: Sequence[NewEvent]) -> int:
        """Number and keep events; returns the last number."""
        if self._closed:
            raise StoreUnavailable("the log is closed", code="closed")
        stored = self._events.setdefault(session, [])
        stored += [
            Event(seq, event.direction, event.line, event.at)
            for seq, event in enumerate(events, len(stored) + 1)
        ]
        return len(stored)

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""
        start = max(after, 0)
        return self._events.get(session, [])[start : start + max(limit, 0)]

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""
        return len(self._events.get(session, ()))

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot, unless a newer one is there."""
        if self._closed:
            raise StoreUnavailable("the log is closed", code="closed")
        before = self._snapshots.get(session)
        if before is None or before.seq <= snapshot.seq:
            self._snapshots[session] = snapshot

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest snapshot of a session that this version made."""
        snapshot = self._snapshots.get(session)
        return snapshot if snapshot is not None and snapshot.version == version else None

    async def close(self) -> None:
        """Refuse everything from now on."""
        self._closed = True
