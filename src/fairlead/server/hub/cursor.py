"""One client's position in one document, and the next message from there. Pure.

A position is the number of the last event that the client has and, in a document with items, the
key of its first item. The next message is derived when it is requested: changes, or a snapshot if
the position is unknown or too far behind. `document` has both; `hub` has the cursors of all clients.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from fairlead.server.hub.document import ALL, Document, Step
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Changes, Snapshot
from fairlead.transcript.state.changes import Set

__all__ = ["Awaited", "Cursor", "Update"]

STATUS = "status"
"""The section that is also sent to clients that do not display the document."""

NEVER = float("-inf")

Update: TypeAlias = tuple[Changes | Snapshot, int]
"""A message, and about how many bytes it takes."""


class Awaited(NamedTuple):
    """A position that a copy of a document has not reached."""

    epoch: str
    seq: int
    oldest: str | None


class Cursor:
    """The position of a client in a document; at first none, so that it gets a snapshot."""

    __slots__ = (
        "_limits", "_sent_at", "_status", "_status_seq", "awaited", "everything", "first",
        "looking", "position", "unanswered", "window",
    )  # fmt: skip

    def __init__(self, window: int, limits: Limits) -> None:
        self.window = window
        self._limits = limits
        self.position: int | None = None
        """The number the client is at; None if it needs a snapshot."""
        self.first = ALL
        """The key that the client's items begin with."""
        self.looking = True
        self.everything = False
        """Whether it gets all changes of all items, whether anyone looks at them or not."""
        self.awaited: Awaited | None = None
        """Where the client is, if the document is a copy that is not there yet (N50)."""
        self.unanswered = False
        """Whether its request to follow got no answer yet, because the client waits (N50)."""
        self._status: bytes | None = None
        """The status that it got while the document was hidden, and at which number."""
        self._status_seq = -1
        self._sent_at = NEVER

    @property
    def paused_until(self) -> float:
        """Until when a message that can wait is not sent."""
        return self._sent_at + self._limits.status_every_s

    def resume_at(self, doc: Document, last_seq: int, oldest: str | None) -> None:
        """Continue at the client's own position; without its oldest item its window is unknown."""
        if doc.windowed:
            key = doc.key(oldest) if oldest is not None else None
            if key is None or not doc.has_changes_of(key, last_seq):
                return
            self.first = key
        self.position = last_seq

    def is_waiting(self, doc: Document) -> bool:
        """Whether the client has seen more than the document has; if no longer, it continues there."""
        awaited = self.awaited
        if awaited is None:
            return False
        if awaited.epoch == doc.epoch:
            if doc.seq < awaited.seq:
                return True
            if doc.leads_from(awaited.seq):
                self.resume_at(doc, awaited.seq, awaited.oldest)
        self.awaited = None
        return False

    def wait_for(self, epoch: str, seq: int, oldest: str | None) -> None:
        """Send nothing until the document is where the client is; then answer in any case."""
        self.awaited = Awaited(epoch, seq, oldest)
        self.unanswered = True

    def begin_at(self, doc: Document, position: int) -> None:
        """Continue at a position with all items, as a copy of the document does."""
        self.everything = True
        self.first = ALL
        self.position = position

    def look(self, looking: bool) -> None:
        """Whether the client sees the document."""
        self.looking = looking
        self._status = None

    def release(self, doc: Document, oldest: str) -> None:
        """Begin the window with a later item, if the client has that item."""
        key = doc.key(oldest)
        if key is not None and key > self.first:
            self.first = key

    def made_step(self, doc: Document, now: float) -> Step | None:
        """The next message, if it was made for another client already and nothing is special."""
        if not self.looking or self.position is None or self.awaited or self.unanswered:
            return None
        step = doc.made_step(self.position, self.first)
        if step is None or not step.message.changes:
            return None
        self.position = step.message.seq
        self._sent_at = now
        return step

    def advance(self, doc: Document, now: float, *, answer: bool = False) -> Update | None:
        """The next message, if anything changed; with `answer` in any case."""
        position = self.position
        answer = answer or self.unanswered
        self.unanswered = False
        if position is None:
            return self._restart(doc, now)
        # A step that another client got was checked then; nothing was published since.
        step = doc.made_step(position, self.first)
        if step is None:
            if not doc.leads_from(position) or doc.backlog(position) > self._limits.backlog_bytes:
                return self._restart(doc, now)
            if position == doc.seq and not answer:
                return None
            step = doc.step(position, self.first)
        if not step.message.changes and not answer and now < self.paused_until:
            return None
        self.position = step.message.seq
        self._sent_at = now
        return step.message, step.size

    def status_update(self, doc: Document, now: float) -> Changes | None:
        """The status alone, which does not change the client's position."""
        position = self.position
        if position is None or position == doc.seq or not doc.has_section(STATUS):
            return None
        if now < self.paused_until:
            return None
        self._status_seq = doc.seq
        value = doc.section(STATUS)
        text = msgspec.json.encode(value)
        if text == self._status:
            return None
        self._status = text
        self._sent_at = now
        change = Set(STATUS, None, _fields(value))
        return Changes(document=doc.name, from_seq=position, seq=position, changes=(change,))

    def wants_more(self, doc: Document) -> bool:
        """Whether there is something that the client has not received."""
        if self.unanswered:
            return True
        if self.position == doc.seq:
            return False
        return (
            self.looking
            or self.everything
            or (doc.has_section(STATUS) and self._status_seq != doc.seq)
        )

    def _restart(self, doc: Document, now: float) -> Update:
        snapshot, self.first, size = doc.snapshot(self.window)
        self.position = snapshot.seq
        self._sent_at = now
        self._status = None
        return snapshot, size


def _fields(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else structs.asdict(value)
