"""The host's values to lines, and a recording's lines back to values.

One value is one line with one line end: never a blank line, never a second line end, because
a CLI may take either for its death (TRUTH 1.9). `inputs` has already checked what is said.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairlead.errors import UsageError
from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.inputs import (
    Answer,
    AnswerError,
    Input,
    Prompt,
    Request,
    SetEnvironment,
    UnknownInput,
)
from fairlead.wire.json_text import NotJson, parse
from fairlead.wire.tolerant import Misfit, build

__all__ = ["decode_input", "encode", "to_object"]

_encoder = msgspec.json.Encoder()


def encode(message: Input) -> bytes:
    """The line for a message, with its line end."""
    try:
        return _encoder.encode(to_object(message)) + b"\n"
    except (TypeError, ValueError, RecursionError) as problem:
        kind = type(message).__name__
        raise UsageError(f"this {kind} cannot be written as JSON: {problem}") from None


def to_object(message: Input) -> dict[str, Any]:
    """The message as the plain object that goes over the wire."""
    if isinstance(message, Prompt):
        return _prompt(message)
    if isinstance(message, Request):
        request = {"subtype": message.subtype, **message.fields}
        return {"type": "control_request", "request_id": message.request_id, "request": request}
    if isinstance(message, Answer):
        answer = {
            "subtype": "success",
            "request_id": message.request_id,
            "response": message.response,
        }
        return {"type": "control_response", "response": answer}
    if isinstance(message, AnswerError):
        failure = {"subtype": "error", "request_id": message.request_id, "error": message.error}
        return {"type": "control_response", "response": failure}
    if isinstance(message, SetEnvironment):
        return {"type": "update_environment_variables", "variables": message.variables}
    raise UsageError(f"{type(message).__name__} is not something a host sends")


def decode_input(line: bytes) -> Input:
    """The value that wrote a line; `UnknownInput` for what Fairlead would not write."""
    try:
        data = parse(line)
        return _from_object(data)
    except (NotJson, Misfit, UsageError, LookupError, TypeError) as problem:
        return UnknownInput(raw=line, problem=str(problem))


def _prompt(prompt: Prompt) -> dict[str, Any]:
    line: dict[str, Any] = {
        "type": "user",
        "session_id": "",
        "uuid": prompt.uuid,
        "parent_tool_use_id": prompt.parent_tool_use_id,
        "message": {"role": "user", "content": [_block(block) for block in prompt.content]},
    }
    if prompt.priority is not None:
        line["priority"] = prompt.priority
    if prompt.should_query is not None:
        line["shouldQuery"] = prompt.should_query
    return line


def _block(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(block)
    return {name: value for name, value in plain.items() if value is not None}


def _from_object(data: Any) -> Input:
    kind = data["type"]
    if kind == "user":
        content = data["message"]["content"]
        blocks: Any = (
            (TextBlock(text=content),)
            if isinstance(content, str)
            else build(tuple[Block, ...], content, [])
        )
        return Prompt(
            uuid=data["uuid"],
            content=blocks,
            priority=data.get("priority"),
            should_query=data.get("shouldQuery"),
            parent_tool_use_id=data.get("parent_tool_use_id"),
        )
    if kind == "control_request":
        fields = dict(data["request"])
        return Request(request_id=data["request_id"], subtype=fields.pop("subtype"), fields=fields)
    if kind == "control_response":
        body = data["response"]
        if body["subtype"] == "error":
            return AnswerError(request_id=body["request_id"], error=body["error"])
        return Answer(request_id=body["request_id"], response=body.get("response", {}))
    if kind == "update_environment_variables":
        return SetEnvironment(data["variables"])
    return UnknownInput(raw=msgspec.json.encode(data), problem=f"type {kind!r}")
