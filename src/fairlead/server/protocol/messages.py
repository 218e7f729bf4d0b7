"""Every message between the server and its clients, and the single source of their types.

The TypeScript types in `web/src/protocol/messages.ts` are generated from this file, those of the
content of documents from `lobby_rows`, `pending_row` and the transcript's model. Messages of clients
are decoded strictly: an unknown field is refused, so that a client cannot pass one through to the
CLI. New fields may be added to messages of the server at any time, and clients ignore unknown ones.
docs/server.md has the rules (B1 …).

A *document* is something that a client follows: one session's transcript, or the lobby (the list of
sessions and all open requests). Every document has a sequence number that counts its events; a
snapshot has one, and changes lead from one number to another.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.server.protocol.intents import Intent
from fairlead.server.protocol.terminal_messages import (
    TerminalAck,
    TerminalAttach,
    TerminalDetach,
    TerminalInput,
    TerminalList,
    TerminalOutput,
    Terminals,
    TerminalSize,
)

__all__ = [
    "GOING_AWAY",
    "LOBBY",
    "PROTOCOL",
    "PROTOCOL_MISMATCH",
    "TOO_MANY",
    "UNAUTHENTICATED",
    "Access",
    "Ack",
    "Bye",
    "Challenge",
    "Changes",
    "Close",
    "Fetch",
    "FromClient",
    "FromServer",
    "Greet",
    "Hello",
    "IntentResult",
    "Look",
    "Open",
    "Page",
    "Pong",
    "Problem",
    "Release",
    "Released",
    "SendIntent",
    "Snapshot",
    "Welcome",
    "Window",
]

PROTOCOL = 1
"""Incremented when clients of the old protocol can no longer work."""

LOBBY = "lobby"
"""The name of the document that lists the sessions."""

# Close codes of sockets

GOING_AWAY = 1001
"""The server is stopping."""
UNAUTHENTICATED = 4401
"""The device could not authenticate, or was revoked."""
PROTOCOL_MISMATCH = 4426
"""The server uses another protocol version; the page must be reloaded."""
TOO_MANY = 4429
"""A limit of sockets or messages was reached."""


# Client to server


class Greet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="greet"):
    """The first message of a device with a key: asks the server to prove its identity."""

    protocol: int
    device: str
    nonce: str
    """Fresh for each socket."""


class Hello(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="hello"):
    """The first message on a socket, or the second after `greet`. Required before any other."""

    protocol: int
    token: str = ""
    """The token of a program. The web app has none and sends `proof`."""
    proof: str = ""
    """After `greet`: proof that the device has its key."""
    client: str
    """A UUID that the client keeps forever: intents are counted per client."""
    session: str | None = None
    """A document to open at once."""
    last_seq: int | None = None
    epoch: str | None = None
    oldest: str | None = None
    """As in `Open`."""


class Open(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="open"):
    """Follow a document from a sequence number on; None or another epoch requests a snapshot."""

    document: str
    last_seq: int | None = None
    epoch: str | None = None
    window: int = 200
    """Number of items at the end of the document that a snapshot contains."""
    oldest: str | None = None
    """With `last_seq`: the id of the oldest item that the client has. Changes of older items are
    left out; without it a document with items starts with a snapshot."""


class Close(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="close"):
    """Stop following a document."""

    document: str


class Ack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="ack"):
    """The client has applied everything up to this number."""

    document: str
    seq: int


class Look(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="look"):
    """Whether the user views a document; a document that is not viewed gets only its status."""

    document: str
    looking: bool


class Fetch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="fetch"):
    """Request older items than those that the client has."""

    document: str
    before: str
    """The id of the oldest item that the client has."""
    count: int = 200


class Release(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="release"):
    """Request to get no more changes of items before one, because the client drops them."""

    document: str
    oldest: str
    """The id of the oldest item that the client keeps."""


class SendIntent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="intent"):
    """A request to do something; carried out once for each (client, n), however often it is sent."""

    n: int
    intent: Intent
    node: str = ""
    """In a fleet: the machine that carries out an intent that names no session."""


FromClient: TypeAlias = (
    Greet
    | Hello
    | Open
    | Close
    | Ack
    | Look
    | Fetch
    | Release
    | SendIntent
    | TerminalList
    | TerminalAttach
    | TerminalDetach
    | TerminalInput
    | TerminalSize
    | TerminalAck
)


# Server to client


class Challenge(Struct, frozen=True, kw_only=True, tag="challenge"):
    """The answer to `greet`: proves that the server has the device's key."""

    nonce: str
    proof: str


