"""The API's own streaming events, inside a `stream_event` line.

The CLI sends them only if partial messages are enabled. This is the hot path: one text delta is one
line. `events` has the envelope; `decode` builds all of it.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.wire.blocks import NEVER, Block
from fairlead.wire.usage import Usage

__all__ = [
    "ApiEvent",
    "ApiMessageHead",
    "CitationsDelta",
    "ContentBlockDelta",
    "ContentBlockStart",
    "ContentBlockStop",
    "Delta",
    "InputJsonDelta",
    "MessageDelta",
    "MessageDeltaFields",
    "MessageStart",
    "MessageStop",
    "Ping",
    "SignatureDelta",
    "StreamError",
    "TextDelta",
    "ThinkingDelta",
    "UnknownApiEvent",
    "UnknownDelta",
]


class TextDelta(Struct, frozen=True, tag_field="type", tag="text_delta", gc=False):
    """More text of a text block."""

    text: str = ""


class ThinkingDelta(Struct, frozen=True, tag_field="type", tag="thinking_delta", gc=False):
    """More text of a thinking block."""

    thinking: str = ""


class InputJsonDelta(Struct, frozen=True, tag_field="type", tag="input_json_delta", gc=False):
    """More of the JSON text of a tool's input."""

    partial_json: str = ""


class SignatureDelta(Struct, frozen=True, tag_field="type", tag="signature_delta", gc=False):
    """The signature of a thinking block."""

    signature: str = ""


class CitationsDelta(Struct, frozen=True, tag_field="type", tag="citations_delta"):
    """One more citation of a text block."""

    citation: Any = None


class UnknownDelta(
    Struct, frozen=True, tag_field="type", tag=f"{NEVER}delta", forbid_unknown_fields=True
):
    """A delta of an unknown type."""

    type_name: str = ""
    data: Any = None
    problem: str = ""


Delta: TypeAlias = (
    TextDelta | ThinkingDelta | InputJsonDelta | SignatureDelta | CitationsDelta | UnknownDelta
)


class ApiMessageHead(Struct, frozen=True, gc=False):
    """The fields of a message that are known when it begins."""

    id: str = ""
    model: str | None = None
    role: str | None = None
    usage: Usage | None = None


class MessageStart(Struct, frozen=True, tag_field="type", tag="message_start", gc=False):
    """A message of the model begins."""

    message: ApiMessageHead | None = None


class ContentBlockStart(Struct, frozen=True, tag_field="type", tag="content_block_start", gc=False):
    """A block begins; it has no content yet, or its beginning."""

    index: int = 0
    content_block: Block | None = None


class ContentBlockDelta(Struct, frozen=True, tag_field="type", tag="content_block_delta", gc=False):
    """A block grows."""

    delta: Delta
    index: int = 0


class ContentBlockStop(Struct, frozen=True, tag_field="type", tag="content_block_stop", gc=False):
    """A block is complete."""

    index: int = 0


class MessageDeltaFields(Struct, frozen=True, gc=False):
    """The fields of a message that are known when it ends."""

    stop_reason: str | None = None
    stop_sequence: str | None = None


class MessageDelta(Struct, frozen=True, tag_field="type", tag="message_delta", gc=False):
    """The stop reason of the message, and its final token counts."""

    delta: MessageDeltaFields | None = None
    usage: Usage | None = None


class MessageStop(Struct, frozen=True, tag_field="type", tag="message_stop", gc=False):
    """The message is complete."""


class Ping(Struct, frozen=True, tag_field="type", tag="ping"):
    """A sign that the connection is open."""


class StreamError(Struct, frozen=True, tag_field="type", tag="error"):
    """The API ended the stream with an error."""

    error: Any = None


class UnknownApiEvent(
    Struct, frozen=True, tag_field="type", tag=f"{NEVER}event", forbid_unknown_fields=True
):
    """An event of an unknown type."""

    type_name: str = ""
    data: Any = None
    problem: str = ""


ApiEvent: TypeAlias = (
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockStop
    | MessageDelta
    | MessageStop
    | Ping
    | StreamError
    | UnknownApiEvent
)
