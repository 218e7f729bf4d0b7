"""The replies of the scripted model: blocks, messages and failures, and their form as SSE.

Pure: a reply is a value, `stream_events` and `whole_message` render it in the form of the
Messages API (streamed, or as the one JSON object of the non-streaming fallback). Ids come in as
values. Delays, gates and cuts are only declared here; `exchange` applies them.

    reply("Hello.")                                        text, in deltas
    reply(thinking("hm"), "I look.", tool("Bash", command="ls"), tool("Read", file_path="a"))
    use("Bash", command="ls")                              one tool use
    fail(529, retry_after=0)                               an HTTP error
    reply("a b c").but(hold=gate, hold_after=1)            stops after the first delta
    reply("a b c").but(cut_after=2)                        the connection dies after two deltas
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.model_api.gate import Gate

__all__ = [
    "Answer",
    "Block",
    "Failure",
    "Reply",
    "Text",
    "Thinking",
    "ToolUse",
    "Usage",
    "fail",
    "refuse",
    "reply",
    "stream_events",
    "thinking",
    "tool",
    "usage_limit",
    "use",
    "whole_message",
]

Event = dict[str, Any]

DELTA_CHARS = 16
"""Default number of characters in one delta, so that even a short sentence has several."""

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""The API's error types, by HTTP status."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    thinking: str
    signature: str = "c2NyaXB0ZWQ="


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    name: str
    input: Mapping[str, Any]
    id: str | None = None
    """Default: the model API creates an id that is unique in the session."""


Block = Text | Thinking | ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts; the defaults are those of the recordings."""

    input_tokens: int = 100
    output_tokens: int = 42
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def at_start(self) -> dict[str, int]:
        return {**self.at_end(), "output_tokens": 1}

    def at_end(self) -> dict[str, int]:
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_creation_input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "output_tokens": self.output_tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One assistant message and how it is delivered."""

    blocks: tuple[Block, ...]
    stop_reason: str | None = None
    """Default: `tool_use` if a tool is used, else `end_turn`."""
    stop_details: Mapping[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)
    delta_chars: int = DELTA_CHARS
    delta_delay: float = 0.0
    """Seconds between two deltas."""
    delay: float = 0.0
    """Seconds before anything is sent."""
    hold: Gate | None = None
    hold_after: int | None = None
    """Hold after this many deltas; None holds before the response begins."""
    cut_after: int | None = None
    """Close the connection after this many deltas."""

    def but(self, **changes: Any) -> Reply:
        """The same reply with other fields, e.g. `reply("hi").but(delay=0.1)`."""
        return replace(self, **changes)

    @property
    def final_stop_reason(self) -> str:
        if self.stop_reason is not None:
            return self.stop_reason
        uses_tool = any(isinstance(block, ToolUse) for block in self.blocks)
        return "tool_use" if uses_tool else "end_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An HTTP error in place of a message."""

    status: int
    message: str
    error_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hold: Gate | None = None

    def but(self, **changes: Any) -> Failure:
        """The same failure with other fields."""
        return replace(self, **changes)

    def body(self, request_id: str) -> dict[str, Any]:
        error = {"type": self.error_type, "message": self.message}
        return {"type": "error", "error": error, "request_id": request_id}


Answer = Reply | Failure


def thinking(text: str, signature: str = "c2NyaXB0ZWQ=") -> Thinking:
    """A thinking block with its signature."""
    return Thinking(text, signature)


def tool(name: str, /, **input: Any) -> ToolUse:
    """A tool use block, for a reply of several blocks."""
    return ToolUse(name=name, input=input)


def reply(*parts: str | Block) -> Reply:
    """A reply of these blocks, in order; a string is a text block."""
    return Reply(blocks=tuple(Text(part) if isinstance(part, str) else part for part in parts))


def use(name: str, /, **input: Any) -> Reply:
    """A reply that is one tool use."""
    return reply(tool(name, **input))


def refuse(text: str = "", explanation: str = "scripted refusal") -> Reply:
    """A reply that ends with the stop reason `refusal`."""
    details = {"type": "refusal", "category": None, "explanation": explanation}
    parts = (text,) if text else ()
    return reply(*parts).but(stop_reason="refusal", stop_details=details)


