"""Shortens rows that are too long to be sent to every client, and marks what is missing.

A field that is longer than a preview is cut, and `cut` of the row contains the name of each such
field with its full length. Rows in snapshots and the changes that lead to them are cut in the same
way, so that both lead to the same state at a client. A client can request the full row
(`whole_items`). Prompts are not cut because they can be edited, and neither are images. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set, units
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.state.model import PromptItem

__all__ = ["Previews", "shortened"]

NEVER_CUT = ("id", "images", "files")
"""Fields that are never cut."""

KEYS = 200
"""Most keys of an object that are included when there is no room for their values."""

_encode = msgspec.json.Encoder().encode


class Previews:
    """The rows of one list as clients get them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        """Most UTF-16 units of one field."""
        self._cut: dict[str, dict[str, int]] = {}
        """What was cut when a row was last sent; empty if nothing is cut any more."""

    def row(self, row: Any) -> Any:
        """A row as clients get it: unchanged if it is short enough."""
        cut = self._missing(row)
        if not cut and row.id not in self._cut:
            return row
        self._cut[row.id] = cut
        plain: dict[str, Any] = msgspec.to_builtins(row)
        short = {name: shortened(plain[name], self._limit) for name in cut}
        return {**plain, **short, "cut": cut}

    def changes(self, changes: Sequence[Change], row_of: Any) -> list[Change]:
        """Changes of one event to rows of this list; `row_of` returns a row after them."""
        out: list[Change] = []
        split = False
        for change in changes:
            if isinstance(change, Add):
                out.append(Add(change.to, self.row(change.row), change.before))
            elif isinstance(change, Replace):
                self._cut.clear()
                out.append(Replace(change.to, [self.row(row) for row in change.value]))
            elif isinstance(change, Append):
                split |= self._append(out, change)
            elif isinstance(change, Set):
                self._set(out, change, row_of)
            else:
                if isinstance(change, Remove):
                    self._cut.pop(change.id, None)
                out.append(change)
        return list(coalesce(out)) if split else out

    def _append(self, out: list[Change], change: Append) -> bool:
        """An append as clients get it; true if a set of the row says what is missing."""
        end = change.offset + units(change.text)
        if end <= self._limit:
            out.append(change)
            return False
        room = self._limit - change.offset
        if room > 0:
            text = _beginning(change.text, room)
            out.append(Append(change.to, change.id, change.field, change.offset, text))
        cut = self._cut[change.id] = {**self._cut.get(change.id, {}), change.field: end}
        out.append(Set(change.to, change.id, {"cut": cut}))
        return True

    def _set(self, out: list[Change], change: Set, row_of: Any) -> None:
        row_id = change.id
        long = [name for name in change.fields if self._is_long(name, change.fields[name])]
        if row_id is None or (not long and row_id not in self._cut):
            out.append(change)
            return
        row = row_of(row_id)
        if row is None or isinstance(row, PromptItem):
            out.append(change)
            return
        cut = self._missing(row)
        fields = {
            name: shortened(msgspec.to_builtins(value), self._limit) if name in long else value
            for name, value in change.fields.items()
        }
        out.append(Set(change.to, row_id, {**fields, "cut": cut}))
        self._cut[row_id] = cut

    def _missing(self, row: Any) -> dict[str, int]:
        """The fields of a row that are too long, with their lengths."""
        if isinstance(row, PromptItem) or not isinstance(row, Struct):
            return {}
        missing = {}
        for name in row.__struct_fields__:
            value = getattr(row, name)
            if self._is_long(name, value):
                missing[name] = _length(value)
        return missing

    def _is_long(self, name: str, value: Any) -> bool:
        if name in NEVER_CUT or value is None or isinstance(value, bool | int | float):
            return False
        if isinstance(value, str):
            # A character has one or two units: most texts need not be measured.
            return len(value) > self._limit or (
                2 * len(value) > self._limit and units(value) > self._limit
            )
        return bool(value) and _length(value) > self._limit


def shortened(value: Any, room: int) -> Any:
    """The beginning of a value, up to about `room` characters."""
    try:
        beginning, _ = _shorten(value, room)
    except RecursionError:
        return None
    return beginning


def _shorten(value: Any, room: int) -> tuple[Any, int]:
    """The beginning of a value, and the room that is left."""
    if isinstance(value, str):
        text = _beginning(value, max(room, 0))
        return text, room - len(text) - 2
    if isinstance(value, list | tuple):
        items = []
        for element in value:
            if room <= 0:
                break
            beginning, room = _shorten(element, room - 1)
            items.append(beginning)
        return items, room
    if isinstance(value, dict):
        fields: dict[str, Any] = {}
        for name, element in value.items():
            if room <= 0 and len(fields) >= KEYS:
                break
            fields[name], room = _shorten(element, room - len(name) - 4)
        return fields, room
    return value, room - 8


def _beginning(text: str, count: int) -> str:
    """The first `count` UTF-16 units of a text, without half a character at the end."""
    if text.isascii():
        return text[:count]
    encoded = text.encode("utf-16-le", "surrogatepass")[: 2 * count]
    if len(encoded) >= 2 and 0xD8 <= encoded[-1] <= 0xDB:
        encoded = encoded[:-2]
    return encoded.decode("utf-16-le", "surrogatepass")


def _length(value: Any) -> int:
    """The UTF-16 units of a text, or the length of the JSON of any other value."""
    return units(value) if isinstance(value, str) else len(_encode(value))
