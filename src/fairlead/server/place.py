"""One client's place in one document, and the message that leads on from there. Pure.

A place is the number the client is at and, in a document with items, the key that its items begin
with. What leads on is worked out when it is asked for: changes, or a snapshot if the place is
lost or too far behind. `document` has both; `hub` keeps the places of all clients.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from fairlead.server.document import ALL, Document
from fairlead.server.limits import Limits
from fairlead.server.messages import Changes, Snapshot
from fairlead.transcript.changes import Set

__all__ = ["Place", "Told"]

STATUS = "status"
"""The section that is told also to those who do not look."""

NEVER = float("-inf")

Told: TypeAlias = tuple[Changes | Snapshot, int]
"""A message, and about how many bytes it takes."""


class Place:
    """Where a client is in a document; at first nowhere, so that it needs a snapshot."""

    __slots__ = (
        "_limits", "_sent_at", "_status", "_told", "first", "looking", "position", "window",
    )  # fmt: skip

    def __init__(self, window: int, limits: Limits) -> None:
        self.window = window
        self._limits = limits
        self.position: int | None = None
        """The number the client is at; None if it needs a snapshot."""
        self.first = ALL
        """The key that the client's items begin with."""
        self.looking = True
        self._status: bytes | None = None
        """The status it was told while it did not look, and at which number."""
        self._told = -1
        self._sent_at = NEVER

    @property
    def rests_until(self) -> float:
        """Until when what can wait is not told."""
        return self._sent_at + self._limits.status_every_s

    def claim(self, found: Document, last_seq: int, oldest: str | None) -> None:
        """The client says where it is; without its oldest item nobody knows its window."""
        if found.windowed:
            key = found.key(oldest) if oldest is not None else None
            if key is None:
                return
            self.first = key
        self.position = last_seq

    def look(self, looking: bool) -> None:
        """Whether the client sees the document."""
        self.looking = looking
        self._status = None

    def advance(self, found: Document, now: float, *, answer: bool = False) -> Told | None:
        """What leads on, if there is anything to say; with `answer` there is in any case."""
        position = self.position
        if (
            position is None
            or not found.leads_from(position)
            or found.backlog(position) > self._limits.backlog_bytes
        ):
            return self._begin_anew(found, now)
        if position == found.seq and not answer:
            return None
        step = found.step(position, self.first)
        if not step.message.changes and not answer and now < self.rests_until:
            return None
        self.position = step.message.seq
        self._sent_at = now
        return step.message, step.size

    def tell_status(self, found: Document, now: float) -> Changes | None:
        """The status alone, which leads nowhere: its numbers say that the client stays."""
        position = self.position
        if position is None or position == found.seq or not found.has_section(STATUS):
            return None
        if now < self.rests_until:
            return None
        self._told = found.seq
        value = found.section(STATUS)
        text = msgspec.json.encode(value)
        if text == self._status:
            return None
        self._status = text
        self._sent_at = now
        change = Set(STATUS, None, _fields(value))
        return Changes(document=found.name, from_seq=position, seq=position, changes=(change,))

    def wants_more(self, found: Document) -> bool:
        """Whether there is something that the client has not been told."""
        if self.position == found.seq:
            return False
        return self.looking or (found.has_section(STATUS) and self._told != found.seq)

    def _begin_anew(self, found: Document, now: float) -> Told:
        snapshot, self.first, size = found.snapshot(self.window)
        self.position = snapshot.seq
        self._sent_at = now
        self._status = None
        return snapshot, size


def _fields(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else structs.asdict(value)
