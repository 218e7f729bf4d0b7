"""The log: numbered events per session, stored before anybody sees what they change.

An interface, so that one machine's SQLite can later become many machines' stream; `sqlite` has
the embedded form. An event is one line of the CLI, one line to the CLI, or one fact of the host
(`transcript.facts`): fed to the reducer in order, they are the whole transcript.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["FACT", "IN", "OUT", "Event", "Log", "NewEvent", "StoreUnavailable", "StoredSnapshot"]

OUT, IN, FACT = "out", "in", "fact"
"""Where an event comes from: the CLI, the host's own writing, the host's own knowledge."""


class NewEvent(Struct, frozen=True):
    """Something that happened and has no number yet."""

    direction: str
    line: bytes
    """The exact line without its line end; for a fact its JSON with a `fact` tag."""
    at: float
    """Seconds since 1970."""


class Event(Struct, frozen=True):
    """Something that happened, with its number: 1, 2, 3, … without holes in each session."""

    seq: int
    direction: str
    line: bytes
    at: float


class StoredSnapshot(Struct, frozen=True):
    """A session at one event, so that a restart need not fold from the first.

    The parts are whatever the one who gives it can go on from; `version` names that code, which
    alone can read them.
    """

    seq: int
    version: str
    parts: tuple[bytes, ...]


class StoreUnavailable(Exception):
    """Nothing can be stored now (disk full, locked, damaged, newer schema); `reason` says why."""

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        """disk_full, locked, damaged, newer_schema, or closed."""


class Log(Protocol):
    """Where events are kept."""

    @property
    def epoch(self) -> str:
        """Changes when numbers start anew; a client's old positions are then void."""

    async def append(self, session: str, events: Sequence[NewEvent]) -> int:
        """Store events in order and return the number of the last one, once they are durable.

        Group commit: many appends share one. Raises `StoreUnavailable`, and then none of the
        events was stored.
        """

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""

    async def last_seq(self, session: str) -> int:
        """The number of the last event; 0 if there is none."""

    async def keep_snapshot(self, session: str, snapshot: StoredSnapshot) -> None:
        """Keep a snapshot beside the events; it may be forgotten, the events may not."""

    async def latest_snapshot(self, session: str, version: str) -> StoredSnapshot | None:
        """The newest snapshot of a session that this version made; None if it is damaged."""
