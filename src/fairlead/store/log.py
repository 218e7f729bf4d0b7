"""The values of the log: numbered events per session, stored before clients see their effect.

An event is one line of the CLI, one line to the CLI, or one fact of the host
(`transcript/state/facts`). Fed to the reducer in order, the events of a session are its whole
transcript. `sqlite` stores them.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["FACT", "IN", "OUT", "Event", "NewEvent", "StoreUnavailable", "StoredSnapshot"]

OUT, IN, FACT = "out", "in", "fact"
"""The kinds of events: a line of the CLI, a line to the CLI, a fact of the host."""


class NewEvent(Struct, frozen=True):
    """An event that has no number yet."""

    direction: str
    line: bytes
    """The exact line without its line end; for a fact its JSON with a `fact` tag."""
    at: float
    """Seconds since 1970."""


class Event(Struct, frozen=True):
    """An event with its number: 1, 2, 3, … without gaps in each session."""

    seq: int
    direction: str
    line: bytes
    at: float


class StoredSnapshot(Struct, frozen=True):
    """A session at one event, so that loading it need not fold all events from the first.

    The parts contain what the code that made the snapshot needs to continue from there. Only the
    same `version` of that code can read them.
    """

    seq: int
    version: str
    parts: tuple[bytes, ...]


class StoreUnavailable(Exception):
    """Nothing can be stored now (disk full, locked, damaged, newer schema); see `reason`."""

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        """disk_full, locked, damaged, foreign, newer_schema, or closed."""
