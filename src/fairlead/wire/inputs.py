"""Messages of a host to the CLI's stdin. Strict: a value that would kill a CLI cannot be built.

On 2.1.38 a blank line, an unknown type, a JSON array or a `control_cancel_request` ends the
process in the middle of a turn, and on every version a line that is not JSON does (CLI-901).
So there are just these five values, each checked when it is created; `encode` writes them and
`decode_input` reads them back. Lines of other hosts are read too, but never sent: a user message
in another form is a `ForeignPrompt`, any other line an `UnknownInput`.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.wire.blocks import (
    Block,
    Content,
    DocumentBlock,
    ImageBlock,
    Source,
    TextBlock,
    text_of,
)

__all__ = [
    "IMAGE_MEDIA_TYPES",
    "PRIORITIES",
    "Answer",
    "AnswerError",
    "ForeignPrompt",
    "Input",
    "Prompt",
    "Request",
    "SetEnvironment",
    "UnknownInput",
    "is_uuid",
]

PRIORITIES = ("now", "next", "later")
IMAGE_MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_SOURCE_NEEDS = {
    "base64": ("media_type", "data"),
    "url": ("url",),
    "file": ("file_id",),
    "text": ("media_type", "data"),
}
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUBTYPE = re.compile(r"[a-z][a-z0-9_]*")


def is_uuid(text: object) -> bool:
    """Whether a text is a UUID in the form of the CLI."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


class Prompt(Struct, frozen=True, kw_only=True):
    """A message of the user.

    Its uuid must be new: a CLI silently drops a message whose uuid it has seen (CLI-202), which
    also makes it safe to write the same message twice.
    """

    uuid: str
    content: tuple[Block, ...]
    priority: str | None = None
    should_query: bool | None = None
    parent_tool_use_id: str | None = None
    verbatim: bool = False
    """Sent as `client_composed`: from 2.1.325 on the CLI then expands no `@path` and runs no
    command in it. `fairlead.host.engine.verbatim` has what earlier versions need."""

    def __post_init__(self) -> None:
        if not is_uuid(self.uuid):
            raise UsageError(f"a prompt needs a UUID, not {self.uuid!r}")
        if not self.content or not isinstance(self.content, tuple):
            raise UsageError("a prompt needs a tuple of one or more blocks of text or images")
        for block in self.content:
            _check_block(block)
        if self.priority is not None and self.priority not in PRIORITIES:
            raise UsageError(f"priority {self.priority!r} is not one of {', '.join(PRIORITIES)}")
        if not isinstance(self.should_query, bool | None):
            raise UsageError(f"should_query is true, false or none, not {self.should_query!r}")
        if not isinstance(self.parent_tool_use_id, str | None):
            raise UsageError(f"parent_tool_use_id is a text, not {self.parent_tool_use_id!r}")
        if not isinstance(self.verbatim, bool):
            raise UsageError(f"verbatim is true or false, not {self.verbatim!r}")

    @property
    def text(self) -> str:
        """The text of the prompt, without its images and documents."""
        return text_of(self.content)


class Request(Struct, frozen=True, kw_only=True):
    """A control request of the host."""

    request_id: str
    subtype: str
    fields: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        if not isinstance(self.subtype, str) or not _SUBTYPE.fullmatch(self.subtype):
            raise UsageError(
                f"a control request needs a subtype in snake case, not {self.subtype!r}"
            )
        _check_object("the fields of a control request", self.fields)
        if "subtype" in self.fields:
            raise UsageError("the subtype of a control request is not one of its fields")


class Answer(Struct, frozen=True, kw_only=True):
    """The host's answer to a request of the CLI."""

    request_id: str
    response: dict[str, Any]

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        _check_object("an answer to the CLI", self.response)


class AnswerError(Struct, frozen=True, kw_only=True):
    """The host cannot answer a request of the CLI; a permission request is then denied."""

    request_id: str
    error: str

    def __post_init__(self) -> None:
        _check_id(self.request_id)
        if not self.error or not isinstance(self.error, str):
            raise UsageError("an error answer needs a text that says what went wrong")


class SetEnvironment(Struct, frozen=True):
    """New environment variables for the CLI, which accepts only some of them."""

    variables: dict[str, str]

    def __post_init__(self) -> None:
        _check_object("a set of environment variables", self.variables)
        for name, value in self.variables.items():
            if not name or not isinstance(value, str):
                raise UsageError(f"environment variable {name!r} needs a text")


class ForeignPrompt(Struct, frozen=True, kw_only=True):
    """A message of the user from another host, for example without a uuid or as one string."""

    raw: bytes
    content: Content
    uuid: str | None = None

    @property
    def text(self) -> str:
        """The text of the prompt, without its images and documents."""
        return text_of(self.content)


class UnknownInput(Struct, frozen=True):
    """A line in a recording that Fairlead would not have written."""

    raw: bytes
    problem: str = ""


Input: TypeAlias = (
    Prompt | Request | Answer | AnswerError | SetEnvironment | ForeignPrompt | UnknownInput
)


def _check_id(request_id: str) -> None:
    if not isinstance(request_id, str) or not request_id:
        raise UsageError("a control message needs a request id")


def _check_object(what: str, value: object) -> None:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise UsageError(f"{what} must be an object: a dict whose keys are texts")


def _check_block(block: Block) -> None:
    if isinstance(block, TextBlock):
        if not block.text or not isinstance(block.text, str):
            raise UsageError("the prompt is empty, or contains an empty text")
    elif isinstance(block, ImageBlock):
        source = _checked_source("image", block.source)
        if source.type == "base64" and source.media_type not in IMAGE_MEDIA_TYPES:
            allowed = ", ".join(IMAGE_MEDIA_TYPES)
            raise UsageError(f"an image is one of {allowed}, not {source.media_type!r}")
    elif isinstance(block, DocumentBlock):
        _checked_source("document", block.source)
    else:
        # The CLI discards a tool result of the host (CLI-223).
        raise UsageError(
            f"a prompt contains text, images and documents, not {type(block).__name__}"
        )


def _checked_source(what: str, source: Source | None) -> Source:
    if not isinstance(source, Source):
        raise UsageError(f"the {what} of a prompt has no source")
    needs = _SOURCE_NEEDS.get(source.type)
    if needs is None or (what == "image" and source.type == "text"):
        raise UsageError(f"the {what} of a prompt cannot come from a source {source.type!r}")
    for name in needs:
        value = getattr(source, name)
        if not value or not isinstance(value, str):
            raise UsageError(f"the {what} of a prompt has a {source.type} source without {name}")
    return source
