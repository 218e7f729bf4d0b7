"""The messages between nodes and gateways: one line of JSON, then the bytes of a body if there is one.

Each message has the version of the protocol. Versions only add fields: a reader ignores fields that
it does not know and uses defaults for those that are missing, so that machines of two versions work
together. Changes of documents are the five operations of `transcript/state/changes.py`, which do
not depend on a version.

Answers that may be large (documents, HTTP bodies) are pulled in *pieces*: the first answer has the
first piece and, if there are more, the name of a *transfer*. The asker then requests one piece after
the other (`PieceAsk`), so that it decides the pace, can repeat a request whose answer was lost, and
no message is longer than `PIECE_BYTES` and its header.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from fairlead.errors import FairleadError
from fairlead.server.protocol.messages import Window
from fairlead.transcript.state.changes import Change

__all__ = [
    "PIECE_BYTES",
    "VERSION",
    "Answer",
    "Beat",
    "DoAsk",
    "DocumentBody",
    "DrainAsk",
    "Envelope",
    "FollowAnswer",
    "FollowAsk",
    "Followed",
    "Frame",
    "HttpAsk",
    "LastIntentAsk",
    "MoveAsk",
    "NoticeAsk",
    "NoticeFrame",
    "OpenAsk",
    "PageAsk",
    "PageBody",
    "PieceAsk",
    "Position",
    "Present",
    "TerminalAnswer",
    "TerminalAsk",
    "UnreadableEnvelope",
    "decode",
    "decode_body",
    "encode",
]

VERSION = 1
"""The version of this module. A reader accepts every version."""

PIECE_BYTES = 256 * 1024
"""Most bytes of a body in one message: a quarter of what NATS allows by default."""


class UnreadableEnvelope(FairleadError):
    """A message of another machine cannot be read."""


class Envelope(Struct, frozen=True, kw_only=True):
    """What every message has."""

    v: int = VERSION


# From a node to all gateways


class Frame(Envelope, frozen=True, kw_only=True):
    """The changes of a document from one number to another.

    A frame without changes whose numbers are equal tells only where the document is: what led there
    was too large for a message, or is no longer in memory.
    """

    epoch: str
    generation: int = 0
    """Raised when the session is moved to another node."""
    from_seq: int
    seq: int
    changes: tuple[Change, ...] = ()


class Position(Struct, frozen=True, array_like=True):
    """How far a document is: the number of its last change."""

    document: str
    epoch: str
    seq: int


class Beat(Envelope, frozen=True, kw_only=True):
    """Sent by a node once a second: it works, and its documents are at these numbers."""

    incarnation: str
    """Another one after each start of the node."""
    name: str = ""
    """What people call the machine."""
    version: str = ""
    """The version of Fairlead."""
    cli_version: str = ""
    """The version of the CLI of new sessions; empty if it is not known."""
    clock: float = 0.0
    """The node's clock as a Unix timestamp."""
    load: float = 0.0
    """The load average of the last minute, divided by the number of cores."""
    disk_free: int = 0
    disk_total: int = 0
    """Bytes of the file system with the node's data."""
    store: str = "ok"
    """The state of its store."""
    lobby: Position = Position("lobby", "", 0)
    changed: tuple[Position, ...] = ()
    """The followed documents that changed in the last seconds, at the numbers that were sent."""
    replicated: tuple[Position, ...] = ()
    """The last events that were copied to the log stream, of those documents."""
    replicates: bool = False
    """Whether copies of its logs may leave it."""
    draining: bool = False
    """Whether the node accepts no new sessions."""


class NoticeFrame(Envelope, frozen=True, kw_only=True):
    """A notice of a session. The node repeats it until a gateway has taken it (`NoticeAsk`)."""

    session: str
    number: int
    """Counts the notices of the node."""
    notice: msgspec.Raw


# From a gateway to a node


class OpenAsk(Envelope, frozen=True, kw_only=True):
    """What leads from a number to the present of a document; the answer's body is `DocumentBody`."""

    document: str
    seq: int | None = None
    epoch: str | None = None
    window: int = 200
    gateway: str = ""
    """The gateway that follows the document from now on; it confirms that with `FollowAsk`."""


class PageAsk(Envelope, frozen=True, kw_only=True):
    """Older items of a document, and what leads to the present; the answer's body is `PageBody`."""

    document: str
    seq: int
    epoch: str
    before: str
    count: int = 200


class Followed(Struct, frozen=True, array_like=True):
    """A document that clients of a gateway follow."""

    document: str
    looking: bool = True


class FollowAsk(Envelope, frozen=True, kw_only=True):
    """The documents of the node that a gateway follows; repeated, because interest expires."""

    gateway: str
    documents: tuple[Followed, ...] = ()


class FollowAnswer(Envelope, frozen=True, kw_only=True):
    """Where the followed documents are."""

    incarnation: str = ""
    positions: tuple[Position, ...] = field(default=(), name="places")
    """Sent as `places`, as earlier versions do (N38)."""
    missing: tuple[str, ...] = ()
    """Documents that do not exist any more."""


