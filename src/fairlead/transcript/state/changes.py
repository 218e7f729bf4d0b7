"""Changes: the five generic operations, and how a snapshot takes them.

Protocol-free on purpose: `apply` knows lists of objects with an `id`, plain objects and texts,
nothing else, so that a client in any language can do the same in a few lines. Offsets count
UTF-16 code units, the length of a JavaScript string. docs/transcript.md has the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

__all__ = ["Add", "Append", "Change", "Remove", "Replace", "Set", "apply", "cut", "units"]


class Add(Struct, frozen=True, tag_field="op", tag="add", gc=False):
    """Put a row into a list: before the row `before`, or at the end."""

    to: str
    row: Any
    before: str | None = None


class Set(Struct, frozen=True, tag_field="op", tag="set", gc=False):
    """Set fields of a row, or, without an `id`, of a section that is a single object."""

    to: str
    id: str | None
    fields: dict[str, Any]


class Append(Struct, frozen=True, tag_field="op", tag="append", gc=False):
    """Cut a text of a row at `offset` and put `text` there; usually the offset is its length."""

    to: str
    id: str
    field: str
    offset: int
    text: str


class Remove(Struct, frozen=True, tag_field="op", tag="remove", gc=False):
    """Take a row out of a list."""

    to: str
    id: str


class Replace(Struct, frozen=True, tag_field="op", tag="replace", gc=False):
    """Put a new value in the place of a whole section."""

    to: str
    value: Any


Change: TypeAlias = Add | Set | Append | Remove | Replace


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def apply(snapshot: dict[str, Any], changes: Iterable[Change | dict[str, Any]]) -> dict[str, Any]:
    """The snapshot after the changes; it shares unchanged parts with the old snapshot."""
    new = dict(snapshot)
    own: set[str] = set()
    for change in changes:
        plain = change if isinstance(change, dict) else _plain(change)
        section = plain["to"]
        if section not in own and isinstance(new[section], list):
            new[section] = list(new[section])
            own.add(section)
        _OPERATIONS[plain["op"]](new, section, plain)
    return new


def _plain(change: Change) -> dict[str, Any]:
    """A change as a client gets it."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(change))
    return values


def _add(new: dict[str, Any], section: str, change: dict[str, Any]) -> None:
    before = change.get("before")
    place = len(new[section]) if before is None else _place(new[section], before)
    new[section].insert(place, change["row"])


def _set(new: dict[str, Any], section: str, change: dict[str, Any]) -> None:
    if change["id"] is None:
        new[section] = {**new[section], **change["fields"]}
    else:
        place = _place(new[section], change["id"])
        new[section][place] = {**new[section][place], **change["fields"]}


def _append(new: dict[str, Any], section: str, change: dict[str, Any]) -> None:
    place = _place(new[section], change["id"])
    row, field = new[section][place], change["field"]
    new[section][place] = {**row, field: cut(row[field], change["offset"]) + change["text"]}


def _remove(new: dict[str, Any], section: str, change: dict[str, Any]) -> None:
    del new[section][_place(new[section], change["id"])]


def _replace(new: dict[str, Any], section: str, change: dict[str, Any]) -> None:
    value = change["value"]
    new[section] = list(value) if isinstance(value, list) else value


_OPERATIONS: dict[str, Callable[[dict[str, Any], str, dict[str, Any]], None]] = {
    "add": _add,
    "set": _set,
    "append": _append,
    "remove": _remove,
    "replace": _replace,
}


def _place(rows: list[dict[str, Any]], row_id: str) -> int:
    """Where a row is; from the end, because changes are about what is new."""
    for place in range(len(rows) - 1, -1, -1):
        if rows[place]["id"] == row_id:
            return place
    raise LookupError(f"no row {row_id!r} in this list: the changes belong to another snapshot")


def cut(text: str, offset: int) -> str:
    """The beginning of a text, up to an offset in UTF-16 code units."""
    if text.isascii():
        return text[:offset]
    return text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode(
        "utf-16-le", "surrogatepass"
    )
