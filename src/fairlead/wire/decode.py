"""One line to one typed value. Total: it never raises, whatever the bytes.

A ladder, each rung only where the one before fails: msgspec's typed decoding; node by node
from plain values (`tolerant`), where the unknown becomes an `Unknown…` and the rest stays
typed; the standard library's JSON (`json_text`) for what Node writes and msgspec refuses; and
last `Malformed`. Every value carries the exact line.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr

from fairlead.wire import control, events, system
from fairlead.wire.framing import Oversized
from fairlead.wire.json_text import NotJson, parse
from fairlead.wire.tolerant import Misfit, build

__all__ = ["AnyMessage", "decode", "decode_object", "skipped"]

AnyMessage: TypeAlias = events.Event | system.System | control.Control


class _SystemHead(Struct, tag_field="type", tag="system"):
    subtype: str


class _RequestHead(Struct, tag_field="type", tag="control_request"):
    request_id: str
    request: Raw


# msgspec refuses two structs with one tag and two tag fields in one union, so `system` and
# `control_request` take a second step by subtype. Both are rare beside stream events.
_FIRST = msgspec.json.Decoder(
    events.Event
    | control.ControlResponse
    | control.ControlCancelRequest
    | _SystemHead
    | _RequestHead
)
_SYSTEM = msgspec.json.Decoder(system.System)
_REQUEST = msgspec.json.Decoder(control.CliRequest)

_BY_TYPE: dict[str, Any] = {
    member.__struct_config__.tag: member
    for member in (*events.Event.__args__, control.ControlResponse, control.ControlCancelRequest)
}
_SYSTEM_BY_SUBTYPE: dict[str, Any] = {
    member.__struct_config__.tag: member for member in system.System.__args__
}


def decode(line: bytes) -> AnyMessage:
    """The message that a line holds, with the line kept in its `raw`."""
    try:
        message: Any = _FIRST.decode(line)
        kind = type(message)
        if kind is _SystemHead:
            message = _SYSTEM.decode(line)
        elif kind is _RequestHead:
            request = _REQUEST.decode(message.request)
            return control.ControlRequest(raw=line, request_id=message.request_id, request=request)
    except (msgspec.DecodeError, RecursionError):
        return _decode_slowly(line)
    force_setattr(message, "raw", line)
    return message  # type: ignore[no-any-return]


def decode_object(data: Any) -> AnyMessage:
    """The message that a plain object holds, as recordings and transcripts keep them."""
    return decode(msgspec.json.encode(data))


def skipped(line: Oversized) -> events.Malformed:
    """The stand-in for a line that was longer than the limit."""
    problem = f"a line of {line.size:,} bytes is above the limit of {line.limit:,} and was skipped"
    return events.Malformed(raw=line.head, problem=problem, size=line.size)


def _decode_slowly(line: bytes) -> AnyMessage:
    try:
        data = parse(line)
    except NotJson as problem:
        return events.Malformed(raw=line, problem=str(problem), size=len(line))
    if not isinstance(data, dict):
        return events.Malformed(
            raw=line, problem=f"a JSON {_json_name(data)}, not an object", size=len(line)
        )
    message = _from_object(data)
    force_setattr(message, "raw", line)
    return message


def _from_object(data: dict[str, Any]) -> AnyMessage:
    problems: list[str] = []
    kind = data.get("type")
    try:
        if kind == "system":
            return _system(data, problems)
        if kind == "control_request":
            return build(control.ControlRequest, data, problems)  # type: ignore[no-any-return]
        wanted = _BY_TYPE.get(kind) if isinstance(kind, str) else None
        if wanted is None:
            return _unknown(data, "" if isinstance(kind, str) else "no type")
        return build(wanted, data, problems)  # type: ignore[no-any-return]
    except (Misfit, RecursionError) as misfit:
        return _unknown(data, str(misfit) or "nested too deep to be read")


def _system(data: dict[str, Any], problems: list[str]) -> AnyMessage:
    subtype = data.get("subtype")
    wanted = _SYSTEM_BY_SUBTYPE.get(subtype) if isinstance(subtype, str) else None
    problem = ""
    if wanted is not None:
        try:
            return build(wanted, data, problems)  # type: ignore[no-any-return]
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
