"""Every message between the server and its clients, and the single source of their types.

The TypeScript types in `web/src/protocol/messages.ts` are generated from this file, those of what
a document holds from `lobby_rows`, `pending_row` and the transcript's model. Coming in,
a message is decoded strictly: a field that is not here is refused, because a client must not be
able to smuggle one through to the CLI. Going out, new fields may be added at any time, and
clients pass by what they do not know. docs/server.md holds the rules (B1 …).

A *document* is something a client follows: one session's transcript, or the lobby (the list of
sessions and everything that waits for an answer). Every document has a sequence number that
counts its events; a snapshot carries one, and changes say from which to which they lead.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.server.intents import Intent

__all__ = [
    "LOBBY",
    "PROTOCOL",
    "Ack",
    "Bye",
    "Changes",
    "Close",
    "Fetch",
    "FromClient",
    "FromServer",
    "Hello",
    "IntentResult",
    "Look",
    "Open",
    "Page",
    "Pong",
    "Problem",
    "SendIntent",
    "Snapshot",
    "Welcome",
    "Window",
]

PROTOCOL = 1
"""Counts up when a client of the old protocol could no longer work."""

LOBBY = "lobby"
"""The name of the document that lists the sessions."""


# Client to server


class Hello(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="hello"):
    """The first message on a socket; nothing is answered before it."""

    protocol: int
    token: str
    client: str
    """A UUID that the client keeps for ever: intents are counted per client."""
    session: str | None = None
    """A document to open at once."""
    last_seq: int | None = None
    epoch: str | None = None
    oldest: str | None = None
    """As in `Open`."""


class Open(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="open"):
    """Follow a document from a sequence number on; None or a stale epoch means from a snapshot."""

    document: str
    last_seq: int | None = None
    epoch: str | None = None
    window: int = 200
    """How many items of the end a snapshot shall hold."""
    oldest: str | None = None
    """With `last_seq`: the id of the oldest item that the client has. Changes of older ones are
    left out; without it a document with items begins with a snapshot."""


class Close(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="close"):
    """Follow a document no longer."""

    document: str


class Ack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="ack"):
    """The client has applied everything up to this number."""

    document: str
    seq: int


class Look(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="look"):
    """Whether somebody looks at a document; one that nobody sees gets only its status."""

    document: str
    looking: bool


class Fetch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="fetch"):
    """Older items than the ones the client has."""

    document: str
    before: str
    """The id of the oldest item that the client has."""
    count: int = 200


class SendIntent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="intent"):
    """Something the client wants done; acts once for each (client, n), however often it comes."""

    n: int
    intent: Intent


FromClient: TypeAlias = Hello | Open | Close | Ack | Look | Fetch | SendIntent


# Server to client


class Welcome(Struct, frozen=True, kw_only=True, tag="welcome"):
    """The token was good."""

    protocol: int
    epoch: str
    """Changes when sequence numbers start anew (another database); old positions are void."""
    device: str
    role: str
    version: str
    agent: str
    """What runs new sessions: `claude`, `demo`, or a path."""
    last_intent: int
    """The highest n of this client that was acted on."""
    time: float
    """The server's clock, in seconds since 1970, for showing how long ago something was."""


class Window(Struct, frozen=True, kw_only=True):
    """Which part of a document's items a snapshot or a page holds."""

    first: int
    """The number of items before the first one held."""
    total: int


class Snapshot(Struct, frozen=True, kw_only=True, tag="snapshot"):
    """The whole document at one moment, its items only from a window on."""

    document: str
    epoch: str
    seq: int
    state: dict[str, Any]
    window: Window


class Changes(Struct, frozen=True, kw_only=True, tag="changes"):
    """What leads from one sequence number to another; see docs/transcript.md for the operations.

    A client whose own number is not `from_seq` has missed something and opens again.
    """

    document: str
    from_seq: int
    seq: int
    changes: tuple[Any, ...]


class Page(Struct, frozen=True, kw_only=True, tag="page"):
    """Older items, in order; they go before the ones the client has."""

    document: str
    before: str
    items: tuple[Any, ...]
    window: Window
    turns: tuple[Any, ...] = ()
    """The turns of these items that are too old to be among the document's own, in order. They
    are over and get no changes."""


class IntentResult(Struct, frozen=True, kw_only=True, tag="intent_result"):
    """What became of an intent."""

    n: int
    ok: bool
    result: dict[str, Any] = {}
    code: str | None = None
    """If not ok: a code of `Problem`."""
    message: str | None = None


class Problem(Struct, frozen=True, kw_only=True, tag="error"):
    """Something was wrong with a message; the socket stays open unless `Bye` follows.

    Codes: unsupported_message, bad_message, not_authenticated, forbidden, not_found, stale,
    already_resolved, conflict, too_large, too_many, unavailable, agent_failed, internal.
    """

    code: str
    message: str
    document: str | None = None
    details: dict[str, Any] = {}


class Pong(Struct, frozen=True, kw_only=True, tag="pong"):
    """A sign of life with the server's clock, sent when nothing else was for a while."""

    time: float


class Bye(Struct, frozen=True, kw_only=True, tag="bye"):
    """The server closes the socket on purpose; `again` says whether to come back."""

    reason: str
    again: bool


FromServer: TypeAlias = Welcome | Snapshot | Changes | Page | IntentResult | Problem | Pong | Bye
