"""The protocol's types in TypeScript, made from the Python ones, which are the only source.

`python -m fairlead.server.typescript` prints `web/src/protocol/messages.ts`; a test compares
them. Reads msgspec's own description of each type, so a new field appears by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, get_args

import msgspec
from msgspec import inspect as described

from fairlead.server import intents, messages
from fairlead.transcript import changes, model, snapshot

__all__ = ["generate"]

HEADER = """// Generated from src/fairlead/server/messages.py, intents.py and transcript/model.py
// by `python -m fairlead.server.typescript`. Do not edit.
"""

UNIONS: dict[str, Any] = {
    "Item": model.Item,
    "Change": changes.Change,
    "Intent": intents.Intent,
    "FromClient": messages.FromClient,
    "FromServer": messages.FromServer,
}

NAMES: dict[Any, str] = {messages.Snapshot: "SnapshotMessage", changes.Set: "SetFields"}
"""Where two Python modules use one name."""

MAY_BE_CUT = (*get_args(model.Item), model.Turn, model.Settled)
"""Rows whose long fields the server sends by their beginning (`previews`)."""

PLAIN = {
    described.AnyType: "unknown",
    described.NoneType: "null",
    described.BoolType: "boolean",
    described.IntType: "number",
    described.FloatType: "number",
    described.StrType: "string",
    described.BytesType: "string",
}


def generate() -> str:
    """The whole file."""
    structs: dict[str, type[msgspec.Struct]] = {}
    kinds: list[type[msgspec.Struct]] = [*_members(UNIONS.values()), snapshot.Snapshot]
    for kind in kinds:
        _collect(kind, structs)
    parts = [HEADER, f"export const PROTOCOL = {messages.PROTOCOL};"]
    parts += [
        f'export const LOBBY = "{messages.LOBBY}";',
        f"export const SCHEMA = {snapshot.SCHEMA};",
    ]
    parts += [_interface(name, kind) for name, kind in sorted(structs.items())]
    parts += [
        f"export type {name} =\n{_alternatives(_name(m) for m in get_args(union))};"
        for name, union in UNIONS.items()
    ]
    return "\n\n".join(parts) + "\n"


def _members(unions: Iterable[Any]) -> list[type[msgspec.Struct]]:
    return [member for union in unions for member in get_args(union)]


def _name(kind: type) -> str:
    return NAMES.get(kind, kind.__name__)


def _collect(kind: type[msgspec.Struct], into: dict[str, type[msgspec.Struct]]) -> None:
    if into.setdefault(_name(kind), kind) is not kind:
        raise ValueError(f"two types are called {_name(kind)}")
    info = described.type_info(kind)
    assert isinstance(info, described.StructType)
    for field in info.fields:
        for inner in _structs_in(field.type):
            if _name(inner) not in into:
                _collect(inner, into)


def _structs_in(info: described.Type) -> list[type[msgspec.Struct]]:
    if isinstance(info, described.StructType):
        return [info.cls]
    if isinstance(info, described.UnionType):
        return [one for inner in info.types for one in _structs_in(inner)]
    if isinstance(info, described.VarTupleType | described.ListType):
        return _structs_in(info.item_type)
    if isinstance(info, described.DictType):
        return _structs_in(info.value_type)
    return []


def _interface(name: str, kind: type[msgspec.Struct]) -> str:
    info = described.type_info(kind)
    assert isinstance(info, described.StructType)
    lines = []
    if info.tag_field is not None:
        lines.append(f'  readonly {info.tag_field}: "{info.tag}";')
    incoming = info.forbid_unknown_fields
    for field in info.fields:
        # What the server sends it always sends whole; a client may leave defaults out.
        mark = "" if field.required or not incoming else "?"
        lines.append(f"  readonly {field.encode_name}{mark}: {_typescript(field.type)};")
    if kind in MAY_BE_CUT:
        lines.append("  readonly cut?: { readonly [field: string]: number };")
    about = (kind.__doc__ or "").strip().split("\n")[0]
    body = "\n".join(lines)
    return f"/** {about} */\nexport interface {name} {{\n{body}\n}}"


def _typescript(info: described.Type) -> str:
    if isinstance(info, described.StructType):
        return _name(info.cls)
    if isinstance(info, described.UnionType):
        known = _known_union(info)
        return known or " | ".join(_typescript(inner) for inner in info.types)
    if isinstance(info, described.VarTupleType | described.ListType):
        inner = _typescript(info.item_type)
        return f"readonly ({inner})[]" if "|" in inner else f"readonly {inner}[]"
    if isinstance(info, described.DictType):
        return f"{{ readonly [key: string]: {_typescript(info.value_type)} }}"
    return PLAIN[type(info)]


def _known_union(info: described.UnionType) -> str | None:
    """The name of a union that has one, so that it is not written out at each use."""
    here = {inner.cls for inner in info.types if isinstance(inner, described.StructType)}
    for name, union in UNIONS.items():
        if len(here) > 1 and here == set(get_args(union)):
            return name
    return None


def _alternatives(names: Iterable[str]) -> str:
    return "\n".join(f"  | {name}" for name in names)


if __name__ == "__main__":
    sys.stdout.write(generate())
