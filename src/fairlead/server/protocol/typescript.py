"""Generates the protocol's TypeScript types from the Python types, which are the only source.

`python -m fairlead.server.protocol.typescript web/src/protocol` writes them, one file for each
module with such types, and a test compares them. It reads msgspec's description of each type, so a
new field appears automatically.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
from msgspec import inspect as described

from fairlead.server.protocol import (
    intents,
    lobby_rows,
    messages,
    pending_row,
    terminal_intents,
    terminal_messages,
    usage_rows,
    workbench_intents,
)
from fairlead.transcript import snapshot
from fairlead.transcript.state import changes, model
from fairlead.wire import modes

__all__ = ["FOLDER", "generate", "write"]

FOLDER = Path("web", "src", "protocol")
"""The folder of the generated files in the project."""

HEADER = """// Generated from {sources} by `python -m fairlead.server.protocol.typescript`. Do not edit.
"""

FILES: dict[str, tuple[ModuleType, ...]] = {
    "messages": (messages, terminal_messages),
    "intents": (intents, workbench_intents, terminal_intents),
    "lobby": (lobby_rows,),
    "pending": (pending_row,),
    "transcript": (model, snapshot),
    "changes": (changes,),
    "usage": (usage_rows,),
    "modes": (modes,),
}
"""The modules whose types each file contains."""

UNIONS: dict[str, tuple[ModuleType, Any]] = {
    "Item": (model, model.Item),
    "Change": (changes, changes.Change),
    "Intent": (intents, intents.Intent),
    "FromClient": (messages, messages.FromClient),
    "FromServer": (messages, messages.FromServer),
}

CONSTANTS: dict[str, tuple[ModuleType, object]] = {
    "PROTOCOL": (messages, messages.PROTOCOL),
    "LOBBY": (messages, messages.LOBBY),
    "UNAUTHENTICATED": (messages, messages.UNAUTHENTICATED),
    "PROTOCOL_MISMATCH": (messages, messages.PROTOCOL_MISMATCH),
    "REQUESTS_LISTED": (pending_row, pending_row.REQUESTS_LISTED),
    "SCHEMA": (snapshot, snapshot.SCHEMA),
    "MODES": (modes, modes.MODES),
    "EFFORTS": (modes, modes.EFFORTS),
}

ROOTS: tuple[type[msgspec.Struct], ...] = (
    snapshot.Snapshot,
    lobby_rows.LobbySections,
    pending_row.PendingRow,
    usage_rows.UsageReport,
)
"""Types that are part of no union: the content of documents and of responses of the HTTP API."""

NAMES: dict[Any, str] = {
    messages.Snapshot: "SnapshotMessage",
    changes.Set: "SetFields",
    lobby_rows.ListedSession: "SessionRow",
    lobby_rows.LobbySections: "Lobby",
    pending_row.OfferedChoice: "Choice",
}
"""Other names for types whose Python name is also used by another type."""

MAY_BE_CUT = (*get_args(model.Item), model.Turn, model.Settled)
"""Rows whose long fields the server shortens (`previews`)."""

PLAIN = {
    described.AnyType: "unknown",
    described.NoneType: "null",
    described.BoolType: "boolean",
    described.IntType: "number",
    described.FloatType: "number",
    described.StrType: "string",
    described.BytesType: "string",
}


def generate() -> dict[str, str]:
    """The text of each file, by its name."""
    structs: dict[str, type[msgspec.Struct]] = {}
    kinds: list[type[msgspec.Struct]] = _members(union for _, union in UNIONS.values())
    for kind in [*kinds, *ROOTS]:
        _collect(kind, structs)
    files = {file: _Text(file) for file in FILES}
    for name, (module, value) in CONSTANTS.items():
        files[_file_of(module.__name__)].add(f"export const {name} = {_literal(value)};")
    for name, kind in sorted(structs.items()):
        text = files[_file_of(kind.__module__)]
        text.add(_interface(name, kind, text))
    for name, (module, union) in UNIONS.items():
        text = files[_file_of(module.__name__)]
        alternatives = "\n".join(f"  | {text.named(member)}" for member in get_args(union))
        text.add(f"export type {name} =\n{alternatives};")
    return {f"{file}.ts": text.render() for file, text in files.items()}


def write(folder: Path) -> None:
    """Write the files to a folder."""
    for name, text in generate().items():
        (folder / name).write_text(text)


class _Text:
    """One file while it is generated, with its imports."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._parts: list[str] = []
        self._imported: dict[str, set[str]] = {}

    def add(self, part: str) -> None:
        """Add a declaration."""
        self._parts.append(part)

    def named(self, kind: type) -> str:
        """The name of a type for use in this file."""
        return self._from(kind.__module__, NAMES.get(kind, kind.__name__))

    def union(self, info: described.UnionType) -> str | None:
        """The name of a union that has one, so that its members are not repeated at each use."""
        members = {inner.cls for inner in info.types if isinstance(inner, described.StructType)}
        for name, (module, union) in UNIONS.items():
            if len(members) > 1 and members == set(get_args(union)):
                return self._from(module.__name__, name)
        return None

    def render(self) -> str:
        """The text of the file."""
        sources = ", ".join(
            f"src/{module.__name__.replace('.', '/')}.py" for module in FILES[self._file]
        )
        imports = [
            f'import type {{ {", ".join(sorted(names))} }} from "./{file}.ts";'
            for file, names in sorted(self._imported.items())
        ]
        parts = ["\n".join(imports)] if imports else []
        return HEADER.format(sources=sources) + "\n" + "\n\n".join([*parts, *self._parts]) + "\n"

    def _from(self, module: str, name: str) -> str:
        file = _file_of(module)
        if file != self._file:
            self._imported.setdefault(file, set()).add(name)
        return name


