"""Who follows which document from where, and what each is sent next. No I/O, no clock.

There are no queues: a client has a position in each document it follows, and what it gets is
worked out when it can take it, from the document's ring of changes or as a snapshot. So a slow
client costs nothing while it is slow, everything between two frames is merged, and nothing can
fall between a snapshot and the changes after it. `document` has the documents, `place` what leads
on from a position, `subscriber` a client; `sockets` pumps.

    subscribe, look, fetch -> messages to send at once, in order
    publish                -> some clients become `ready`, and `on_ready` is called
    drain                  -> the messages for one ready client
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairlead.server.document import Beside, Document, Source
from fairlead.server.limits import Limits
from fairlead.server.messages import Changes, FromServer, Problem
from fairlead.server.place import Place
from fairlead.server.subscriber import Subscriber
from fairlead.transcript.changes import Change

__all__ = ["Hub"]

PENDING = "pending"
"""The section that somebody waits for: what is new in it is told before anything else."""


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
        self._clients: dict[str, Subscriber] = {}
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
            self._clients[client].places[document].position = None
            self._clients[client].forgive(document)  # Its numbers may begin anew.
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
        return sum(1 for one in names if self._clients[one].places[document].looking)

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
        mine = self._clients.setdefault(client, Subscriber(self._limits))
        if document not in mine.places and mine.is_full:
            limit = self._limits.documents_per_client
            said = f"a socket follows at most {limit} documents; close one first"
            return [Problem(code="too_many", message=said, document=document)]
        place = mine.places[document] = Place(window, self._limits)
        mine.forgive(document)
        self._followers.setdefault(document, {})[client] = None
        if last_seq is not None and epoch == found.epoch and found.leads_from(last_seq):
            place.claim(found, last_seq, oldest)
        return self._advance(mine, found, place, now, answer=True)

    def unsubscribe(self, client: str, document: str) -> None:
        """Follow a document no longer."""
        mine = self._clients.get(client)
        if mine is not None and mine.places.pop(document, None) is not None:
            del self._followers[document][client]
            mine.forgive(document)

    def drop(self, client: str) -> None:
        """A client is gone, and everything about it."""
        mine = self._clients.pop(client, None)
        for document in mine.places if mine is not None else ():
            del self._followers[document][client]
        self._ready.pop(client, None)
        self._urgent.pop(client, None)
        self._later.pop(client, None)

    def ready(self, now: float) -> list[str]:
        """The clients for whom `drain` may have something."""
        resting = self._resting(now)
        for document in self._dirty - resting:
            for client in self._followers.get(document, ()):
                if client not in self._later or self._clients[client].places[document].looking:
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
        for name, place in mine.places.items():
            if mine.is_behind:
                break  # It is ready again with its next ack.
            found = self._documents.get(name)
            if found is not None:
                out += self._drain_document(client, mine, found, place, now)
        return out

    def _drain_document(
        self, client: str, mine: Subscriber, found: Document, place: Place, now: float
    ) -> list[FromServer]:
        if found.resting and place.position is not None:
            if place.position != found.seq:
                self._come_back(client, found.due)
            return []
        sent: list[FromServer] = []
        if place.looking or place.position is None:
            sent = self._advance(mine, found, place, now)
        elif (status := place.tell_status(found, now)) is not None:
            sent = [status]
        if place.wants_more(found):
            if place.looking and sent:
                self._make_ready(client)  # There is another frame.
            else:
                self._come_back(client, place.rests_until)
        return sent

    def ack(self, client: str, document: str, seq: int) -> None:
        """A client has applied everything up to a number."""
        mine = self._clients.get(client)
        if mine is not None:
            held_back = mine.is_behind
            mine.applied(document, seq)
            if held_back:
                self._make_ready(client)

    def look(self, client: str, document: str, looking: bool, now: float) -> list[FromServer]:
        """Whether somebody sees a document; who does not gets only its status."""
        mine = self._clients.get(client)
        place = mine.places.get(document) if mine is not None else None
        if mine is None or place is None:
            return [_not_followed(document)]
        place.look(looking)
        found = self._documents.get(document)
        if not looking or found is None:
            return []
        self._make_ready(client)
        return self._advance(mine, found, place, now)

    def fetch(
        self, client: str, document: str, before: str, count: int, now: float
    ) -> list[FromServer]:
        """Older items: first what brings the client to now, then the page."""
        mine = self._clients.get(client)
        place = mine.places.get(document) if mine is not None else None
        found = self._documents.get(document)
        if mine is None or place is None or found is None:
            return [_not_followed(document)]
        out: list[FromServer] = []
        while place.position != found.seq:
            out += self._advance(mine, found, place, now, answer=True)
        if found.first_from(place.first) != before:
            # Another page would leave a hole, or hold twice what the client has.
            said = f"{before!r} is not the oldest item that you have of this document"
            return [*out, Problem(code="stale", message=said, document=document)]
        page, place.first, size = found.page(before, count)
        mine.sent(document, found.seq, size)
        return [*out, page]

    # Within

    def _advance(
        self, mine: Subscriber, found: Document, place: Place, now: float, *, answer: bool = False
    ) -> list[FromServer]:
        """One message that leads on, if there is anything to say; `answer` says so in any case."""
        told = place.advance(found, now, answer=answer)
        if told is None:
            return []
        message, size = told
        mine.sent(found.name, message.seq, size)
        if found.every_s and isinstance(message, Changes):
            followers = len(self._followers[found.name])
            found.tire(now, size * followers / self._limits.lobby_bytes_per_s)
        return [message]

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


def _no_document(document: str) -> Problem:
    said = f"there is no document {document!r}"
    return Problem(code="not_found", message=said, document=document)


def _not_followed(document: str) -> Problem:
    said = f"you do not follow {document!r}; open it first"
    return Problem(code="not_found", message=said, document=document)
