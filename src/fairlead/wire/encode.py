"""Encodes the host's values to lines, and decodes the lines of a recording to values.

One value is one line with one line end: never a blank line or a second line end, because either
ends some CLI versions (CLI-902). `inputs` has already checked the values; everything inside must
be valid JSON, or nothing is written. Decoding never raises.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.wire import decoders, updates
from fairlead.wire.blocks import NEVER, Block, Content
from fairlead.wire.inputs import (
    Answer,
    AnswerError,
    ForeignPrompt,
    Input,
    Prompt,
    Request,
    SetEnvironment,
    UnknownInput,
)
from fairlead.wire.json_text import NotJson, parse
from fairlead.wire.tolerant import Misfit, build

__all__ = ["decode_input", "encode", "to_object"]


def encode(message: Input) -> bytes:
    """The line for a message, with its line end."""
    try:
        # The standard library refuses what msgspec would silently change (NaN to null, bytes
        # to base64) or copy unchecked (`Raw`, which may contain a line end).
        text = json.dumps(
            to_object(message),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            default=_plain,
        )
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as problem:
        kind = type(message).__name__
        raise UsageError(f"this {kind} cannot be written as JSON: {problem}") from None


def to_object(message: Input) -> dict[str, Any]:
    """The message as the object that goes over the wire."""
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
    raise UsageError(f"a host cannot send a {type(message).__name__}")


def decode_input(line: bytes) -> Input:
    """The value of a line, or an `UnknownInput` with the line if Fairlead would not write it."""
    try:
        data = parse(line)
        parsed = decoders.convert(data, _INPUT_LINE)
        return _from_user(parsed, data, line) if isinstance(parsed, _UserLine) else parsed.value()
    except (NotJson, Misfit, msgspec.ValidationError, UsageError, RecursionError) as problem:
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
    if prompt.verbatim:
        line["client_composed"] = True
    return line


def _block(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(block)
    return {name: value for name, value in plain.items() if value is not None}


def _plain(value: object) -> Any:
    """A struct inside a message, such as a permission update, as plain values."""
    tag = value.__struct_config__.tag if isinstance(value, Struct) else NEVER
    if isinstance(tag, str) and tag.startswith(NEVER):
        raise TypeError(f"it contains a value of type {type(value).__name__}")
    if isinstance(value, updates.PermissionUpdate):
        updates.check(value)
    return msgspec.to_builtins(value)


class _UserBody(Struct):
    role: Literal["user"]
    content: Any


class _UserLine(Struct, tag_field="type", tag="user"):
    message: _UserBody
    uuid: str | None = None
    priority: Any = None
    should_query: Any = msgspec.field(default=None, name="shouldQuery")
    parent_tool_use_id: Any = None
    client_composed: Any = None


class _RequestLine(Struct, tag_field="type", tag="control_request"):
    request_id: str
    request: dict[str, Any]

    def value(self) -> Input:
        fields = dict(self.request)
        subtype = fields.pop("subtype", "")
        return Request(request_id=self.request_id, subtype=subtype, fields=fields)


class _ResponseBody(Struct):
    subtype: Literal["success", "error"]
    request_id: str
    response: dict[str, Any] = {}
    error: str = ""


class _ResponseLine(Struct, tag_field="type", tag="control_response"):
    response: _ResponseBody

    def value(self) -> Input:
        body = self.response
        if body.subtype == "error":
            return AnswerError(request_id=body.request_id, error=body.error)
        return Answer(request_id=body.request_id, response=body.response)


class _EnvironmentLine(Struct, tag_field="type", tag="update_environment_variables"):
    variables: dict[str, str]

    def value(self) -> Input:
        return SetEnvironment(self.variables)


_INPUT_LINE = _UserLine | _RequestLine | _ResponseLine | _EnvironmentLine


def _from_user(parsed: _UserLine, data: Any, line: bytes) -> Input:
    content = build(Content, parsed.message.content, [])
    try:
        prompt = Prompt(
            uuid=parsed.uuid or "",
            content=content,
            priority=parsed.priority,
            should_query=parsed.should_query,
            parent_tool_use_id=parsed.parent_tool_use_id,
            verbatim=parsed.client_composed is True,
        )
        if to_object(prompt) == data:
            return prompt
    except UsageError:
        pass  # Another host may write other forms: no uuid, one string, a tool's result.
    return ForeignPrompt(raw=line, uuid=parsed.uuid, content=content)
