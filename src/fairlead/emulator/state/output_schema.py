"""Checks a structured output against the schema of --json-schema, in the CLI's words. Pure.

The part of JSON Schema that hosts use: types, properties, required, items, enum, const and limits
of numbers, texts and lists. Other keywords are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairlead.emulator.state.profile import Profile

__all__ = ["misfits"]

_Limit = tuple[str, Callable[[Any, Any], bool], str, tuple[type, ...]]

_LIMITS: tuple[_Limit, ...] = (
    ("minimum", lambda value, limit: value >= limit, "must be >= {}", (int, float)),
    ("maximum", lambda value, limit: value <= limit, "must be <= {}", (int, float)),
    ("minLength", lambda v, n: len(v) >= n, "must NOT have fewer than {} characters", (str,)),
    ("maxLength", lambda v, n: len(v) <= n, "must NOT have more than {} characters", (str,)),
    ("minItems", lambda v, n: len(v) >= n, "must NOT have fewer than {} items", (list,)),
    ("maxItems", lambda v, n: len(v) <= n, "must NOT have more than {} items", (list,)),
)


def misfits(value: Any, schema: Any, profile: Profile) -> str:
    """What does not match, as one text; empty if everything matches."""
    return ", ".join(
        f"{path or 'root'}: {problem}" for path, problem in _problems(value, schema, "", profile)
    )


def _problems(value: Any, schema: Any, path: str, profile: Profile) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping):
        return
    expected = schema.get("type")
    kinds = [expected] if isinstance(expected, str) else list(expected or ())
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield path, f"must be {','.join(kinds)}"
    yield from _choices(value, schema, path, profile)
    for name, holds, message, types in _LIMITS:
        counts = isinstance(value, types) and not isinstance(value, bool)
        if name in schema and counts and not holds(value, schema[name]):
            yield path, message.format(schema[name])
    if isinstance(value, dict):
        yield from _members(value, schema, path, profile)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, schema.get("items"), f"{path}/{number}", profile)


def _choices(
    value: Any, schema: Mapping[str, Any], path: str, profile: Profile
) -> Iterator[tuple[str, str]]:
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        named = (
            f": {json.dumps(allowed, separators=(',', ':'))}"
            if profile.names_schema_mismatch
            else ""
        )
        yield path, f"must be equal to one of the allowed values{named}"
    if "const" in schema and value != schema["const"]:
        yield path, "must be equal to constant"


def _members(
    value: Mapping[str, Any], schema: Mapping[str, Any], path: str, profile: Profile
) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            yield path, f"must have required property '{name}'"
    if schema.get("additionalProperties") is False:
        for name in value:
            if name not in properties:
                named = f" ('{name}' is not allowed)" if profile.names_schema_mismatch else ""
                yield path, f"must NOT have additional properties{named}"
    for name, inner in properties.items():
        if name in value:
            yield from _problems(value[name], inner, f"{path}/{name}", profile)


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return (isinstance(value, int) and not isinstance(value, bool)) or whole
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    known = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, known[kind]) if kind in known else True