def fail(
    status: int,
    message: str = "",
    *,
    error_type: str = "",
    retry_after: float | None = None,
    retry: bool | None = None,
) -> Failure:
    """An HTTP error; `retry` sets the header by which the API forbids or demands a retry."""
    headers: dict[str, str] = {}
    if retry_after is not None:
        headers["retry-after"] = f"{retry_after:g}"
    if retry is not None:
        headers["x-should-retry"] = "true" if retry else "false"
    kind = error_type or ERROR_TYPES.get(status, "api_error")
    text = message or f"scripted {kind}"
    return Failure(status=status, message=text, error_type=kind, headers=headers)


def usage_limit(
    resets_at: int, *, kind: str = "five_hour", used: float = 1.0, week: float = 0.4
) -> Failure:
    """The API's answer when a usage window of a subscription is used up, with its headers.

    A CLI reads these headers only if it is logged in by a token of a subscription (CLI-1700).
    """
    prefix = "anthropic-ratelimit-unified"
    windows = {"5h": ("five_hour", used, resets_at), "7d": ("seven_day", week, resets_at + 86_400)}
    headers = {
        "x-should-retry": "false",
        f"{prefix}-status": "rejected",
        f"{prefix}-reset": str(resets_at),
        f"{prefix}-representative-claim": kind,
    }
    for short, (name, part, reset) in windows.items():
        headers[f"{prefix}-{short}-status"] = "rejected" if name == kind else "allowed"
        headers[f"{prefix}-{short}-reset"] = str(reset)
        headers[f"{prefix}-{short}-utilization"] = str(part)
    return fail(429, "This request would exceed your account's rate limit.").but(headers=headers)


def stream_events(reply: Reply, *, message_id: str, model: str) -> Iterator[Event]:
    """The SSE events of a reply; the `type` of each is also its event name."""
    message = _envelope(reply, message_id, model)
    yield {"type": "message_start", "message": {**message, "usage": reply.usage.at_start()}}
    yield {"type": "ping"}
    for index, block in enumerate(reply.blocks):
        start, deltas = _pieces(block, reply.delta_chars, _tool_id(block, message_id, index))
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end: dict[str, Any] = {"stop_reason": reply.final_stop_reason, "stop_sequence": None}
    if reply.stop_details is not None:
        end["stop_details"] = dict(reply.stop_details)
    yield {"type": "message_delta", "delta": end, "usage": reply.usage.at_end()}
    yield {"type": "message_stop"}


def whole_message(reply: Reply, *, message_id: str, model: str) -> dict[str, Any]:
    """The reply as the one JSON object of a request without `stream`."""
    message = _envelope(reply, message_id, model)
    message["content"] = [
        _whole_block(block, _tool_id(block, message_id, index))
        for index, block in enumerate(reply.blocks)
    ]
    message["stop_reason"] = reply.final_stop_reason
    if reply.stop_details is not None:
        message["stop_details"] = dict(reply.stop_details)
    message["usage"] = reply.usage.at_end()
    return message


def _envelope(reply: Reply, message_id: str, model: str) -> dict[str, Any]:
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _tool_id(block: Block, message_id: str, index: int) -> str:
    own_id = block.id if isinstance(block, ToolUse) else None
    return own_id or f"toolu_{message_id.removeprefix('msg_')}_{index}"


def _pieces(block: Block, size: int, tool_id: str) -> tuple[Event, list[Event]]:
    """A block as the API streams it: its empty start and its deltas."""
    match block:
        case Text(text):
            deltas = [{"type": "text_delta", "text": part} for part in _chunks(text, size)]
            return {"type": "text", "text": ""}, deltas
        case Thinking(text, signature):
            deltas = [{"type": "thinking_delta", "thinking": part} for part in _chunks(text, size)]
            deltas.append({"type": "signature_delta", "signature": signature})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case ToolUse(name=name, input=input):
            # The API opens a tool's input with an empty delta, so a consumer must join them all.
            parts = ["", *_chunks(json.dumps(input, ensure_ascii=False), size)]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            return {"type": "tool_use", "id": tool_id, "name": name, "input": {}}, deltas


def _whole_block(block: Block, tool_id: str) -> Event:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(name=name, input=input):
            return {"type": "tool_use", "id": tool_id, "name": name, "input": dict(input)}


def _chunks(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]