class DoAsk(Envelope, frozen=True, kw_only=True):
    """An intent, as the client sent it; the answer's body is an `IntentResult`."""

    device: str
    client: str
    n: int
    intent: msgspec.Raw


class DrainAsk(Envelope, frozen=True, kw_only=True):
    """Whether the node should accept new sessions of the fleet; the answer has no body."""

    draining: bool = True


class NoticeAsk(Envelope, frozen=True, kw_only=True):
    """A gateway has stored this notice and notifies the devices; the answer has no body."""

    number: int


class LastIntentAsk(Envelope, frozen=True, kw_only=True):
    """The highest number of a client; the answer's body is a number."""

    device: str
    client: str


class TerminalAsk(Envelope, frozen=True, kw_only=True):
    """Messages of one client about terminals; the answer's body is a `TerminalAnswer`.

    What the node sends to the client is published to `subjects.terminal`. A channel ends if nothing
    is asked for a while, so a gateway asks without messages meanwhile.
    """

    channel: str
    """Chosen by the gateway, for one client."""
    device: str
    n: int
    """Counts the questions of a channel from 1, so that a repeated one types nothing twice."""
    messages: tuple[msgspec.Raw, ...] = ()
    close: bool = False


class MoveAsk(Envelope, frozen=True, kw_only=True):
    """A step of a move; the answer's body is a JSON object. Each step can be repeated."""

    step: str
    move: str
    device: str = ""
    session: str = ""
    node: str = ""
    """The machine that the session goes to."""
    name: str = ""
    link: str = ""
    """The address of the session at the gateway."""
    generation: int = 0
    fork: bool = False


class HttpAsk(Envelope, frozen=True, kw_only=True):
    """An HTTP request of a device. Its body begins in this message."""

    transfer: str
    """Chosen by the gateway, so that a repeated request is carried out once."""
    device: str
    method: str
    path: str
    """The path as it is in the request, with its escapes."""
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    more: bool = False
    """Whether the body continues in the next pieces of the transfer."""


class PieceAsk(Envelope, frozen=True, kw_only=True):
    """The next piece of a transfer: of the answer, or, with a body, of the request.

    The pieces of a transfer are counted from 1; both directions share the numbers. A piece may be
    requested again until the next one was.
    """

    transfer: str
    index: int
    last: bool = True
    """For a piece of a request: whether the body ends with it."""


class Answer(Envelope, frozen=True, kw_only=True):
    """The answer to any of these questions; its body follows."""

    code: str | None = None
    """If it was refused: a code of `Problem`."""
    message: str = ""
    transfer: str = ""
    """If the body has more pieces: where to request them."""
    more: bool = False
    """Whether another piece follows this one."""
    packed: bool = False
    """Whether the whole body is compressed with zlib."""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    """Of an HTTP response."""


class TerminalAnswer(Struct, frozen=True, kw_only=True):
    """What a channel has sent; a gateway that got less attaches again."""

    problems: tuple[tuple[str, str], ...] = ()
    """The codes and messages of refusals."""
    sent: dict[str, int] = field(default_factory=dict)
    """Terminal -> the offset up to which its output was sent."""
    terminals: msgspec.Raw = msgspec.Raw(b"null")
    """The list of the terminals of the session that the client wants to know."""


class DocumentBody(Struct, frozen=True, kw_only=True):
    """A document from a number on: its changes, or the whole of it."""

    epoch: str
    generation: int = 0
    seq: int
    from_seq: int | None = None
    """None for a snapshot."""
    changes: tuple[Change, ...] = ()
    state: dict[str, Any] = field(default_factory=dict)
    window: Window = Window(first=0, total=0)


class PageBody(Struct, frozen=True, kw_only=True):
    """What leads to the present, and older items as they are then."""

    document: DocumentBody
    found: bool = True
    """Whether the item before which the page ends is there."""
    items: tuple[Any, ...] = ()
    turns: tuple[Any, ...] = ()
    window: Window = Window(first=0, total=0)


# From a gateway to the other gateways


class Present(Envelope, frozen=True, kw_only=True):
    """The devices that are connected to a gateway; repeated, and empty when it stops."""

    devices: tuple[str, ...] = ()


T = TypeVar("T")

_encode = msgspec.json.encode
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def encode(envelope: Envelope, body: bytes = b"") -> bytes:
    """A message: its header as one line, and its body."""
    return _encode(envelope) + b"\n" + body if body else _encode(envelope)


def decode(payload: bytes, kind: type[T]) -> T:
    """The header of a message; raises `UnreadableEnvelope`."""
    return _decode(payload.partition(b"\n")[0], kind)


def decode_body(payload: bytes, kind: type[T]) -> tuple[T, bytes]:
    """The header and the body of a message."""
    header, _, body = payload.partition(b"\n")
    return _decode(header, kind), body


def _decode(text: bytes, kind: type[T]) -> T:
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    try:
        value: T = decoder.decode(text)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise UnreadableEnvelope(
            f"A message of another machine cannot be read as {kind.__name__}: {problem}. "
            "The machine may run a version of Fairlead that is too old."
        ) from None
    return value
