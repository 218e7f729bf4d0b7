"""What a host writes to the CLI's stdin. Strict: a value that would kill a CLI cannot be built.

On 2.1.38 a blank line, an unknown type, a JSON array or a `control_cancel_request` ends the
process in the middle of a turn, and on every version a line that is not JSON does (TRUTH 1.9).
So there are just these five values, each checked when it is made; `encode` writes them and
`decode_input` reads them back from a recording, where anything else is an `UnknownInput`.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.wire.blocks import Block, DocumentBlock, ImageBlock, Source, TextBlock, text_of

__all__ = [
    "IMAGE_MEDIA_TYPES",
    "PRIORITIES",
    "Answer",
    "AnswerError",
    "Input",
    "Prompt",
    "Request",
    "SetEnvironment",
    "UnknownInput",
    "is_uuid",
]

PRIORITIES = ("now", "next", "later")
IMAGE_MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUBTYPE = re.compile(r"[a-z][a-z0-9_]*")


def is_uuid(text: object) -> bool:
    """Whether a text is a UUID as the CLI writes and wants them."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


class Prompt(Struct, frozen=True, kw_only=True):
    """A message of the user.

    Its uuid must be fresh: a CLI drops a message whose uuid it has seen without a word
    (TRUTH 1.2), which also makes it safe to write the same one twice.
    """

    uuid: str
    content: tuple[Block, ...]
    priority: str | None = None
    should_query: bool | None = None
    parent_tool_use_id: str | None = None

    def __post_init__(self) -> None:
        if not is_uuid(self.uuid):
            raise UsageError(f"a prompt needs a UUID, not {self.uuid!r}")
        if not self.content:
            raise UsageError("a prompt needs at least one block of text, image or document")
        for block in self.content:
            _check_block(block)
        if self.priority is not None and self.priority not in PRIORITIES:
            raise UsageError(f"priority {self.priority!r} is not one of {', '.join(PRIORITIES)}")

    @property
    def text(self) -> str:
        """The words of the prompt, its images and documents left out."""
        return text_of(self.content)


class Request(Struct, frozen=True, kw_only=True):
    """A control request of the host."""

    request_id: str
    subtype: str
    fields: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        if not _SUBTYPE.fullmatch(self.subtype):
            raise UsageError(
                f"a control request needs a subtype in snake case, not {self.subtype!r}"
            )
        if "subtype" in self.fields:
            raise UsageError("the subtype of a control request is not one of its fields")


class Answer(Struct, frozen=True, kw_only=True):
    """The host's answer to a request of the CLI."""

    request_id: str
    response: dict[str, Any]

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        if not isinstance(self.response, dict):
            raise UsageError("an answer to the CLI is an object")


class AnswerError(Struct, frozen=True, kw_only=True):
    """The host cannot answer a request of the CLI; a permission request is then denied."""

    request_id: str
    error: str

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        if not self.error:
            raise UsageError("an error answer needs a text that says what went wrong")


class SetEnvironment(Struct, frozen=True):
    """New environment variables for the CLI, which takes only some of them."""

    variables: dict[str, str]

    def __post_init__(self) -> None:
        for name, value in self.variables.items():
            if not name or not isinstance(value, str):
                raise UsageError(f"environment variable {name!r} needs a text")


class UnknownInput(Struct, frozen=True):
    """A line in a recording that Fairlead would not have written."""

    raw: bytes
    problem: str = ""


Input: TypeAlias = Prompt | Request | Answer | AnswerError | SetEnvironment | UnknownInput


def _check_id(request_id: str) -> None:
    if not isinstance(request_id, str) or not request_id:
        raise UsageError("a control message needs a request id")


def _check_block(block: Block) -> None:
    if isinstance(block, TextBlock):
        if not block.text:
            raise UsageError("a prompt cannot hold an empty text")
    elif isinstance(block, ImageBlock):
        _check_source("image", block.source, IMAGE_MEDIA_TYPES)
    elif isinstance(block, DocumentBlock):
        _check_source("document", block.source, None)
    else:
        # The CLI throws a tool result of the host away (TRUTH 1.2).
        raise UsageError(f"a prompt holds text, images and documents, not {type(block).__name__}")


def _check_source(what: str, source: Source | None, media_types: tuple[str, ...] | None) -> None:
    if source is None or not (source.data or source.url or source.file_id):
        raise UsageError(f"the {what} of a prompt has no content")
    if media_types and source.type == "base64" and source.media_type not in media_types:
        raise UsageError(f"an {what} is one of {', '.join(media_types)}, not {source.media_type!r}")
