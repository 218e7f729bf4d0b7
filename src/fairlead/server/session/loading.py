"""A session read back from the log: its transcript and its number.

From the newest checkpoint of this version of the code and the events after it, or from the first
event. The result is the same. It is done in threads and in parts, so that a long session does not
delay the others. `checkpoints` creates the checkpoints.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from fairlead.server.session.log_lines import fed_by
from fairlead.store.code_version import code_version
from fairlead.store.log import Event, StoredSnapshot
from fairlead.transcript.checkpoint import Unreadable
from fairlead.transcript.transcript import Transcript

__all__ = ["EventReader", "Loaded"]

log = logging.getLogger("fairlead")

CHUNK = 2_000
"""Events folded in one call in the thread: about 100 ms."""


class EventReader(Protocol):
    """The part of a store that is read here."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest snapshot that a version made."""


class Loaded:
    """What the log holds of a session."""

    def __init__(self, transcript: Transcript | None = None, seq: int = 0) -> None:
        self.transcript = transcript or Transcript()
        self.seq = seq
        self.checkpoint_seq = seq
        """The number of the checkpoint it began with."""

    @classmethod
    async def from_log(cls, store: EventReader, session: str) -> Loaded:
        """Read a session, from its newest checkpoint on."""
        loaded = await cls._from_checkpoint(store, session) or cls()
        while events := await store.read(session, loaded.seq, CHUNK):
            await asyncio.to_thread(loaded.fold, events)
        return loaded

    @classmethod
    async def _from_checkpoint(cls, store: EventReader, session: str) -> Loaded | None:
        snapshot = await store.latest_snapshot(session, code_version())
        if snapshot is None or snapshot.seq > await store.last_seq(session):
            return None
        try:
            transcript = await asyncio.to_thread(Transcript.restored, snapshot.parts)
        except Unreadable as problem:
            log.warning(
                "checkpoint %d of session %s is ignored: %s", snapshot.seq, session, problem
            )
            return None
        return cls(transcript, snapshot.seq)

    def fold(self, events: list[Event]) -> None:
        """Feed events, in order."""
        for event in events:
            self.seq = event.seq
            fed = fed_by(event)
            if fed is not None:
                self.transcript.take((fed,), event.at)
