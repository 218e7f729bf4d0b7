"""Rows that are too long to be sent to everybody: their beginning, and what is missing.

A field that is longer than a preview is cut, and the row says so in `cut`: the name of each such
field with its full length. It is the same for a row in a snapshot and for the changes that lead
to it, so that a client cannot tell them apart; the whole row can be asked for (`whole_items`).
Prompts are left whole because they can be edited, pictures because half of one is none. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.transcript.changes import Add, Append, Change, Remove, Replace, Set, units
from fairlead.transcript.model import PromptItem

__all__ = ["Previews", "shortened"]

WHOLE = ("id", "images", "files")
"""Fields that are never cut."""

KEYS = 200
"""Names of an object that are kept when there is no more room for what they hold."""

_encode = msgspec.json.Encoder().encode


class Previews:
    """The rows of one list as they are sent."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        """Letters of one field."""
        self._cut: dict[str, dict[str, int]] = {}
        """What was missing when a row was last sent; empty if nothing is any more."""

    def row(self, row: Any) -> Any:
        """A row as it is sent: itself, if it is short enough."""
        cut = self._missing(row)
        if not cut and row.id not in self._cut:
            return row
        self._cut[row.id] = cut
        plain: dict[str, Any] = msgspec.to_builtins(row)
        short = {name: shortened(plain[name], self._limit) for name in cut}
        return {**plain, **short, "cut": cut}

    def changes(self, changes: Sequence[Change], row_of: Any) -> list[Change]:
        """Changes of one event to rows of this list; `row_of` gives a row as it is after them."""
        out: list[Change] = []
        for change in changes:
            if isinstance(change, Add):
                out.append(Add(change.to, self.row(change.row), change.before))
            elif isinstance(change, Replace):
                self._cut.clear()
                out.append(Replace(change.to, [self.row(row) for row in change.value]))
            elif isinstance(change, Append):
                self._append(out, change)
            elif isinstance(change, Set):
                self._set(out, change, row_of)
            else:
                if isinstance(change, Remove):
                    self._cut.pop(change.id, None)
                out.append(change)
        return out

    def _append(self, out: list[Change], change: Append) -> None:
        end = change.offset + units(change.text)
        if end <= self._limit:
            out.append(change)
            return
        room = self._limit - change.offset
        if room > 0:
            text = _beginning(change.text, room)
            out.append(Append(change.to, change.id, change.field, change.offset, text))
        cut = self._cut[change.id] = {**self._cut.get(change.id, {}), change.field: end}
        out.append(Set(change.to, change.id, {"cut": cut}))

    def _set(self, out: list[Change], change: Set, row_of: Any) -> None:
        row_id = change.id
        long = [one for one in change.fields if self._is_long(one, change.fields[one])]
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
        """The fields of a row that are too long, and how long they are."""
        if isinstance(row, PromptItem) or not isinstance(row, Struct):
            return {}
        found = {}
        for name in row.__struct_fields__:
            value = getattr(row, name)
            if self._is_long(name, value):
                found[name] = _length(value)
        return found

    def _is_long(self, name: str, value: Any) -> bool:
        if name in WHOLE or value is None or isinstance(value, bool | int | float):
            return False
        if isinstance(value, str):
            # A letter is one or two units: most texts need not be measured.
            return len(value) > self._limit or (
                2 * len(value) > self._limit and units(value) > self._limit
            )
        return bool(value) and _length(value) > self._limit


def shortened(value: Any, room: int) -> Any:
    """The beginning of a value, with about so many letters in it."""
    try:
        kept, _ = _shorten(value, room)
    except RecursionError:
        return None
    return kept


def _shorten(value: Any, room: int) -> tuple[Any, int]:
    """The beginning of a value, and the room that is left."""
    if isinstance(value, str):
        text = _beginning(value, max(room, 0))
        return text, room - len(text) - 2
    if isinstance(value, list | tuple):
        items = []
        for one in value:
            if room <= 0:
                break
            kept, room = _shorten(one, room - 1)
            items.append(kept)
        return items, room
    if isinstance(value, dict):
        fields: dict[str, Any] = {}
        for name, one in value.items():
            if room <= 0 and len(fields) >= KEYS:
                break
            fields[name], room = _shorten(one, room - len(name) - 4)
        return fields, room
    return value, room - 8


def _beginning(text: str, count: int) -> str:
    """So many UTF-16 units of a text, without half a letter at the end."""
    if text.isascii():
        return text[:count]
    kept = text.encode("utf-16-le", "surrogatepass")[: 2 * count]
    if len(kept) >= 2 and 0xD8 <= kept[-1] <= 0xDB:
        kept = kept[:-2]
    return kept.decode("utf-16-le", "surrogatepass")


def _length(value: Any) -> int:
    """Of a text its units, of anything else the length of its JSON."""
    return units(value) if isinstance(value, str) else len(_encode(value))
