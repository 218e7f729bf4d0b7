"""Who follows which document from where, and what each is sent next. No I/O, no clock.

There are no queues: a client has a position in each document it follows, and what it gets is
worked out when it can take it, from the document's ring of changes or as a snapshot. So a slow
client costs nothing while it is slow, everything between two frames is merged, and nothing can
fall between a snapshot and the changes after it. `document` has the documents; `sockets` pumps.

    subscribe, look, fetch -> messages to send at once, in order
    publish                -> some clients become `ready`, and `on_ready` is called
    drain                  -> the messages for one ready client
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import structs

from fairlead.server.document import ALL, Beside, Document, Source
from fairlead.server.limits import Limits
from fairlead.server.messages import Changes, FromServer, Problem, Snapshot
from fairlead.transcript.changes import Change, Set

__all__ = ["Hub"]

STATUS = "status"
"""The section that is told also to those who do not look."""

PENDING = "pending"
"""The section that somebody waits for: what is new in it is told before anything else."""

NEVER = float("-inf")


class _Following:
    """One client's place in one document."""

    __slots__ = (
        "first", "looking", "position", "sent_at", "status", "told", "window",
    )  # fmt: skip

    def __init__(self, window: int) -> None:
        self.window = window
        self.position: int | None = None
        """The number the client is at; None if it needs a snapshot."""
        self.first = ALL
        """The key that the client's items begin with."""
        self.looking = True
        self.status: bytes | None = None
        """The status it was told while it did not look, and at which number."""
        self.told = -1
        self.sent_at = NEVER


class _Client:
    __slots__ = ("acks", "following", "unacked", "unacked_bytes")

    def __init__(self) -> None:
        self.following: dict[str, _Following] = {}
        self.acks = False
        self.unacked: dict[str, deque[tuple[int, int]]] = {}
        """For each document the numbers that were sent, and how many bytes each took."""
        self.unacked_bytes = 0


