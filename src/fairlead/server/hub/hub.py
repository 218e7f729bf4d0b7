"""Tracks which client follows which document from where, and what it is sent next. No I/O, no clock.

There are no queues: a client has a position in each document it follows, and what it gets is
worked out when it can take it, from the document's ring of changes or as a snapshot. So a slow
client costs nothing while it is slow, everything between two frames is merged, and nothing can
fall between a snapshot and the changes after it. `document` has the documents, `cursor` derives
the next message from a position, `subscriber` a client; `sockets` pumps.

    subscribe, look, fetch, release -> messages to send at once, in order
    publish                -> some clients become `ready`, and `on_ready` is called
    drain                  -> the messages for one ready client
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairlead.server.hub.cursor import Cursor
from fairlead.server.hub.document import Beside, Document, Source
from fairlead.server.hub.subscriber import Subscriber
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import (
    Changes,
    FromServer,
    Page,
    Problem,
    Released,
    Snapshot,
)
from fairlead.transcript.state.changes import Change

__all__ = ["Hub"]

SPREAD = 0.5
"""The part of an interval in which clients get a document with something else."""

PENDING = "pending"
"""The section with open requests: its changes are sent before all others."""

BEHIND = (
    "This server has less of the session than this client has shown, because it has lost the "
    "connection to the machine. Try again in a moment."
)


class Hub:
    """All documents and all clients of one server; a client is one socket, by any name."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.on_ready: Callable[[], None] | None = None
        """Called when a client may have messages to drain, so that no polling is needed."""
        self.on_urgent: Callable[[], None] | None = None
        """Called when `urgent` has a client."""
        self.on_changed: Callable[[str | None], None] | None = None
        """Called like `on_ready`, for the clients that `copy` added, with the document if it is one."""
        self.on_behind: Callable[[str], None] | None = None
        """Called with the name of a copied document that a client has seen more of (N50)."""
        self._urgent: dict[str, None] = {}
        self._limits = limits or Limits()
        self._documents: dict[str, Document] = {}
        self._clients: dict[str, Subscriber] = {}
        self._followers: dict[str, dict[str, None]] = {}
        self._copies: dict[str, set[str]] = {}
        """Document -> those of its followers that `copy` added."""
        self._dirty: set[str] = set()
        """Documents that changed since the last `ready`, which looks up their followers."""
        self._ready: dict[str, None] = {}
        self._later: dict[str, float] = {}
        """Clients that get nothing more for now, and until when."""
        self._throttled: dict[str, Document] = {}
        """Documents whose changes are sent at intervals."""
        self._spreading: dict[str, float] = {}
        """Those whose last changes clients get with something else, and until when."""

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
        offset: int = 0,
        copied: bool = False,
    ) -> None:
        """Offer a document. With `item_ids` it has items, which are sent in windows.

        `offset` is the number of older items that the source does not have (`prepend`).
        `beside` returns the turns that a page of older items needs.
        With `every_s` its changes are sent at this interval, to all clients together.
        With `copied` another process has the document itself. A client that has seen more than this
        copy waits until the copy is there, or is `current`.
        """
        doc = self._documents[document] = Document(
            document,
            source,
            self._limits,
            seq=seq,
            epoch=epoch,
            item_ids=item_ids,
            beside=beside,
            offset=offset,
        )
        doc.copied = copied
        if every_s:
            doc.every_s = every_s
            self._throttled[document] = doc
        for client in self._followers.get(document, ()):
            self._clients[client].cursors[document].position = None
            self._clients[client].clear_unacked(document)  # Its numbers may restart.
            self._make_ready(client)

    def detach(self, document: str) -> None:
        """Remove a document; its followers get a snapshot when it is attached again."""
        self._documents.pop(document, None)
        self._throttled.pop(document, None)
        self._spreading.pop(document, None)

    def has(self, document: str) -> bool:
        """Whether a document is offered."""
        return document in self._documents

    def publish(self, document: str, seq: int, changes: Sequence[Change]) -> None:
        """The events up to this number were stored and changed this."""
        doc = self._documents[document]
        doc.publish(seq, changes)
        followers = self._followers.get(document)
        if not followers:
            doc.release()
            return
        # If it waits for its time already, `next_due` says so, and nobody need be woken.
        is_due = document not in self._dirty or not doc.throttled
        self._dirty.add(document)
        copies = self._copies.get(document)
        if copies and self.on_changed is not None:
            self.on_changed(document)
        if not is_due or (copies and len(copies) == len(followers)):
            return  # Nobody to wake whose socket is here.
        if self.on_ready is not None:
            self.on_ready()
        if self.on_urgent is not None and any(change.to == PENDING for change in changes):
            self._urgent.update(followers)
            self.on_urgent()

    def prepend(self, document: str, item_ids: Sequence[str]) -> None:
        """The source of a document has got these older items."""
        doc = self._documents[document]
        doc.release()
        doc.prepend(item_ids)

    def set_offset(self, document: str, offset: int) -> None:
        """The number of older items that the source does not have has changed."""
        self._documents[document].offset = offset

    def position(self, document: str) -> tuple[str, int] | None:
        """The epoch and the number of a document, if it is offered."""
        doc = self._current(document)
        return None if doc is None else (doc.epoch, doc.seq)

    def forget(self, document: str) -> None:
        """Drop the changes of a document; clients that are behind get a snapshot."""
        if document in self._documents:
            self._documents[document].forget()

    def followers(self, document: str, *, looking: bool = False) -> int:
        """How many clients follow a document, or display it."""
        names = self._followers.get(document, ())
        if not looking:
            return len(names)
        return sum(1 for name in names if self._clients[name].cursors[document].looking)

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

        `oldest` is the id of the oldest item the client has. Without it the client's window is
        unknown, and a document with items begins with a snapshot.
        """
        doc = self._current(document)
        if doc is None:
            return [_no_document(document)]
        subscriber = self._clients.setdefault(client, Subscriber(self._limits))
        if document not in subscriber.cursors and subscriber.is_full:
            limit = self._limits.documents_per_client
            text = f"Document limit ({limit}) reached. Close one first."
            return [Problem(code="too_many", message=text, document=document)]
        cursor = subscriber.cursors[document] = Cursor(window, self._limits)
        subscriber.clear_unacked(document)
        self._followers.setdefault(document, {})[client] = None
        if last_seq is not None and epoch == doc.epoch:
            if doc.leads_from(last_seq):
                cursor.resume_at(doc, last_seq, oldest)
            elif doc.copied and last_seq > doc.seq:
                cursor.wait_for(doc.epoch, last_seq, oldest)
                if self.on_behind is not None:
                    self.on_behind(document)
        return self._advance(subscriber, doc, cursor, now, answer=True)

    def waiting(self, document: str) -> list[str]:
        """The clients that have seen more of a copied document than there is."""
        doc = self._documents.get(document)
        if doc is None or not doc.copied:
            return []
        names = self._followers.get(document, ())
        return [name for name in names if self._clients[name].cursors[document].is_waiting(doc)]

    def current(self, document: str, clients: Iterable[str]) -> None:
        """A copied document is as new as what these clients have seen: they wait no longer."""
        for client in clients:
            subscriber = self._clients.get(client)
            cursor = subscriber.cursors.get(document) if subscriber is not None else None
            if cursor is not None:
                cursor.awaited = None
                self._make_ready(client)

    # Copies: clients that have all items, on another machine

    def copy(self, client: str, document: str) -> bool:
        """Follow a document from now on, with all its items; False if it is not offered.

        The client gets all changes at the pace at which it drains. If it cannot follow them, it
        gets a snapshot and must call this again.
        """
        doc = self._current(document)
        if doc is None:
            return False
        subscriber = self._clients.setdefault(client, Subscriber(self._limits))
        cursor = subscriber.cursors[document] = Cursor(1, self._limits)
        cursor.begin_at(doc, doc.seq)
        cursor.looking = False
        self._followers.setdefault(document, {})[client] = None
        self._copies.setdefault(document, set()).add(client)
        return True

    def set_looking(self, client: str, document: str, looking: bool) -> None:
        """Whether someone looks at a copy; it gets all changes in any case."""
        self._clients[client].cursors[document].looking = looking

    def read(
        self, document: str, last_seq: int | None, epoch: str | None, window: int, now: float
    ) -> list[Changes | Snapshot]:
        """What leads a copy from a number to the present; a snapshot if the ring does not."""
        doc = self._documents[document]
        doc.release()
        cursor = Cursor(window, self._limits)
        if last_seq is not None and epoch == doc.epoch and doc.leads_from(last_seq):
            cursor.begin_at(doc, last_seq)
        out: list[Changes | Snapshot] = []
        while cursor.position != doc.seq:
            update = cursor.advance(doc, now, answer=True)
            assert update is not None
            out.append(update[0])
        return out

    def page(self, document: str, before: str, count: int) -> Page | None:
        """Items before one, for a copy; None if that item is not there."""
        doc = self._documents[document]
        doc.release()
        return None if doc.key(before) is None else doc.page(before, count)[0]

    # Clients that are read by people

    def unsubscribe(self, client: str, document: str) -> None:
        """Stop following a document."""
        subscriber = self._clients.get(client)
        if subscriber is not None and subscriber.cursors.pop(document, None) is not None:
            self._forget_follower(document, client)
            subscriber.clear_unacked(document)

    def drop(self, client: str) -> None:
        """Remove a client that has disconnected."""
        subscriber = self._clients.pop(client, None)
        for document in subscriber.cursors if subscriber is not None else ():
            self._forget_follower(document, client)
        self._ready.pop(client, None)
        self._urgent.pop(client, None)
        self._later.pop(client, None)

    def ready(self, now: float) -> list[str]:
        """The clients for whom `drain` may have something."""
        resting = self._resting(now)
        for document in self._dirty - resting:
            if document not in self._throttled or not self._spread(document, now):
                self._followers_ready(document)
        self._dirty &= resting
        for document in [name for name, until in self._spreading.items() if until <= now]:
            del self._spreading[document]
            self._followers_ready(document)
        if self._later:
            due = [name for name, until in self._later.items() if until <= now]
            for client in due:
                del self._later[client]
                self._ready[client] = None
            if due and self.on_changed is not None:
                # Two tasks send, and each of them waits for `next_due`: the other one would wait on.
                self.on_changed(None)
                if self.on_ready is not None:
                    self.on_ready()
        return list(self._ready)

    def _followers_ready(self, document: str) -> None:
        seq = self._documents[document].seq if document in self._documents else None
        for client in self._followers.get(document, ()):
            cursor = self._clients[client].cursors[document]
            if cursor.position == seq and not cursor.unanswered:
                continue
            if client in self._later and not cursor.looking and not cursor.everything:
                continue
            self._ready[client] = None

    def _spread(self, document: str, now: float) -> bool:
        """Whether clients get a document together with something else, or a little later.

        Each of many clients that follow working sessions gets a message soon anyway, and one write
        costs less than two. For few clients there is nothing to save, and they get it now.
        """
        doc = self._throttled[document]
        rest_s = self._limits.lobby_per_client_s * len(self._followers.get(document, ()))
        if rest_s <= doc.every_s:
            return False
        doc.throttle(rest_s)
        doc.offered = doc.seq
        self._spreading[document] = now + rest_s * SPREAD
        return True

    def urgent(self) -> list[str]:
        """The clients that are drained before all others."""
        clients, self._urgent = list(self._urgent), {}
        return clients

    def next_due(self) -> float | None:
        """When `ready` will have a client without a new event, if ever."""
        dues = [doc.due for name, doc in self._throttled.items() if name in self._dirty]
        dues += self._spreading.values()
        if self._later:
            dues.append(min(self._later.values()))
        return min(dues, default=None)

    def drain(self, client: str, now: float) -> list[FromServer]:
        """The messages for a client: at most one frame of each of its documents."""
        subscriber = self._clients.get(client)
        self._ready.pop(client, None)
        if subscriber is None:
            return []
        out: list[FromServer] = []
        documents = self._documents
        for name, cursor in subscriber.cursors.items():
            doc = documents.get(name)
            if doc is None:
                continue
            if cursor.everything:
                doc.release()
            elif doc.every_s and doc.has_collected and now >= doc.due:
                doc.offer(now)
            if cursor.position == doc.seq and not cursor.unanswered:
                continue
            if cursor.awaited is not None and cursor.is_waiting(doc):
                continue
            if subscriber.is_behind:
                break  # It is ready again with its next ack.
            if (
                doc.throttled
                and cursor.position is not None
                and cursor.position >= doc.offered
                and not cursor.everything
            ):
                self._dirty.add(name)  # All its followers are ready when it is due.
                continue
            step = cursor.made_step(doc, now)
            if step is None:
                out += self._drain_document(client, subscriber, doc, cursor, now)
                continue
            # The usual case: another client got the same message before.
            message = step.message
            self._note_sent(subscriber, doc, cursor, message, step.size)
            out.append(message)
            if message.seq != doc.seq:
                self._make_ready(client)
        return out

    def _drain_document(
        self, client: str, subscriber: Subscriber, doc: Document, cursor: Cursor, now: float
    ) -> list[FromServer]:
        sent: list[FromServer] = []
        active = cursor.looking or cursor.everything
        if active or cursor.position is None or cursor.unanswered:
            sent = self._advance(subscriber, doc, cursor, now)
        elif (status := cursor.status_update(doc, now)) is not None:
            sent = [status]
        if cursor.wants_more(doc):
            if active and sent:
                self._make_ready(client)  # There is another frame.
            else:
                self._come_back(client, cursor.paused_until)
        return sent

    def ack(self, client: str, document: str, seq: int) -> None:
        """A client has applied everything up to a number."""
        subscriber = self._clients.get(client)
        if subscriber is not None:
            held_back = subscriber.is_behind
            subscriber.applied(document, seq)
            if held_back:
                self._make_ready(client)

    def look(self, client: str, document: str, looking: bool, now: float) -> list[FromServer]:
        """Whether the user sees a document; a hidden document gets only its status."""
        subscriber = self._clients.get(client)
        cursor = subscriber.cursors.get(document) if subscriber is not None else None
        if subscriber is None or cursor is None:
            return [_not_followed(document)]
        cursor.look(looking)
        doc = self._documents.get(document)
        if not looking or doc is None:
            return []
        self._make_ready(client)
        return self._advance(subscriber, doc, cursor, now)

    def fetch(
        self, client: str, document: str, before: str, count: int, now: float
    ) -> list[FromServer]:
        """Older items: first the changes that the client has not received, then the page."""
        subscriber = self._clients.get(client)
        cursor = subscriber.cursors.get(document) if subscriber is not None else None
        doc = self._current(document)
        if subscriber is None or cursor is None or doc is None:
            return [_not_followed(document)]
        if cursor.is_waiting(doc):
            return [Problem(code="unavailable", message=BEHIND, document=document)]
        out: list[FromServer] = []
        while cursor.position != doc.seq:
            out += self._advance(subscriber, doc, cursor, now, answer=True)
        if doc.first_from(cursor.first) != before:
            # Another page would leave a gap, or repeat items that the client has.
            text = (
                f"{before!r} is not the oldest item that this client has. Open the document again."
            )
            return [*out, Problem(code="stale", message=text, document=document)]
        page, cursor.first, size = doc.page(before, count)
        subscriber.sent(document, doc.seq, size)
        return [*out, page]

    def release(self, client: str, document: str, oldest: str) -> list[FromServer]:
        """The client drops the items before one; it gets no more changes of them."""
        subscriber = self._clients.get(client)
        cursor = subscriber.cursors.get(document) if subscriber is not None else None
        doc = self._current(document)
        if cursor is None or doc is None:
            return [_not_followed(document)]
        if cursor.is_waiting(doc):
            return []  # The client keeps its items; they may be later than those of this copy.
        cursor.release(doc, oldest)
        first, window = doc.first_from(cursor.first), doc.window_from(cursor.first)
        return [Released(document=document, oldest=first, window=window)]

    # Within

    def _forget_follower(self, document: str, client: str) -> None:
        followers = self._followers[document]
        del followers[client]
        if not followers:
            del self._followers[document]
        copies = self._copies.get(document)
        if copies is not None:
            copies.discard(client)
            if not copies:
                del self._copies[document]

    def _current(self, document: str) -> Document | None:
        """A document with all that was published, for an answer to a client."""
        doc = self._documents.get(document)
        if doc is not None:
            doc.release()
        return doc

    def _advance(
        self,
        subscriber: Subscriber,
        doc: Document,
        cursor: Cursor,
        now: float,
        *,
        answer: bool = False,
    ) -> list[FromServer]:
        """The next message, if anything changed; with `answer` in any case but N50."""
        if cursor.awaited is not None and cursor.is_waiting(doc):
            return []
        update = cursor.advance(doc, now, answer=answer)
        if update is None:
            return []
        message, size = update
        self._note_sent(subscriber, doc, cursor, message, size)
        return [message]

    def _note_sent(
        self,
        subscriber: Subscriber,
        doc: Document,
        cursor: Cursor,
        message: Changes | Snapshot,
        size: int,
    ) -> None:
        subscriber.sent(doc.name, message.seq, size)
        if doc.every_s and isinstance(message, Changes) and not cursor.everything:
            limits, followers = self._limits, len(self._followers[doc.name])
            rest_s = max(size / limits.lobby_bytes_per_s, limits.lobby_per_client_s) * followers
            doc.throttle(rest_s)

    def _come_back(self, client: str, due: float) -> None:
        self._later[client] = min(due, self._later.get(client, due))

    def _make_ready(self, client: str) -> None:
        self._ready[client] = None
        if self.on_ready is not None:
            self.on_ready()
        if self.on_changed is not None:
            self.on_changed(None)

    def _resting(self, now: float) -> set[str]:
        """The documents whose changes wait longer; the others are sent in this round."""
        for name, doc in self._throttled.items():
            doc.throttled = now < doc.due
            if not doc.throttled and name in self._dirty:
                doc.offer(now)
        return {name for name, doc in self._throttled.items() if doc.throttled}


def _no_document(document: str) -> Problem:
    text = f"Document {document!r} not found."
    return Problem(code="not_found", message=text, document=document)


def _not_followed(document: str) -> Problem:
    text = f"This socket does not follow {document!r}. Open it first."
    return Problem(code="not_found", message=text, document=document)
