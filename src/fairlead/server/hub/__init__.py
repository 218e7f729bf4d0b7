"""Decides which client is sent what, and when. Pure: no I/O, no clock; `now` comes in as a value.

Theory of operation
===================

A server has *documents* (the lobby, and one per open session) and *clients* (one per socket).
The hub never queues a message for a client. It remembers where each client is and derives the
next message from that position when the client can take one. Four consequences follow:

- a slow client costs no memory while it is slow, because nothing accumulates for it;
- everything that happened between two frames is merged into one frame;
- nothing can be lost between a snapshot and the changes after it, because both are derived
  from one number;
- a reconnect is not a special case: the client names its position and continues from there.

Numbers and positions
---------------------

Each stored event has a *sequence number* (`seq`), which grows by one per event of a session.
A document is at the `seq` of the last event that was published to it. A client's *position* in
a document is the `seq` it has received, or None if it needs a snapshot. An *epoch* names one
life of a document; a position from another epoch is worthless, so the client gets a snapshot.

The ring and its floor
----------------------

A document keeps recent changes in a *ring*, one *entry* per batch of events that were stored and
published together. A batch leads from the number before it to its last number; a position between
the two was never sent to a client, and gets a snapshot. When the ring exceeds
`Limits.ring_bytes`, the older half is dropped and the *floor* rises to the last dropped number.
`Document.leads_from(position)` is true while the floor has not passed the position. A client
below the floor, or with more than `Limits.backlog_bytes` to catch up, gets a snapshot instead.

Windows and keys
----------------

A session may have 100,000 items, and a client shows the last few hundred. Each item has a *key*,
an integer that grows along the order of the items with large gaps between neighbors. A client's
window is one number, the key of its oldest item (`Cursor.first`). A change concerns a client if
the key of its item is at or above that number: one comparison. An item inserted between two
others gets a key in the gap; when a gap is used up, all keys are assigned again and the ring is
dropped, so that every client gets a snapshot. `fetch` extends a window downwards by one page;
`release` makes it begin with a later item.

What a step is
--------------

`Document.step(position, first)` merges the entries after a position (`coalesce`), up to
`Limits.frame_bytes`, into one `Changes` message that leads from `from_seq` to `seq`. Clients at
the same position with the same window share the step, and the flusher encodes it once.

Who is ready
------------

`publish` marks a document dirty and calls `on_ready`. `ready(now)` lists the clients worth
draining; `drain` returns at most one frame per document. Four things hold a client back:

- it does not look at the document (`look`): then it gets only the `status` section, at most
  every `Limits.status_every_s`;
- it acknowledges what it applied and has more than `Limits.unacked_bytes` outstanding;
- the document is throttled (`every_s`, used by the lobby): its changes go out at intervals, to
  all clients together, and the interval grows with the bytes that were sent. Between two rounds
  the document collects what is published, and `release` makes one entry of the ring from it. So
  all clients of a round share one message, however long the round takes;
- its socket still writes the previous frame: the flusher skips it and returns later.

A change of the `pending` section is *urgent*: a person may be waiting for it, so the followers
of that document are drained before all others, between two slices of a round.

A worked example
----------------

    >>> from fairlead.server.hub.hub import Hub
    >>> from fairlead.transcript.state.changes import Append
    >>> class Note:
    ...     sections = ()
    ...     def item(self, item_id):
    ...         return {"id": item_id, "text": "He"}
    >>> hub = Hub()
    >>> hub.attach("s1", Note(), seq=7, epoch="e", item_ids=["a"])

A new client is nowhere, so it gets a snapshot, which leads to 7.

    >>> [snapshot] = hub.subscribe("phone", "s1")
    >>> type(snapshot).__name__, snapshot.seq
    ('Snapshot', 7)

Two events are published while the phone is busy. It becomes ready once.

    >>> for seq, offset, text in ((8, 2, "llo"), (9, 5, "!")):
    ...     hub.publish("s1", seq, [Append("items", "a", "text", offset, text)])
    >>> hub.ready(now=0.0)
    ['phone']

Draining merges both events into one message from 7 to 9.

    >>> [changes] = hub.drain("phone", now=0.0)
    >>> changes.from_seq, changes.seq, changes.changes[0].text
    (7, 9, 'llo!')

The phone loses its socket. A new socket names the position and gets exactly what it missed:
here nothing, which the empty message says.

    >>> hub.drop("phone")
    >>> [changes] = hub.subscribe("phone-2", "s1", 9, "e", oldest="a")
    >>> changes.from_seq, changes.seq, changes.changes
    (9, 9, ())

Files: `document` one document with its ring, keys and snapshots; `cursor` one client's position
in one document; `subscriber` one client with all its cursors and what it has not acknowledged;
`hub` all of them. `transcript/state/coalesce.py` merges changes; `server/sockets/flusher.py` sends
what the hub hands out to the sockets.
"""
