"""When a checkpoint of a session is stored, so that opening it need not fold the whole log.

Stored after so many events that writing it costs little compared with storing them, and when a
session is unloaded. Taken between two events and written in a thread; only the log matters, so a
store that cannot save a checkpoint is not a problem. `loading` reads them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from fairlead.server.limits import Limits
from fairlead.store.code_version import code_version
from fairlead.store.log import StoredSnapshot, StoreUnavailable
from fairlead.transcript.checkpoint import Checkpoint, Unreadable
from fairlead.transcript.transcript import Transcript

__all__ = ["Checkpoints", "Keeper", "Session"]

log = logging.getLogger("fairlead")


class Keeper(Protocol):
    """The part of a store that is used here."""

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Store a snapshot next to the events."""


class Session(Protocol):
    """A session in memory: its transcript is that of its event `seq`."""

    @property
    def id(self) -> str:
        """The server's id of the session."""

    @property
    def seq(self) -> int:
        """The number of the last event that is in the transcript."""

    @property
    def transcript(self) -> Transcript:
        """The result of the events."""


class Checkpoints:
    """Which sessions have a checkpoint, and at which event."""

    def __init__(self, store: Keeper, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._stored_seqs: dict[str, int] = {}
        self._busy: set[str] = set()

    def begin(self, session: str, seq: int) -> None:
        """A session was loaded from the checkpoint at this event; 0 if it had none."""
        self._stored_seqs[session] = seq

    def is_due(self, session: Session) -> bool:
        """Whether there are enough events since the last checkpoint."""
        new = session.seq - self._stored_seqs.get(session.id, 0)
        enough = max(self._limits.checkpoint_events, session.seq // self._limits.checkpoint_share)
        return new >= enough and session.id not in self._busy

    async def keep(self, session: Session) -> None:
        """Store the current state of a session."""
        if session.id in self._busy:
            return
        seq, checkpoint = session.seq, session.transcript.checkpoint()
        self._busy.add(session.id)
        try:
            parts = await asyncio.to_thread(_written, checkpoint)
            snapshot = StoredSnapshot(seq=seq, version=code_version(), parts=parts)
            await self._store.keep_snapshot(session.id, snapshot)
        except (StoreUnavailable, Unreadable) as problem:
            log.warning("no checkpoint of session %s could be stored: %s", session.id, problem)
        finally:
            self._busy.discard(session.id)
        self._stored_seqs[session.id] = (
            seq  # Also after a failure: the next attempt is made when it is due.
        )

    async def let_go(self, session: Session) -> None:
        """Store a last checkpoint if there are enough new events, and forget the session."""
        new = session.seq - self._stored_seqs.get(session.id, 0)
        if new >= self._limits.checkpoint_last_events:
            await self.keep(session)
        self._stored_seqs.pop(session.id, None)


def _written(checkpoint: Checkpoint) -> tuple[bytes, ...]:
    return tuple(checkpoint.parts())
