"""Content blocks: what a message of the model or of the user consists of.

The same blocks occur in `assistant`, `user`, `content_block_start` and tool results. A block
of a type that is not listed here becomes an `UnknownBlock` that keeps everything. Fields may be
missing or null on the wire, so all have defaults. Only `decode` builds them from bytes.
"""

from typing import Any, TypeAlias

from msgspec import Struct

__all__ = [
    "NEVER",
    "AdvisorToolResultBlock",
    "BashCodeExecutionToolResultBlock",
    "Block",
    "CodeExecutionToolResultBlock",
    "Content",
    "DocumentBlock",
    "ImageBlock",
    "RedactedThinkingBlock",
    "ServerToolResultBlock",
    "ServerToolUseBlock",
    "Source",
    "TextBlock",
    "TextEditorCodeExecutionToolResultBlock",
    "ThinkingBlock",
    "ToolReferenceBlock",
    "ToolResultBlock",
    "ToolSearchToolResultBlock",
    "ToolUseBlock",
    "UnknownBlock",
    "WebFetchToolResultBlock",
    "WebSearchToolResultBlock",
    "text_of",
]

NEVER = "\ue000"
"""Prefix of tags and names that no CLI writes (a private-use character): msgspec requires a tag
for every member of a union, and the `Unknown…` members must never match by themselves."""


class Source(Struct, frozen=True, omit_defaults=True):
    """Where the bytes of an image or a document are: inline, at a URL, or in a file store."""

    type: str = ""
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None


class TextBlock(Struct, frozen=True, tag_field="type", tag="text", gc=False):
    """Text."""

    text: str = ""
    citations: Any = None


class ThinkingBlock(Struct, frozen=True, tag_field="type", tag="thinking", gc=False):
    """The model's reasoning, if it is shown."""

    thinking: str = ""
    signature: str | None = None


class RedactedThinkingBlock(Struct, frozen=True, tag_field="type", tag="redacted_thinking"):
    """Reasoning that only the API can read."""

    data: str = ""


class ToolUseBlock(Struct, frozen=True, tag_field="type", tag="tool_use", gc=False):
    """A call of a tool by the model; the CLI runs it."""

    id: str = ""
    name: str = ""
    input: Any = None


class ServerToolUseBlock(Struct, frozen=True, tag_field="type", tag="server_tool_use"):
    """A tool that the API itself runs."""

    id: str = ""
    name: str = ""
    input: Any = None


class ServerToolResultBlock(Struct, frozen=True):
    """Base of the results of tools that the API itself ran; they differ only in their type."""

    tool_use_id: str = ""
    content: Any = None


class WebSearchToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="web_search_tool_result"
):
    """The result of a web search."""


class WebFetchToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="web_fetch_tool_result"
):
    """A fetched web page."""


class CodeExecutionToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="code_execution_tool_result"
):
    """The result of a program."""


class BashCodeExecutionToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="bash_code_execution_tool_result"
):
    """The result of a shell command."""


class TextEditorCodeExecutionToolResultBlock(
    ServerToolResultBlock,
    frozen=True,
    tag_field="type",
    tag="text_editor_code_execution_tool_result",
):
    """The result of an edit of a file."""


class ToolSearchToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="tool_search_tool_result"
):
    """The result of a search for tools."""


class AdvisorToolResultBlock(
    ServerToolResultBlock, frozen=True, tag_field="type", tag="advisor_tool_result"
):
    """The advice of another model."""


class ToolReferenceBlock(Struct, frozen=True, tag_field="type", tag="tool_reference"):
    """A tool that a search for tools made available."""

    tool_name: str = ""


class ImageBlock(Struct, frozen=True, tag_field="type", tag="image"):
    """An image."""

    source: Source | None = None


class DocumentBlock(Struct, frozen=True, tag_field="type", tag="document"):
    """A document, such as a PDF."""

    source: Source | None = None
    title: str | None = None
    context: str | None = None


class UnknownBlock(
    Struct, frozen=True, tag_field="type", tag=f"{NEVER}block", forbid_unknown_fields=True
):
    """A block of an unknown type, or one whose fields are not valid."""

    type_name: str = ""
    data: Any = None
    problem: str = ""


class ToolResultBlock(Struct, frozen=True, tag_field="type", tag="tool_result", gc=False):
    """The result of a tool."""

    tool_use_id: str = ""
    content: (
        str
        | tuple[
            TextBlock | ImageBlock | DocumentBlock | ToolReferenceBlock | UnknownBlock,
            ...,
        ]
        | None
    ) = None
    is_error: bool | None = None

    @property
    def text(self) -> str:
        """The text of the result, without images."""
        return text_of(self.content)


Block: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ServerToolUseBlock
    | WebSearchToolResultBlock
    | WebFetchToolResultBlock
    | CodeExecutionToolResultBlock
    | BashCodeExecutionToolResultBlock
    | TextEditorCodeExecutionToolResultBlock
    | ToolSearchToolResultBlock
    | AdvisorToolResultBlock
    | ToolReferenceBlock
    | ToolResultBlock
    | ImageBlock
    | DocumentBlock
    | UnknownBlock
)

Content: TypeAlias = str | tuple[Block, ...] | None


def text_of(content: Content) -> str:
    """The text of a content, without its other blocks."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextBlock))
