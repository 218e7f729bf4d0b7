"""Decodes one line to one typed value. Never raises, for any bytes.

Each step is used only if the one before fails: msgspec's typed decoding; node by node from plain
values (`tolerant`), where unknown parts become an `Unknown…` and the rest stays typed; the standard
library's JSON (`json_text`) for what Node writes and msgspec refuses; and finally `Malformed`.
Every value contains the exact line.
"""

from __future__ import annotations

from collections import deque
from itertools import repeat
from typing import Any, TypeAlias, Union, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr

from fairlead.wire import control, events, system
from fairlead.wire.blocks import NEVER
from fairlead.wire.framing import Oversized
from fairlead.wire.json_text import NotJson, parse, write
from fairlead.wire.tolerant import Misfit, build

__all__ = ["AnyMessage", "decode", "decode_lines", "decode_object", "misfits", "skipped"]

AnyMessage: TypeAlias = events.Event | system.System | control.Control


class _SystemHead(Struct, tag_field="type", tag="system"):
    subtype: str


class _RequestHead(Struct, tag_field="type", tag="control_request"):
    request_id: str
    request: Raw


def _known(union: Any) -> tuple[Any, ...]:
    # A line whose type is the tag of `Malformed` or `Unknown…` must not become one.
    return tuple(m for m in get_args(union) if not m.__struct_config__.tag.startswith(NEVER))


# msgspec refuses two structs with one tag and two tag fields in one union, so `system` and
# `control_request` are decoded in a second step by subtype. Both are rare.
_TYPED = (*_known(events.Event), control.ControlResponse, control.ControlCancelRequest)
_FIRST = msgspec.json.Decoder(Union[(*_TYPED, _SystemHead, _RequestHead)])
_SYSTEM = msgspec.json.Decoder(Union[(*_known(system.System),)])
_REQUEST = msgspec.json.Decoder(Union[(*_known(control.CliRequest),)])

_BY_TYPE: dict[str, Any] = {member.__struct_config__.tag: member for member in _TYPED}
_SYSTEM_BY_SUBTYPE: dict[str, Any] = {
    member.__struct_config__.tag: member for member in _known(system.System)
}


def decode(line: bytes) -> AnyMessage:
    """The message of a line, with the exact line in its `raw`."""
    try:
        message: Any = _FIRST.decode(line)
        kind = type(message)
        if kind is _SystemHead:
            message = _SYSTEM.decode(line)
        elif kind is _RequestHead:
            request = _REQUEST.decode(message.request)
            return control.ControlRequest(raw=line, request_id=message.request_id, request=request)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_slowly(line, [])
    force_setattr(message, "raw", line)
    return message  # type: ignore[no-any-return]


def decode_lines(lines: list[bytes | Oversized]) -> list[AnyMessage]:
    """The messages of many lines; blank lines are skipped.

    The usual lines of a chunk are decoded in a loop without Python code; `_decode_each` is used if one
    of them is not usual.
    """
    try:
        messages = list(map(_FIRST.decode, lines))  # type: ignore[arg-type]
        if not _HEADS.isdisjoint(map(type, messages)):
            for place, message in enumerate(messages):
                kind = type(message)
                if kind is _SystemHead:
                    messages[place] = _SYSTEM.decode(lines[place])  # type: ignore[arg-type]
                elif kind is _RequestHead:
                    messages[place] = decode(lines[place])  # type: ignore[arg-type]
        deque(map(force_setattr, messages, _RAW, lines), maxlen=0)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
        return _decode_each(lines)
    return messages


_HEADS = frozenset({_SystemHead, _RequestHead})
_RAW = repeat("raw")


def _decode_each(lines: list[bytes | Oversized]) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for line in lines:
        if isinstance(line, Oversized):
            messages.append(skipped(line))
        elif line and not line.isspace():
            messages.append(decode(line))
    return messages


def decode_object(data: Any) -> AnyMessage:
    """The message of a plain object, as in recordings and transcripts."""
    try:
        return decode(write(data))
    except NotJson as problem:
        return events.Malformed(problem=str(problem))


def misfits(line: bytes) -> tuple[str, ...]:
    """Descriptions of the parts of a line that are unknown or have a wrong type."""
    message = decode(line)
    problems: list[str] = []
    _decode_slowly(line, problems)
    if isinstance(message, events.Unknown | events.Malformed):
        problems.append(message.problem or f"unknown type {message.type!r}")
    elif isinstance(message, system.UnknownSystem):
        problems.append(message.problem or f"unknown subtype {message.subtype!r}")
    return tuple(problems)


def skipped(line: Oversized) -> events.Malformed:
    """The message that replaces a line longer than the limit."""
    problem = f"a line of {line.size:,} bytes is above the limit of {line.limit:,} and was skipped"
    return events.Malformed(raw=line.head, problem=problem, size=line.size)


def _decode_slowly(line: bytes, problems: list[str]) -> AnyMessage:
    try:
        data = parse(line)
    except NotJson as problem:
        return events.Malformed(raw=line, problem=str(problem), size=len(line))
    if not isinstance(data, dict):
        return events.Malformed(
            raw=line, problem=f"a JSON {_json_name(data)}, not an object", size=len(line)
        )
    message = _from_object(data, problems)
    force_setattr(message, "raw", line)
    return message


def _from_object(data: dict[str, Any], problems: list[str]) -> AnyMessage:
    kind = data.get("type")
    try:
        if kind == "system":
            return _system(data, problems)
        if kind == "control_request":
            return build(control.ControlRequest, data, problems)  # type: ignore[no-any-return]
        message_class = _BY_TYPE.get(kind) if isinstance(kind, str) else None
        if message_class is None:
            return _unknown(data, "" if isinstance(kind, str) else "no type")
        return build(message_class, data, problems)  # type: ignore[no-any-return]
    except (Misfit, RecursionError) as misfit:
        return _unknown(data, str(misfit) or "nested too deep to be read")


def _system(data: dict[str, Any], problems: list[str]) -> AnyMessage:
    subtype = data.get("subtype")
    message_class = _SYSTEM_BY_SUBTYPE.get(subtype) if isinstance(subtype, str) else None
    problem = ""
    if message_class is not None:
        try:
            return build(message_class, data, problems)  # type: ignore[no-any-return]
        except Misfit as misfit:
            problem = str(misfit)
    return system.UnknownSystem(
        uuid=_text(data.get("uuid")),
        session_id=_text(data.get("session_id")),
        subtype_name=_text(subtype) or "",
        problem=problem,
    )


def _unknown(data: dict[str, Any], problem: str) -> events.Unknown:
    return events.Unknown(
        uuid=_text(data.get("uuid")),
        session_id=_text(data.get("session_id")),
        type_name=_text(data.get("type")) or "",
        problem=problem,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _json_name(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return names.get(type(value), "value")
