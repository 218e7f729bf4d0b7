"""Builds a typed value from plain values that do not match its type exactly.

`build` is the slow alternative to msgspec's own decoding. It works node by node: an unknown member
of a union becomes that union's `Unknown…`, a field of the wrong type gets its default, and each
such step is described in `problems`. A value fails only if a required field is not valid, or if it
is a struct that forbids unknown fields, which is read completely or not at all. It knows structs
and unions, but no particular message.
"""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from fairlead.wire import decoders
from fairlead.wire.blocks import NEVER

__all__ = ["Misfit", "build"]


class Misfit(ValueError):
    """A value cannot be read as the expected type, not even in part."""


def build(expected: Any, value: Any, problems: list[str], path: str = "") -> Any:
    """`value` as an `expected`, as far as possible; `problems` gets what is not valid."""
    try:
        return decoders.convert(value, expected)
    except (msgspec.ValidationError, RecursionError) as misfit:
        return _build_in_parts(expected, value, problems, path, str(misfit))


def _build_in_parts(expected: Any, value: Any, problems: list[str], path: str, reason: str) -> Any:
    origin = get_origin(expected)
    if origin in (Union, types.UnionType):
        return _build_member(get_args(expected), value, problems, path, reason)
    if origin is tuple and isinstance(value, list):
        inner = get_args(expected)[0]
        return tuple(build(inner, item, problems, f"{path}[{n}]") for n, item in enumerate(value))
    if origin is dict and isinstance(value, dict):
        inner = get_args(expected)[1]
        return {str(k): build(inner, item, problems, f"{path}.{k}") for k, item in value.items()}
    if isinstance(expected, type) and issubclass(expected, Struct) and isinstance(value, dict):
        if expected.__struct_config__.forbid_unknown_fields:
            raise Misfit(f"{path or expected.__name__}: {reason}")
        return _build_struct(expected, value, problems, path, reason)
    raise Misfit(f"{path or 'value'}: {reason}")


def _build_struct(
    expected: type[Struct], value: dict[str, Any], problems: list[str], path: str, reason: str
) -> Struct:
    fields = {}
    for field in structs.fields(expected):
        if field.encode_name not in value:
            if field.required:
                raise Misfit(f"{path or expected.__name__}: {reason}")
            continue
        field_path = f"{path}.{field.encode_name}" if path else field.encode_name
        try:
            fields[field.name] = build(field.type, value[field.encode_name], problems, field_path)
        except Misfit as misfit:
            if field.required:
                raise
            problems.append(str(misfit))
    return expected(**fields)


def _build_member(
    members: tuple[Any, ...], value: Any, problems: list[str], path: str, reason: str
) -> Any:
    """Select the union's member by its tag; if there is none, its `Unknown…`."""
    tagged = {_tag(m): m for m in members if _tag(m) is not None}
    unknown = next((m for tag, m in tagged.items() if str(tag).startswith(NEVER)), None)
    problem = reason
    if tagged and isinstance(value, dict):
        tag_field = next(iter(tagged.values())).__struct_config__.tag_field
        tag = value.get(tag_field)
        member = tagged.get(tag) if isinstance(tag, str) else None
        if member is not None and member is not unknown:
            try:
                return _build_struct(member, value, problems, path, reason)
            except Misfit as misfit:
                problem = str(misfit)
        elif unknown is not None and isinstance(tag, str):
            problem = ""
    for member in members:
        if _tag(member) is None and member is not type(None):
            try:
                return _build_in_parts(member, value, problems, path, reason)
            except Misfit:
                continue
    if unknown is None:
        raise Misfit(f"{path or 'value'}: {problem}")
    problems.append(f"{path or 'value'}: {problem or 'unknown kind'}")
    return _as_unknown(unknown, value, problem)


def _as_unknown(unknown: Any, value: Any, problem: str) -> Any:
    tag_field = unknown.__struct_config__.tag_field
    name = value.get(tag_field) if isinstance(value, dict) else None
    return unknown(
        **{f"{tag_field}_name": name if isinstance(name, str) else ""}, data=value, problem=problem
    )


def _tag(member: Any) -> Any:
    config = getattr(member, "__struct_config__", None)
    return None if config is None else config.tag
