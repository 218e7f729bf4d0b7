"""Merges changes into fewer changes with the same effect, for clients that get many at once.

Changes of different rows do not depend on each other, so pieces of one text become one append
and fields of one row or part become one set, whatever is between them; only a change of
the row's own life (added, removed, the whole section replaced) parts them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from fairlead.transcript.state.changes import Append, Change, Remove, Replace, Set, units

__all__ = ["coalesce"]


class _Text:
    """An append that is still growing."""

    __slots__ = ("end", "field", "first", "pieces")

    def __init__(self, first: Append) -> None:
        self.first = first
        self.field = first.field
        self.pieces = [first.text]
        self.end = first.offset + units(first.text)

    def whole(self) -> Append:
        first = self.first
        if len(self.pieces) == 1:
            return first
        return Append(first.to, first.id, first.field, first.offset, "".join(self.pieces))


class _Fields:
    """A set that is still growing."""

    __slots__ = ("change", "late")

    def __init__(self, change: Set) -> None:
        self.change = change
        self.late = False
        """Whether its fields were merged into a later change."""


_Open: TypeAlias = _Text | _Fields


def coalesce(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The same changes, with those of one row's text or fields merged."""
    out: list[Change | _Open] = []
    open_rows: dict[tuple[str, str | None], _Open] = {}
    for change in changes:
        if isinstance(change, Append):
            row: tuple[str, str | None] = (change.to, change.id)
            text = open_rows.get(row)
            if type(text) is _Text and text.end == change.offset and text.field == change.field:
                text.pieces.append(change.text)
                text.end += units(change.text)
            else:
                open_rows[row] = text = _Text(change)
                out.append(text)
        elif isinstance(change, Set):
            _take_set(out, open_rows, change)
        else:
            if isinstance(change, Replace):
                for row in [row for row in open_rows if row[0] == change.to]:
                    del open_rows[row]
            elif isinstance(change, Remove):
                open_rows.pop((change.to, change.id), None)
            out.append(change)
    return tuple(
        [_whole(change) for change in out if type(change) is not _Fields or not change.late]
    )


def _whole(change: Change | _Open) -> Change:
    if type(change) is _Text:
        return change.whole()
    return change.change if type(change) is _Fields else change  # type: ignore[return-value]


def _take_set(
    out: list[Change | _Open], open_rows: dict[tuple[str, str | None], _Open], change: Set
) -> None:
    """The last set of a row takes the others along: a status says what is, not what was."""
    row = (change.to, change.id)
    fields = open_rows.get(row)
    if type(fields) is _Fields:
        fields.late = True
        earlier = fields.change.fields
        fields = _Fields(Set(change.to, change.id, {**earlier, **change.fields}))
    else:
        fields = _Fields(change)
    open_rows[row] = fields
    out.append(fields)
