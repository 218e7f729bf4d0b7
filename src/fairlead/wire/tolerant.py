"""Build a typed value from plain values that do not quite fit, losing as little as possible.

`build` is the slow rung below msgspec's own decoding. It works node by node: an unknown member
of a union becomes that union's `Unknown…`, a field of the wrong type falls back to its
default, and each such step is written down in words. Only a value whose required fields do not
fit is given up. Knows structs and unions, no message in particular.
"""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from fairlead.wire.blocks import NEVER

__all__ = ["Misfit", "build"]


class Misfit(ValueError):
    """A value cannot be read as the wanted type, not even in part."""


def build(wanted: Any, value: Any, problems: list[str], path: str = "") -> Any:
    """`value` as a `wanted`, as far as it fits; what did not fit is told in `problems`."""
    try:
        return msgspec.convert(value, wanted)
    except (msgspec.ValidationError, RecursionError) as misfit:
        return _build_in_parts(wanted, value, problems, path, str(misfit))


def _build_in_parts(wanted: Any, value: Any, problems: list[str], path: str, why: str) -> Any:
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        return _build_member(get_args(wanted), value, problems, path, why)
    if origin is tuple and isinstance(value, list):
        inner = get_args(wanted)[0]
        return tuple(build(inner, one, problems, f"{path}[{n}]") for n, one in enumerate(value))
    if origin is dict and isinstance(value, dict):
        inner = get_args(wanted)[1]
        return {str(k): build(inner, one, problems, f"{path}.{k}") for k, one in value.items()}
    if isinstance(wanted, type) and issubclass(wanted, Struct) and isinstance(value, dict):
        return _build_struct(wanted, value, problems, path, why)
    raise Misfit(f"{path or 'value'}: {why}")


def _build_struct(
    wanted: type[Struct], value: dict[str, Any], problems: list[str], path: str, why: str
) -> Struct:
    fields = {}
    for one in structs.fields(wanted):
        if one.encode_name not in value:
            if one.required:
                raise Misfit(f"{path or wanted.__name__}: {why}")
            continue
        where = f"{path}.{one.encode_name}" if path else one.encode_name
        try:
            fields[one.name] = build(one.type, value[one.encode_name], problems, where)
        except Misfit as misfit:
            if one.required:
                raise
            problems.append(str(misfit))
    return wanted(**fields)


def _build_member(
    members: tuple[Any, ...], value: Any, problems: list[str], path: str, why: str
) -> Any:
    """Pick the union's member by its tag; without one, its `Unknown…` takes the value."""
    tagged = {_tag(m): m for m in members if _tag(m) is not None}
    unknown = next((m for tag, m in tagged.items() if str(tag).startswith(NEVER)), None)
    problem = why
    if tagged and isinstance(value, dict):
        tag_field = next(iter(tagged.values())).__struct_config__.tag_field
        tag = value.get(tag_field)
        member = tagged.get(tag) if isinstance(tag, str) else None
        if member is not None and member is not unknown:
            try:
                return _build_struct(member, value, problems, path, why)
            except Misfit as misfit:
                problem = str(misfit)
        elif unknown is not None and isinstance(tag, str):
            problem = ""
    for member in members:
        if _tag(member) is None and member is not type(None):
            try:
                return _build_in_parts(member, value, problems, path, why)
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
