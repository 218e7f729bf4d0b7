"""One example per kind of message: tests/golden/wire/KIND.json.

`line` is the example, `source` says where it comes from, `type` names the struct that reads it and
`untyped` the fields that only `data` has. `python -m tests.wire.goldens` writes the last two anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from fairlead.wire.blocks import UnknownBlock
from fairlead.wire.control import UnknownRequest
from fairlead.wire.decode import AnyMessage, decode
from fairlead.wire.events import Unknown
from fairlead.wire.json_text import write
from fairlead.wire.stream import UnknownApiEvent, UnknownDelta
from fairlead.wire.system import UnknownSystem
from fairlead.wire.updates import UnknownUpdate
from tests.wire.kinds import KINDS, carrier_of

__all__ = ["FOLDER", "UNKNOWN", "Golden", "golden", "read", "untyped"]

UNKNOWN = (
    Unknown, UnknownSystem, UnknownRequest, UnknownBlock, UnknownApiEvent, UnknownDelta, UnknownUpdate
)  # fmt: skip
FOLDER = Path(__file__).parents[1] / "golden" / "wire"


class Golden(Struct, frozen=True, kw_only=True):
    """An example as its file holds it."""

    kind: str
    type: str
    source: str
    line: Any
    untyped: list[str]


def golden(kind: str) -> Golden:
    """The example of a kind."""
    return Golden(**json.loads((FOLDER / f"{kind}.json").read_text()))


def read(example: Golden) -> tuple[AnyMessage, Any]:
    """The message that carries an example, and the example's own value in it."""
    put, find = carrier_of(example.kind)
    line = example.line.encode() if isinstance(example.line, str) else write(put(example.line))
    message = decode(line)
    return message, find(message)


def untyped(value: Any, data: Any, path: str = "") -> list[str]:
    """The paths in `data` that no typed field covers; all others must be as the value says."""
    if isinstance(value, Struct):
        return _untyped_fields(value, data, path)
    if isinstance(value, tuple):
        assert len(value) == len(data), path
        pairs = zip(value, data, strict=True)
        return [p for n, (v, d) in enumerate(pairs) for p in untyped(v, d, f"{path}[{n}]")]
    if isinstance(value, dict) and any(isinstance(item, Struct) for item in value.values()):
        assert value.keys() == data.keys(), path
        return [p for key in value for p in untyped(value[key], data[key], f"{path}.{key}")]
    assert value == data, path
    return []


def _untyped_fields(value: Struct, data: dict[str, Any], path: str) -> list[str]:
    if isinstance(value, UNKNOWN):
        assert value.data == data, path
        return []
    names = {f.encode_name: f.name for f in structs.fields(type(value))}
    matches: list[str] = []
    for key, item in data.items():
        where = f"{path}.{key}" if path else key
        if key in names:
            matches += untyped(getattr(value, names[key]), item, where)
        elif key not in ("type", "subtype"):
            matches.append(where)
    for field in structs.fields(type(value)):
        if field.encode_name not in data and field.name != "raw":
            assert getattr(value, field.name) == _default(field), f"{path}.{field.name}"
    return matches


def _default(field: Any) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def _bless() -> None:
    for kind in KINDS:
        example = golden(kind)
        value = read(example)[1]
        rest = untyped(value, example.line) if isinstance(example.line, dict) else []
        new = structs.replace(example, type=type(value).__name__, untyped=rest)
        text = json.dumps(structs.asdict(new), indent=2, ensure_ascii=False)
        (FOLDER / f"{kind}.json").write_text(text + "\n")


if __name__ == "__main__":
    _bless()
