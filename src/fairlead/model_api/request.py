"""One recorded request of the CLI to its model, and the properties that scripts check.

Pure: reads a parsed body, does no I/O. A side request (see `side_request`) has a `kind` other than
`turn`. Headers with secrets are removed before a request is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.model_api.side_request import kind_of

__all__ = ["SECRET_HEADERS", "ModelRequest", "ToolResult"]

SECRET_HEADERS = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie"})

INJECTED = ("<system-reminder>", "<local-command-", "<command-name>")
"""Prefixes of text blocks that the CLI itself adds to a user message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A tool result that the CLI returns to the model."""

    tool_use_id: str
    text: str
    is_error: bool
    content: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A recorded request: `body` is the parsed JSON, `headers` have lower-case names."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """`turn`, a kind of `side_request`, or `other` for what is not a message request."""
        return kind_of(self.body, _text_of(self.last_user)) if self.is_messages else "other"

    @property
    def is_messages(self) -> bool:
        return self.method == "POST" and self.path.partition("?")[0] == "/v1/messages"

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return _text_of(self.body.get("system"))

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that the model is offered."""
        return tuple(str(tool.get("name")) for tool in self.body.get("tools") or ())

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self.body.get("messages") or ())

    @property
    def agent_id(self) -> str | None:
        """The subagent of the request; None for the main conversation and for old CLIs."""
        return self.headers.get("x-claude-code-agent-id")

    @property
    def last_user(self) -> tuple[Mapping[str, Any], ...]:
        """Blocks of the last user message; 2.1.325 may put a `system` message after it."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return _blocks_of(message.get("content"))
        return ()

    @property
    def text(self) -> str:
        """The last text of the user, without the blocks that the CLI adds."""
        texts = [str(b.get("text", "")) for b in self.last_user if b.get("type") == "text"]
        return "\n".join(t for t in texts if not t.lstrip().startswith(INJECTED))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """Tool results in the last user message."""
        return tuple(
            ToolResult(
                tool_use_id=str(block.get("tool_use_id", "")),
                text=_text_of(block.get("content")),
                is_error=block.get("is_error") is True,
                content=block.get("content"),
            )
            for block in self.last_user
            if block.get("type") == "tool_result"
        )


def _blocks_of(content: Any) -> tuple[Mapping[str, Any], ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    blocks = content if isinstance(content, list | tuple) else ()
    return tuple(block for block in blocks if isinstance(block, dict))


def _text_of(content: Any) -> str:
    return "\n".join(str(block.get("text", "")) for block in _blocks_of(content))