class Hub:
    """All documents and all clients of one server; a client is one socket, by any name."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.on_ready: Callable[[], None] | None = None
        """Told when there may be somebody to drain, so that nobody has to look all the time."""
        self.on_urgent: Callable[[], None] | None = None
        """Told when `urgent` has somebody."""
        self._urgent: dict[str, None] = {}
        self._limits = limits or Limits()
        self._documents: dict[str, Document] = {}
        self._clients: dict[str, _Client] = {}
        self._followers: dict[str, dict[str, None]] = {}
        self._dirty: set[str] = set()
        """Documents that changed since `ready` was asked; its followers are looked up then."""
        self._ready: dict[str, None] = {}
        self._later: dict[str, float] = {}
        """Clients who have been told enough for now, and until when."""
        self._calm: dict[str, Document] = {}
        """Documents that are told at most every so often."""

    # Documents

    def attach(
        self,
        document: str,
        source: Source,
        *,
        seq: int,
        epoch: str,
        item_ids: Iterable[str] | None = None,
        every_s: float = 0.0,
        beside: Beside | None = None,
    ) -> None:
        """Offer a document. With `item_ids` it has items, which are sent in windows.

        `beside` gives what a page of older items needs beside them.
        With `every_s` its changes are told at most so often, and to everybody together.
        """
        made = self._documents[document] = Document(
            document, source, self._limits, seq=seq, epoch=epoch, item_ids=item_ids, beside=beside
        )
        if every_s:
            made.every_s = every_s
            self._calm[document] = made
        for client in self._followers.get(document, ()):
            self._clients[client].following[document].position = None
            self._forgive(self._clients[client], document, None)  # Its numbers may begin anew.
            self._make_ready(client)

    def detach(self, document: str) -> None:
        """Offer a document no longer; who follows it gets a snapshot when it comes back."""
        self._documents.pop(document, None)
        self._calm.pop(document, None)

    def has(self, document: str) -> bool:
        """Whether a document is offered."""
        return document in self._documents

    def publish(self, document: str, seq: int, changes: Sequence[Change]) -> None:
        """The event with this number was stored and changed this."""
        self._documents[document].publish(seq, changes)
        followers = self._followers.get(document)
        if not followers:
            return
        self._dirty.add(document)
        if self.on_ready is not None:
            self.on_ready()
        if self.on_urgent is not None and any(change.to == PENDING for change in changes):
            self._urgent.update(followers)
            self.on_urgent()

    def forget(self, document: str) -> None:
        """Let the changes of a document go; it stays, and those behind get a snapshot."""
        if document in self._documents:
            self._documents[document].forget()

    def followers(self, document: str, *, looking: bool = False) -> int:
        """How many clients follow a document, or look at it."""
        names = self._followers.get(document, ())
        if not looking:
            return len(names)
        return sum(1 for one in names if self._clients[one].following[document].looking)

    # Clients

    def subscribe(
        self,
        client: str,
        document: str,
        last_seq: int | None = None,
        epoch: str | None = None,
        window: int = 200,
        now: float = 0.0,
        *,
        oldest: str | None = None,
    ) -> list[FromServer]:
        """Follow a document from a number on: exactly what follows, or a snapshot.

        `oldest` is the id of the oldest item the client has. Without it nobody knows what the
        client's window is, so that a document with items begins with a snapshot.
        """
        found = self._documents.get(document)
        if found is None:
            return [_no_document(document)]
        mine = self._clients.setdefault(client, _Client())
        if document not in mine.following and self._is_full(mine):
            limit = self._limits.documents_per_client
            said = f"a socket follows at most {limit} documents; close one first"
            return [Problem(code="too_many", message=said, document=document)]
        following = mine.following[document] = _Following(window)
        self._forgive(mine, document, None)
        self._followers.setdefault(document, {})[client] = None
        if last_seq is not None and epoch == found.epoch and found.leads_from(last_seq):
            self._take_position(found, following, last_seq, oldest)
        return self._advance(mine, found, following, now, answer=True)

    def unsubscribe(self, client: str, document: str) -> None:
        """Follow a document no longer."""
        mine = self._clients.get(client)
        if mine is not None and mine.following.pop(document, None) is not None:
            del self._followers[document][client]
            self._forgive(mine, document, None)

    def drop(self, client: str) -> None:
        """A client is gone, and everything about it."""
        for document in self._clients.get(client, _Client()).following:
            del self._followers[document][client]
        self._clients.pop(client, None)
        self._ready.pop(client, None)
        self._urgent.pop(client, None)
        self._later.pop(client, None)

    def ready(self, now: float) -> list[str]:
        """The clients for whom `drain` may have something."""
        resting = self._resting(now)
        for document in self._dirty - resting:
            for client in self._followers.get(document, ()):
                if client not in self._later or self._clients[client].following[document].looking:
                    self._ready[client] = None
        self._dirty &= resting
        for client in [one for one, until in self._later.items() if until <= now]:
            del self._later[client]
            self._ready[client] = None
        return list(self._ready)

    def urgent(self) -> list[str]:
        """The clients who are to be drained without waiting for their turn."""
        found, self._urgent = list(self._urgent), {}
        return found

    def next_due(self) -> float | None:
        """When `ready` has somebody without anything having happened, if ever."""
        dues = [*self._later.values()]
        dues += [self._calm[one].due for one in self._dirty if one in self._calm]
        return min(dues, default=None)

    def drain(self, client: str, now: float) -> list[FromServer]:
        """What a client is to be sent now: at most one frame of each of its documents."""
        mine = self._clients.get(client)
        self._ready.pop(client, None)
        if mine is None:
            return []
        out: list[FromServer] = []
        for name, following in mine.following.items():
            if self._is_behind(mine):
                break  # It is ready again with its next ack.
            found = self._documents.get(name)
            if found is None:
                continue
            if found.resting and following.position is not None:
                if following.position != found.seq:
                    self._come_back(client, found.due)
                continue
            if following.looking or following.position is None:
                sent = self._advance(mine, found, following, now)
            else:
                sent = self._tell_status(found, following, now)
            out += sent
            if self._wants_more(found, following):
                self._wake(client, following, at_once=following.looking and bool(sent))
        return out

    def ack(self, client: str, document: str, seq: int) -> None:
        """A client has applied everything up to a number."""
        mine = self._clients.get(client)
        if mine is not None:
            held_back = self._is_behind(mine)
            mine.acks = True
            self._forgive(mine, document, seq)
            if held_back:
                self._make_ready(client)

    def look(self, client: str, document: str, looking: bool, now: float) -> list[FromServer]:
        """Whether somebody sees a document; who does not gets only its status."""
        mine = self._clients.get(client)
        following = mine.following.get(document) if mine is not None else None
        if mine is None or following is None:
            return [_not_followed(document)]
        following.looking = looking
        following.status = None
        found = self._documents.get(document)
        if not looking or found is None:
            return []
        self._make_ready(client)
        return self._advance(mine, found, following, now)

    def fetch(
        self, client: str, document: str, before: str, count: int, now: float
    ) -> list[FromServer]:
        """Older items: first what brings the client to now, then the page."""
        mine = self._clients.get(client)
        following = mine.following.get(document) if mine is not None else None
        found = self._documents.get(document)
        if mine is None or following is None or found is None:
            return [_not_followed(document)]
        out: list[FromServer] = []
        while following.position != found.seq:
            out += self._advance(mine, found, following, now, answer=True)
        if found.first_from(following.first) != before:
            # Another page would leave a hole, or hold twice what the client has.
            said = f"{before!r} is not the oldest item that you have of this document"
            return [*out, Problem(code="stale", message=said, document=document)]
        page, following.first, size = found.page(before, count)
        self._sent(mine, document, found.seq, size)
        return [*out, page]

    # Within

    def _take_position(
        self, found: Document, following: _Following, last_seq: int, oldest: str | None
    ) -> None:
        if found.windowed:
            key = found.key(oldest) if oldest is not None else None
            if key is None:
                return
            following.first = key
        following.position = last_seq

    def _advance(
        self,
        mine: _Client,
        found: Document,
        following: _Following,
        now: float,
        *,
        answer: bool = False,
    ) -> list[FromServer]:
        """One message that leads on, if there is anything to say; `answer` says so in any case."""
        position = following.position
        if (
            position is None
            or not found.leads_from(position)
            or found.backlog(position) > self._limits.backlog_bytes
        ):
            return [self._send_snapshot(mine, found, following, now)]
        if position == found.seq and not answer:
            return []
        step = found.step(position, following.first)
        rested = now - following.sent_at >= self._limits.status_every_s
        if not step.message.changes and not answer and not rested:
            return []
        following.position = step.message.seq
        following.sent_at = now
        self._sent(mine, found.name, step.message.seq, step.size)
        if found.every_s:
            followers = len(self._followers[found.name])
            found.tire(now, step.size * followers / self._limits.lobby_bytes_per_s)
        return [step.message]

    def _send_snapshot(
        self, mine: _Client, found: Document, following: _Following, now: float
    ) -> Snapshot:
        snapshot, following.first, size = found.snapshot(following.window)
        following.position = snapshot.seq
        following.sent_at = now
        following.status = None
        self._sent(mine, found.name, snapshot.seq, size)
        return snapshot

    def _tell_status(self, found: Document, following: _Following, now: float) -> list[FromServer]:
        """The status alone, which leads nowhere: its numbers say that the client stays."""
        position = following.position
        if position is None or position == found.seq or not found.has_section(STATUS):
            return []
        if now - following.sent_at < self._limits.status_every_s:
            return []
        following.told = found.seq
        value = found.section(STATUS)
        text = msgspec.json.encode(value)
        if text == following.status:
            return []
        following.status = text
        following.sent_at = now
        change = Set(STATUS, None, _fields(value))
        return [Changes(document=found.name, from_seq=position, seq=position, changes=(change,))]

    def _wants_more(self, found: Document, following: _Following) -> bool:
        if following.position == found.seq:
            return False
        return following.looking or (found.has_section(STATUS) and following.told != found.seq)

    def _wake(self, client: str, following: _Following, *, at_once: bool) -> None:
        """Come back to a client: for the next frame at once, for what can wait a little later."""
        if at_once:
            self._make_ready(client)
            return
        self._come_back(client, following.sent_at + self._limits.status_every_s)

    def _come_back(self, client: str, due: float) -> None:
        self._later[client] = min(due, self._later.get(client, due))

    def _make_ready(self, client: str) -> None:
        self._ready[client] = None
        if self.on_ready is not None:
            self.on_ready()

    def _resting(self, now: float) -> set[str]:
        """The documents whose changes wait a little longer; the others are told in this round."""
        for name, found in self._calm.items():
            found.resting = now < found.due
            if not found.resting and name in self._dirty:
                found.due = now + found.every_s
        return {name for name, found in self._calm.items() if found.resting}

    def _is_full(self, mine: _Client) -> bool:
        return len(mine.following) >= self._limits.documents_per_client

    def _is_behind(self, mine: _Client) -> bool:
        return mine.acks and mine.unacked_bytes > self._limits.unacked_bytes

    def _sent(self, mine: _Client, document: str, seq: int, size: int) -> None:
        if not mine.acks:
            # A client that never acks is held back by its socket alone.
            mine.unacked.clear()
            mine.unacked_bytes = 0
        mine.unacked.setdefault(document, deque()).append((seq, size))
        mine.unacked_bytes += size

    def _forgive(self, mine: _Client, document: str, seq: int | None) -> None:
        if seq is None:
            mine.unacked_bytes -= sum(size for _, size in mine.unacked.pop(document, ()))
            return
        waiting = mine.unacked.get(document, ())
        while waiting and waiting[0][0] <= seq:
            mine.unacked_bytes -= waiting.popleft()[1]


def _fields(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else structs.asdict(value)


def _no_document(document: str) -> Problem:
    said = f"there is no document {document!r}"
    return Problem(code="not_found", message=said, document=document)


def _not_followed(document: str) -> Problem:
    said = f"you do not follow {document!r}; open it first"
    return Problem(code="not_found", message=said, document=document)