class Access(Struct, frozen=True, kw_only=True, tag="access"):
    """After a valid proof: a token for the HTTP API, valid while this socket is open."""

    token: str


class Welcome(Struct, frozen=True, kw_only=True, tag="welcome"):
    """The client is authenticated."""

    protocol: int
    device: str
    role: str
    version: str
    agent: str
    """The agent of new sessions: `claude`, `demo`, or a path."""
    last_intent: int
    """The highest n of this client that was carried out."""
    time: float
    """The server's clock as a Unix timestamp, for showing how long ago something happened."""


class Window(Struct, frozen=True, kw_only=True):
    """The part of a document's items that a snapshot or a page contains."""

    first: int
    """The number of items before the first item of the window."""
    total: int


class Snapshot(Struct, frozen=True, kw_only=True, tag="snapshot"):
    """The whole document at one sequence number, with only the items of a window."""

    document: str
    epoch: str
    seq: int
    state: dict[str, Any]
    window: Window


class Changes(Struct, frozen=True, kw_only=True, tag="changes"):
    """The operations that lead from one sequence number to another; see docs/transcript.md.

    A client whose own number is not `from_seq` has missed something and must open again.
    """

    document: str
    from_seq: int
    seq: int
    changes: tuple[Any, ...]


class Page(Struct, frozen=True, kw_only=True, tag="page"):
    """Older items in order, to be inserted before those that the client has."""

    document: str
    before: str
    items: tuple[Any, ...]
    window: Window
    turns: tuple[Any, ...] = ()
    """The turns of these items that are too old to be in the document's own list, in order. They
    have ended and get no changes."""


class Released(Struct, frozen=True, kw_only=True, tag="released"):
    """The answer to `release`: no later message changes an item before `oldest`, so the client can
    drop those items now and fetch them again later."""

    document: str
    oldest: str | None
    """The requested item; if the client did not have it, the first item of its window."""
    window: Window


class IntentResult(Struct, frozen=True, kw_only=True, tag="intent_result"):
    """The result of an intent."""

    n: int
    ok: bool
    result: dict[str, Any] = {}
    code: str | None = None
    """If not ok: a code of `Problem`."""
    message: str | None = None


class Problem(Struct, frozen=True, kw_only=True, tag="error"):
    """A message could not be processed; the socket stays open unless `Bye` follows.

    Codes: unsupported_message, bad_message, not_authenticated, forbidden, not_found, stale,
    already_resolved, conflict, too_large, too_many, unavailable, agent_failed, internal.
    """

    code: str
    message: str
    document: str | None = None
    details: dict[str, Any] = {}


class Pong(Struct, frozen=True, kw_only=True, tag="pong"):
    """A heartbeat with the server's clock, sent when nothing else was sent for a while."""

    time: float


class Bye(Struct, frozen=True, kw_only=True, tag="bye"):
    """The server closes the socket on purpose; `again` tells whether to reconnect."""

    reason: str
    again: bool


FromServer: TypeAlias = (
    Challenge
    | Access
    | Welcome
    | Snapshot
    | Changes
    | Page
    | Released
    | IntentResult
    | Problem
    | Pong
    | Bye
    | Terminals
    | TerminalOutput
)
