"""Merges changes into fewer changes with the same effect, for clients that get many at once.

Changes of different rows do not depend on each other, so pieces of one text become one append
and fields of one row or part become one set, whatever is between them; only a change of
the row's own life (added, removed, the whole section replaced) parts them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairlead.transcript.state.changes import Append, Change, Remove, Replace, Set, units

__all__ = ["coalesce"]


class _Text:
    """An append that is still growing."""

    __slots__ = ("end", "first", "pieces")

    def __init__(self, first: Append) -> None:
        self.first = first
        self.pieces = [first.text]
        self.end = first.offset + units(first.text)

    def take(self, change: Append) -> bool:
        """Append this change, if it begins where the text ends."""
        if change.field != self.first.field or change.offset != self.end:
            return False
        self.pieces.append(change.text)
        self.end += units(change.text)
        return True

    def whole(self) -> Append:
        first = self.first
        return Append(first.to, first.id, first.field, first.offset, "".join(self.pieces))


class _Fields:
    """A set that is still growing."""

    __slots__ = ("change", "late")

    def __init__(self, change: Set) -> None:
        self.change = change
        self.late = False
        """Whether its fields were merged into a later change."""

    @property
    def fields(self) -> dict[str, Any]:
        return self.change.fields

    def whole(self) -> Set:
        return self.change


def coalesce(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The same changes, with those of one row's text or fields merged."""
    out: list[Change | _Text | _Fields] = []
    open_rows: dict[tuple[str, str | None], _Text | _Fields] = {}
    for change in changes:
        kind = type(change)
        if kind is Append:
            _take_append(out, open_rows, change)  # type: ignore[arg-type]
        elif kind is Set:
            _take_set(out, open_rows, change)  # type: ignore[arg-type]
        else:
            if kind is Replace:
                for row in [row for row in open_rows if row[0] == change.to]:
                    del open_rows[row]
            elif isinstance(change, Remove):
                open_rows.pop((change.to, change.id), None)
            out.append(change)
    return tuple(
        change.whole() if isinstance(change, _Text | _Fields) else change
        for change in out
        if not (isinstance(change, _Fields) and change.late)
    )


def _take_append(
    out: list[Change | _Text | _Fields],
    open_rows: dict[tuple[str, str | None], _Text | _Fields],
    change: Append,
) -> None:
    row = (change.to, change.id)
    text = open_rows.get(row)
    if isinstance(text, _Text) and text.take(change):
        return
    text = open_rows[row] = _Text(change)
    out.append(text)


def _take_set(
    out: list[Change | _Text | _Fields],
    open_rows: dict[tuple[str, str | None], _Text | _Fields],
    change: Set,
) -> None:
    """The last set of a row takes the others along: a status says what is, not what was."""
    row = (change.to, change.id)
    fields = open_rows.get(row)
    if isinstance(fields, _Fields):
        fields.late = True
        fields = _Fields(Set(change.to, change.id, {**fields.fields, **change.fields}))
    else:
        fields = _Fields(change)
    open_rows[row] = fields
    out.append(fields)