def _file_of(module: str) -> str:
    for file, modules in FILES.items():
        if module in {each.__name__ for each in modules}:
            return file
    raise ValueError(f"FILES has no file for the types of {module}")


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}] as const"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _members(unions: Iterable[Any]) -> list[type[msgspec.Struct]]:
    return [member for union in unions for member in get_args(union)]


def _collect(kind: type[msgspec.Struct], into: dict[str, type[msgspec.Struct]]) -> None:
    name = NAMES.get(kind, kind.__name__)
    if into.setdefault(name, kind) is not kind:
        raise ValueError(f"two types have the name {name}")
    for field in _fields(kind):
        for inner in _structs_in(field.type):
            if NAMES.get(inner, inner.__name__) not in into:
                _collect(inner, into)


def _fields(kind: type[msgspec.Struct]) -> tuple[described.Field, ...]:
    info = described.type_info(kind)
    assert isinstance(info, described.StructType)
    return info.fields


def _structs_in(info: described.Type) -> list[type[msgspec.Struct]]:
    if isinstance(info, described.StructType):
        return [info.cls]
    if isinstance(info, described.UnionType):
        return [struct for inner in info.types for struct in _structs_in(inner)]
    if isinstance(info, described.VarTupleType | described.ListType):
        return _structs_in(info.item_type)
    if isinstance(info, described.DictType):
        return _structs_in(info.value_type)
    return []


def _interface(name: str, kind: type[msgspec.Struct], text: _Text) -> str:
    info = described.type_info(kind)
    assert isinstance(info, described.StructType)
    lines = []
    if info.tag_field is not None:
        lines.append(f'  readonly {info.tag_field}: "{info.tag}";')
    incoming = info.forbid_unknown_fields
    for field in info.fields:
        # The server always sends all fields; a client may omit those with defaults.
        mark = "" if field.required or not incoming else "?"
        lines.append(f"  readonly {field.encode_name}{mark}: {_typescript(field.type, text)};")
    if kind in MAY_BE_CUT:
        lines.append("  readonly cut?: { readonly [field: string]: number };")
    about = (kind.__doc__ or "").strip().split("\n")[0]
    body = "\n".join(lines)
    return f"/** {about} */\nexport interface {name} {{\n{body}\n}}"


def _typescript(info: described.Type, text: _Text) -> str:
    if isinstance(info, described.StructType):
        return text.named(info.cls)
    if isinstance(info, described.UnionType):
        return text.union(info) or " | ".join(_typescript(inner, text) for inner in info.types)
    if isinstance(info, described.VarTupleType | described.ListType):
        inner = _typescript(info.item_type, text)
        return f"readonly ({inner})[]" if "|" in inner else f"readonly {inner}[]"
    if isinstance(info, described.DictType):
        return f"{{ readonly [key: string]: {_typescript(info.value_type, text)} }}"
    return PLAIN[type(info)]


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
